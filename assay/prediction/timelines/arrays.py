"""Which threadgroup arrays are written and read between which barriers, from a tape.

An array of which a place of the source touches one part in each epoch, and not always the same, is
a ring: its parts are the stages of a pipeline. Places, not instructions: loops are unrolled. In its
first epoch a place may touch several parts: a pipeline is filled before it runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from math import gcd

from assay.sim.simt.emit import tape as r
from assay.sim.simt.ir.nodes import (
    Block,
    Instruction,
    ThreadgroupArenaRoot,
    ThreadgroupParameterRoot,
    ThreadgroupRoot,
)
from assay.sim.simt.ir.operations.memory import LOAD, STORE
from assay.sim.simt.ir.operations.operation import Meeting
from assay.sim.site import Site

MOST_WORDS = 1 << 20
"""Words of streams that are read for one dispatch; later threadgroups are left out."""

_MOST_STAGES = 8
_Root = ThreadgroupRoot | ThreadgroupParameterRoot | ThreadgroupArenaRoot


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayUse:
    """What one threadgroup does with one array, or a stage of a ring, in one epoch.

    `stage` is -1 for an array that is no ring; `read` and `written` are bytes of all lanes.
    """

    threadgroup: int
    epoch: int
    name: str
    stage: int
    read: int
    written: int

    @property
    def label(self) -> str:
        """The array's name, with the stage."""
        return self.name if self.stage < 0 else f"{self.name}[{self.stage}]"

    @property
    def access(self) -> str:
        """`write`, `read` or `both`."""
        if self.read and self.written:
            return "both"
        return "write" if self.written else "read"


@dataclass(slots=True)
class _Touch:
    """Bytes that are moved, by the range of bytes that an access touches."""

    moved: dict[tuple[int, int], int] = field(default_factory=dict)

    def parts(self, size: int) -> set[int]:
        """Which parts of `size` bytes are touched; -1 among them if one access touches two."""
        return {
            first // size if first // size == (end - 1) // size else -1 for first, end in self.moved
        }


_Key = tuple[int, int, _Root, Site | None, bool]
"""Threadgroup, epoch, array, where in the source it is touched, and whether that writes."""
_Place = tuple[int, Site | None, bool]
"""Threadgroup, where in the source, and whether it writes."""
_Touches = dict[_Key, _Touch]


def array_uses(tape: r.Tape) -> tuple[ArrayUse, ...]:
    """Uses by threadgroup, epoch and array; the tape must have places."""
    touches = _touches(tape)
    sizes = {root: _stage_size(root, touches) for root in {key[2] for key in touches}}
    found: dict[tuple[int, int, str, int], list[int]] = {}
    for (group, epoch, root, _, is_write), touch in touches.items():
        size = sizes[root]
        for (first, _), bytes_moved in touch.moved.items():
            stage = first // size if size else -1
            moved = found.setdefault((group, epoch, root.name, stage), [0, 0])
            moved[is_write] += bytes_moved
    return tuple(
        ArrayUse(threadgroup=group, epoch=epoch, name=name, stage=stage, read=read, written=written)
        for (group, epoch, name, stage), (read, written) in sorted(found.items())
    )


def _stage_size(root: _Root, touches: _Touches) -> int:
    """Bytes of one stage of an array; 0 if it is no ring.

    Each place begins its part at the same distance from the begin of a stage, so the distances
    between its begins are whole stages.
    """
    if not isinstance(root, ThreadgroupRoot):
        return 0
    places: dict[_Place, list[tuple[int, _Touch]]] = {}
    for (group, epoch, touched, site, is_write), touch in touches.items():
        if touched is root:
            places.setdefault((group, site, is_write), []).append((epoch, touch))
    size = 0
    for uses in places.values():
        begins = [min(touch.moved)[0] for _, touch in uses]
        size = gcd(size, *(begin - begins[0] for begin in begins))
    if not size or root.size % size or root.size // size > _MOST_STAGES:
        return 0
    return size if _goes_round(places, size) else 0


def _goes_round(places: dict[_Place, list[tuple[int, _Touch]]], size: int) -> bool:
    """Whether all places touch one part in each epoch but the first, and one moves on.

    If any fills several parts in its first epoch, one that writes has to move on: what is filled
    once and then read part by part is no ring.
    """
    filled = moves = writer_moves = False
    for (_, _, is_write), uses in places.items():
        first = min(epoch for epoch, _ in uses)
        steady: set[int] = set()
        for epoch, touch in uses:
            parts = touch.parts(size)
            if -1 in parts or (len(parts) > 1 and epoch > first):
                return False
            if len(parts) > 1:
                filled = True
            else:
                steady |= parts
        moves |= len(steady) > 1
        writer_moves |= is_write and len(steady) > 1
    return writer_moves if filled else moves


def _touches(tape: r.Tape) -> _Touches:
    blocks = tape.function.blocks
    accesses = [r.accesses(block) for block in blocks]
    ends = [_ends_epoch(block) for block in blocks]
    roots: dict[_Root, _Root] = {}
    found: _Touches = {}
    for group in range(len(tape.threadgroups)):
        if tape.starts[(group + 1) * tape.simdgroups] > MOST_WORDS:
            break
        for simdgroup in range(tape.simdgroups):
            stream = r.events(tape, group, simdgroup)
            for epoch, instruction, event in _accesses(stream, accesses, ends):
                root = instruction.root
                if isinstance(root, _Root):
                    root = roots.setdefault(root, root)
                    _add(found, (group, epoch, root), instruction, event)
    return found


def _add(
    found: _Touches, key: tuple[int, int, _Root], instruction: Instruction, event: r.Event
) -> None:
    root = key[2]
    start = root.start if isinstance(root, ThreadgroupRoot) else 0
    first = max(0, event.first_row * r.LINE_BYTES - start)
    end = (event.last_row + 1) * r.LINE_BYTES - start
    if isinstance(root, ThreadgroupRoot):
        end = min(end, root.size)
    moved = event.lanes.bit_count() * event.bytes
    for is_write in (False, True):
        if instruction.operation is (LOAD if is_write else STORE):
            continue
        by_range = found.setdefault((*key, instruction.site, is_write), _Touch()).moved
        by_range[first, end] = by_range.get((first, end), 0) + moved


def _accesses(
    stream: Iterable[r.Event], accesses: list[list[Instruction]], ends: list[bool]
) -> Iterator[tuple[int, Instruction, r.Event]]:
    """(epoch, instruction, event) of each access of a simdgroup."""
    epoch, block, ended = 0, 0, False
    for event in stream:
        if event.type == r.BLOCK:
            epoch += ended
            block = event.number
            ended = ends[block]
        else:
            yield epoch, accesses[block][event.number], event


def _ends_epoch(block: Block) -> bool:
    return bool(block.body) and block.body[-1].operation.meeting is Meeting.THREADGROUP
