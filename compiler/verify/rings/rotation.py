"""Which buffer of a ring is written, read and idle in each iteration of a loop, for all of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from assay.sim.simt.ir.cfg import Loop
from assay.sim.simt.ir.nodes import (
    THREADGROUP_ROOTS,
    Block,
    Instruction,
    Root,
    ThreadgroupArenaRoot,
)
from assay.sim.site import Site

from ..accesses import length
from ..conditions import one_of
from ..counts import Count, Counts
from ..initial.evaluate import Numbers, Unknown, evaluate
from ..study import Study
from ..terms import Expression, choose
from ..walks.order import is_before

if TYPE_CHECKING:
    from .tiles import Tiles

_TURN: Final = "turn"
_LOOKED_AT: Final = 48  # iterations from which a period is guessed
_MOST_BUFFERS: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Rotation:
    """How the buffers of an array go round in a loop.

    Attributes:
        array: the array's name.
        site: where the loop's barrier, or else its first access, is in the source.
        buffers: how many there are.
        stride: bytes from one to the next.
        written, read: which buffers are, in each iteration of a period.
        is_proved: whether it is proved that iterations go on like that.
        is_read_behind: whether all that an iteration reads comes behind all that it writes; None if
            some does.
        beside: what else is, or may be, done with the array in the loop, in no turn that is known:
            it is not among what is written and read.
        tiles: what is known of what the buffers hold, if that was asked.
    """

    array: str
    site: Site
    buffers: int
    stride: int
    written: tuple[frozenset[int], ...]
    read: tuple[frozenset[int], ...]
    is_proved: bool
    is_read_behind: bool | None = False
    beside: tuple[Site, ...] = ()
    tiles: Tiles | None = None

    @property
    def idle(self) -> tuple[frozenset[int], ...]:
        """Buffers that are neither written nor read, in each iteration of a period."""
        everything = frozenset(range(self.buffers))
        return tuple(
            everything - written - read
            for written, read in zip(self.written, self.read, strict=True)
        )

    @property
    def ahead(self) -> int | None:
        """How many iterations after it is written a buffer is read first; None if that varies."""
        if self.is_read_behind is None:
            return None
        period = len(self.written)
        turns = range(0 if self.is_read_behind else 1, period + 1)
        found = {
            next((by for by in turns if place in self.read[(at + by) % period]), None)
            for at, places in enumerate(self.written)
            for place in places
        }
        return next(iter(found)) if len(found) == 1 else None

    @property
    def is_one_by_one(self) -> bool:
        """Whether each iteration writes one buffer and reads one."""
        return all(len(each) == 1 for each in (*self.written, *self.read))

    @property
    def is_overwritten(self) -> bool:
        """Whether a buffer is written again before it is read."""
        period = len(self.written)

        def until(epochs: tuple[frozenset[int], ...], at: int, place: int) -> int:
            turns = (by for by in range(1, period + 1) if place in epochs[(at + by) % period])
            return next(turns, period + 1)

        return any(
            until(self.read, at, place) > until(self.written, at, place)
            for at, places in enumerate(self.written)
            for place in places
        )

    @property
    def is_distinct(self) -> bool:
        """Whether no buffer is written and read in the same iteration."""
        pairs = zip(self.written, self.read, strict=True)
        return self.is_proved and all(written.isdisjoint(read) for written, read in pairs)


@dataclass(frozen=True, slots=True)
class Turning:
    """An access whose place goes round: the buffer in each iteration of a period."""

    access: Instruction
    places: tuple[int, ...]
    stride: int


@dataclass(frozen=True, slots=True, eq=False)
class Ring:
    """An array whose buffers go round in a loop, and the accesses that do so."""

    loop: Loop
    root: Root
    accesses: tuple[Turning, ...]
    rotation: Rotation


def rings_in(study: Study) -> list[Ring]:
    """The rings of a kernel, of which `a` is any thread."""
    found = []
    somebody = _Somebody(study)
    for loop in sorted(study.kernel.shared, key=lambda x: study.kernel.cfg.index[x.header]):
        turning: dict[Root, list[Turning]] = {}
        for access in _accesses(study, loop):
            known = _turning(study, loop, access, somebody)
            if known is not None and access.root is not None:
                turning.setdefault(access.root, []).append(known)
        found += [
            Ring(loop, root, tuple(accesses), _rotation(study, loop, root, accesses))
            for root, accesses in turning.items()
            if any(x.access.operation.writes_memory for x in accesses)
            and any(x.access.operation.reads_memory for x in accesses)
        ]
    return found


def _accesses(study: Study, loop: Loop) -> Iterator[Instruction]:
    for block in sorted(loop.blocks, key=study.kernel.cfg.index.__getitem__):
        shared = [each for each in study.kernel.around(block) if each in study.kernel.shared]
        if shared[-1:] == [loop]:
            yield from (x for x in block.body if isinstance(x.root, THREADGROUP_ROOTS))


def _turning(study: Study, loop: Loop, access: Instruction, somebody: _Somebody) -> Turning | None:
    """How an access goes round; None if it does not."""
    if not access.operation.accesses_memory:
        return None
    given = {_TURN: np.arange(_LOOKED_AT), **somebody.at(access)}
    try:
        at = evaluate(_at(study, loop, access, Count(_TURN)), given, otherwise=0)
    except Unknown:
        return None
    offsets = np.broadcast_to(at, (_LOOKED_AT,)).astype(np.int64)
    places = np.unique(offsets)
    steps = np.unique(np.diff(places))
    if not 2 <= len(places) <= _MOST_BUFFERS or len(steps) != 1:
        return None
    stride = int(steps[0])
    turns = ((offsets - places[0]) // stride).tolist()
    for period in range(2, _MOST_BUFFERS + 1):
        if turns == [turns[at % period] for at in range(_LOOKED_AT)]:
            first = int(places[0]) // stride
            return Turning(access, tuple(first + each for each in turns[:period]), stride)
    return None


class _Somebody:
    """Where a thread is that comes to a block."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._known: dict[Block, dict[str, Numbers]] = {}

    def at(self, access: Instruction) -> dict[str, Numbers]:
        """Where one is that comes to an access."""
        assert access.block is not None
        if access.block not in self._known:
            self._known[access.block] = self._coming_to(access.block)
        return self._known[access.block]

    def _coming_to(self, block: Block) -> dict[str, Numbers]:
        model = self._study.ask([self._study.a.path(block, {})], may_be_one=True)
        if model.answer != "yes":
            return {}
        thread = self._study.a.thread
        places = [*thread.place, thread.lane, thread.simdgroup]
        return {
            str(each.value): np.asarray(model.number(each.value))
            for each in places
            if each.constant is None
        }


def _at(study: Study, loop: Loop, access: Instruction, count: Count) -> Expression:
    """Where an access is in its array, in an iteration of a loop."""
    counts = _counts(study, loop, access, count)
    return study.a.read(access.operands[0], counts, "signed").value


def _counts(study: Study, loop: Loop, access: Instruction, count: Count) -> Counts:
    """Iterations of the loops around an access: all but one are the same whatever is asked."""
    assert access.block is not None
    counts = {loop: count}
    for each in study.kernel.around(access.block):
        if each is not loop:
            place = study.kernel.cfg.index[each.header]
            counts[each] = Count(f"within.{place}")
    return counts


def _rotation(study: Study, loop: Loop, root: Root, accesses: list[Turning]) -> Rotation:
    period = int(np.lcm.reduce([len(each.places) for each in accesses]))

    def taken(*, written: bool) -> tuple[frozenset[int], ...]:
        which = [
            each
            for each in accesses
            if (
                each.access.operation.writes_memory
                if written
                else each.access.operation.reads_memory
            )
        ]
        return tuple(
            frozenset(each.places[turn % len(each.places)] for each in which)
            for turn in range(period)
        )

    written, read = taken(written=True), taken(written=False)
    beside = _beside(study, loop, root, accesses)
    return Rotation(
        array=root.name,
        site=accesses[0].access.site,
        buffers=max(place for places in (*written, *read) for place in places) + 1,
        stride=accesses[0].stride,
        written=written,
        read=read,
        is_proved=not beside
        and len({each.stride for each in accesses}) == 1
        and all(_goes_on(study, loop, each) and _stays(study, loop, each) for each in accesses),
        is_read_behind=_are_read_behind(study, [each.access for each in accesses]),
        beside=beside,
    )


def _beside(study: Study, loop: Loop, root: Root, accesses: list[Turning]) -> tuple[Site, ...]:
    """Where a loop accesses an array, or what may be that array, but not in turn: also in loops
    within that barriers hold together, each iteration of which is one of theirs.
    """
    turning = {each.access for each in accesses}
    return tuple(
        dict.fromkeys(
            access.site
            for access in study.kernel.accesses()
            if access.block in loop.blocks
            and (
                isinstance(access.root, ThreadgroupArenaRoot)
                or (access.root == root and access not in turning)
            )
        )
    )


def _are_read_behind(study: Study, accesses: list[Instruction]) -> bool | None:
    """Whether all reads come behind all writes in an iteration of the loop around them; None if
    some do.
    """
    reads = [each for each in accesses if each.operation.reads_memory]
    writes = [each for each in accesses if each.operation.writes_memory]
    behind = [
        is_before(study.kernel, write, read) and not is_before(study.kernel, read, write)
        for write in writes
        for read in reads
    ]
    return True if all(behind) else None if any(behind) else False


def _goes_on(study: Study, loop: Loop, turning: Turning) -> bool:
    """Whether two iterations, any two, differ by their buffers and nothing else."""
    one, other = Count(_TURN), Count(f"other {_TURN}")
    apart = _at(study, loop, turning.access, one) - _at(study, loop, turning.access, other)
    expected = _offset(turning, one.free) - _offset(turning, other.free)
    assert turning.access.block is not None
    come = [
        study.a.path(turning.access.block, _counts(study, loop, turning.access, each))
        for each in (one, other)
    ]
    turns = [one.free >= 0, other.free >= 0, apart != expected]
    # Mostly that is so of all numbers, which is easier to see without where the thread has been.
    return any(study.can([*turns, *more], may_be_one=True) == "no" for more in ([], come))


def _stays(study: Study, loop: Loop, turning: Turning) -> bool:
    """Whether all threads stay in the buffer of an iteration, wherever they access it."""
    turn, access = Count(_TURN), turning.access
    begin = _offset(turning, turn.free)
    at = _at(study, loop, access, turn)
    outside = one_of(at < begin, at + length(access) > begin + turning.stride)
    assert access.block is not None
    path = study.a.path(access.block, _counts(study, loop, access, turn))
    return study.can([turn.free >= 0, path, outside], may_be_one=True) == "no"


def _offset(turning: Turning, turn: Any) -> Expression:
    """Bytes to the buffer of an iteration."""
    places, period = turning.places, len(turning.places)
    found: Expression = places[-1] * turning.stride
    for at in range(period - 1):
        found = choose(turn % period == at, places[at] * turning.stride, found)
    return found
