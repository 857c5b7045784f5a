"""Asynchronous copies of simdgroups: which accesses are theirs, and what happens before the wait.

A copy goes on from where it begins to where somebody waits for its event. The event is followed
through variables and a thread's own memory. What the simdgroup itself does meanwhile is not ordered
with the copy by lock step. A copy has to end before the next barrier, or it is not followed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from assay.sim.check import layout
from assay.sim.simt.ir.cfg import Loop
from assay.sim.simt.ir.nodes import (
    Block,
    Constant,
    Instruction,
    PrivateRoot,
    Root,
    Value,
    is_private,
)
from assay.sim.simt.ir.operations.control import PHI
from assay.sim.simt.ir.operations.conversions import SEXT, TRUNC, ZEXT
from assay.sim.simt.ir.operations.functions import COPY_EVENT
from assay.sim.simt.ir.operations.integers import ADD, OR, SHL
from assay.sim.simt.ir.operations.marks import ACCESS_KIND
from assay.sim.simt.ir.operations.memory import LOAD, STORE

from .accesses import length
from .answers import Obstacle
from .counts import Count
from .kernel import Kernel, barrier_of
from .study import Study

_NOT_FOLLOWED = "asynchronous copies are not followed"
_LONG = "a copy that goes on behind a barrier is not followed"
_EVENT = 8  # bytes of an event
_MOST_TURNS = 64  # of a loop that waits for several copies
_RESIZED = (SEXT, TRUNC, ZEXT)
_Slot = tuple[Root, int]


@dataclass(frozen=True, slots=True, eq=False)
class Copy:
    """A copy.

    Attributes:
        begin, end: marks around its accesses.
        accesses: what it reads and writes.
        meanwhile: accesses that the simdgroup may make before it waits for the copy.
    """

    begin: Instruction
    end: Instruction
    accesses: frozenset[Instruction]
    meanwhile: set[Instruction] = field(default_factory=set)


@dataclass(slots=True)
class Copies:
    """All copies of a kernel, and which of them are not followed."""

    found: list[Copy] = field(default_factory=list)
    obstacles: list[Obstacle] = field(default_factory=list)

    def are_unordered(self, one: Instruction, other: Instruction) -> bool:
        """Whether lock step does not order two accesses of a simdgroup."""
        return any(
            (x in copy.accesses and (y in copy.accesses or y in copy.meanwhile))
            for copy in self.found
            for x, y in ((one, other), (other, one))
        )

    def have(self, *accesses: Instruction) -> bool:
        """Whether one of some accesses is a copy's."""
        return any(self.of(each) is not None for each in accesses)

    def of(self, access: Instruction) -> Copy | None:
        """The copy that an access is of; None if it is of none."""
        return next((copy for copy in self.found if access in copy.accesses), None)


def copies_of(study: Study) -> Copies:
    """The copies of a kernel; `a` is any thread."""
    found = Copies()
    for mark in study.kernel.function.instructions():
        if mark.operation is ACCESS_KIND and kind_of(mark) == layout.KIND_COPY:
            copy = _copy(mark)
            if copy is None or not _Walk(study, copy).ends():
                why = _NOT_FOLLOWED if copy is None else _LONG
                found.obstacles.append(Obstacle(why=why, site=mark.site))
            if copy is not None:
                found.found.append(copy)
    return found


def kind_of(mark: Instruction) -> int | None:
    """Which kind of accesses a mark speaks of; None if that is not known."""
    kind = mark.operands[0]
    if isinstance(kind, Instruction) and kind.operation in (ADD, OR):
        kind = next((each for each in kind.operands if isinstance(each, Constant)), kind)
    number = kind.number if isinstance(kind, Constant) else None
    return None if number is None else number % (1 << layout.KIND_BITS)


def _copy(begin: Instruction) -> Copy | None:
    """The copy that begins with a mark; None if its end is not found."""
    accesses: set[Instruction] = set()
    ends: set[Instruction] = set()
    assert begin.block is not None
    body = begin.block.body
    work = [(begin.block, body.index(begin) + 1)]
    seen: set[Block] = set()
    while work:
        block, at = work.pop()
        for each in block.body[at:]:
            if each.operation is ACCESS_KIND:
                ends.add(each)
                break
            if each.operation.accesses_memory:
                accesses.add(each)
        else:
            following = [target for target in block.targets if target not in seen]
            seen.update(following)
            work += [(target, 0) for target in following]
    if len(ends) != 1 or kind_of(*ends) != 0:
        return None
    return Copy(begin, ends.pop(), frozenset(accesses))


def _event_of(copy: Copy) -> Instruction | None:
    """The event that a copy gives, right behind its end; None if there is none."""
    assert copy.end.block is not None
    body = copy.end.block.body
    for each in body[body.index(copy.end) + 1 :]:
        if each.operation is COPY_EVENT:
            return each
        if each.operation is ACCESS_KIND:
            return None
    return None


@dataclass(frozen=True, slots=True)
class _State:
    """Where a thread is after a copy began.

    Attributes:
        events: values and places of own memory that hold the copy's event.
        is_later: whether it may be in a later iteration of a loop around the copy.
    """

    block: Block
    at: int
    events: frozenset[Value | _Slot]
    is_later: bool


class _Walk:
    """Goes on from a copy to where somebody waits for it."""

    def __init__(self, study: Study, copy: Copy) -> None:
        self._study = study
        self._kernel: Kernel = study.kernel
        self._copy = copy
        self._event = _event_of(copy)
        block = copy.end.block
        assert block is not None
        self._counts = study.a.counts_at(block, {})
        self._path = study.a.path(block, self._counts)
        self._never: dict[tuple[Block, Block], bool] = {}

    def ends(self) -> bool:
        """Whether the copy surely ends before the next barrier; notes what happens meanwhile."""
        block = self._copy.end.block
        assert block is not None
        if self._event is None:
            return False
        begin = block.body.index(self._copy.end) + 1
        work = [_State(block, begin, frozenset([self._event]), is_later=False)]
        seen: set[_State] = set()
        while work:
            state = work.pop()
            if state in seen:
                continue
            seen.add(state)
            events = self._through(state)
            if events is None:
                continue
            if barrier_of(state.block) is not None:
                return False
            work += self._following(state, events)
        return True

    def _through(self, state: _State) -> frozenset[Value | _Slot] | None:
        """What holds the event at the end of a block; None if somebody waited in it."""
        events = set(state.events)
        for each in state.block.body[state.at :]:
            if each.operation is ACCESS_KIND and kind_of(each) == layout.KIND_COPIED:
                if _event(each) in events:
                    return None
                continue
            if is_private(each.root) and each.operation in (STORE, LOAD):
                _follow(each, events)
            elif _derived(each, events) or (each is self._event and not state.is_later):
                events.add(each)
            else:
                events.discard(each)
            if each.operation.accesses_memory:
                self._copy.meanwhile.add(each)
        return frozenset(events)

    def _following(self, state: _State, events: frozenset[Value | _Slot]) -> Iterator[_State]:
        around = self._kernel.around(state.block)
        for target in state.block.targets:
            is_later = state.is_later or any(
                loop.header is target and loop in self._counts for loop in around
            )
            is_choice = len(state.block.targets) == 2 and not is_later
            if is_choice and self._is_never(state.block, target):
                continue
            if self._waits(state.block, target, events):
                continue
            handed = _handed(state.block, target, events)
            yield _State(target, 0, handed - {self._event} if is_later else handed, is_later)

    def _is_never(self, block: Block, target: Block) -> bool:
        """Whether a thread that began the copy surely does not go from one block to another."""
        edge = (block, target)
        if edge not in self._never:
            taken = self._study.a.taken(block, target, self._counts)
            self._never[edge] = self._study.can([self._path, taken], 1.0) == "no"
        return self._never[edge]

    def _waits(self, block: Block, target: Block, events: frozenset[Value | _Slot]) -> bool:
        """Whether a loop that waits for several copies is left, of which this is one."""
        loop = self._kernel.cfg.innermost[block]
        if loop is None or loop.header is not block or target in loop.blocks:
            return False
        return any(each in events for each in self._waited(loop))

    def _waited(self, loop: Loop) -> Iterator[Value | _Slot]:
        """What a whole loop waits for: a value, or places of own memory."""
        marks = [x for b in loop.blocks for x in b.body if x.operation is ACCESS_KIND]
        leaving = {b for b in loop.blocks for t in b.targets if t not in loop.blocks}
        if len(marks) != 1 or leaving != {loop.header} or kind_of(marks[0]) != layout.KIND_COPIED:
            return
        values, condition = self._study.a, loop.header.condition
        if marks[0].block not in loop.header.targets or condition is None:
            return
        goes_on = loop.header.targets[0] in loop.blocks
        for turn in range(_MOST_TURNS):
            counts = {**self._counts, loop: Count(offset=turn)}
            if values.condition(condition, counts) is not goes_on:
                return
            event = _event(marks[0])
            yield event
            if isinstance(event, Instruction) and is_private(event.root):
                at = values.read(event.operands[0], counts, "signed").constant
                if at is not None and event.root is not None:
                    yield event.root, at


def _event(wait: Instruction) -> Value:
    """The event that somebody waits for."""
    value = wait.operands[0]
    while isinstance(value, Instruction) and value.operation in (OR, SHL, *_RESIZED):
        value = value.operands[0]
    return value


def _derived(value: Instruction, events: set[Value | _Slot]) -> bool:
    return value.operation in _RESIZED and value.operands[0] in events


def _follow(access: Instruction, events: set[Value | _Slot]) -> None:
    """Through a thread's own memory."""
    at, root = access.operands[0], access.root
    assert root is not None
    if access.operation is LOAD:
        known = isinstance(at, Constant) and at.number is not None
        held = known and (root, at.number) in events  # type: ignore[attr-defined]
        (events.add if held else events.discard)(access)
        return
    slots = [each for each in events if isinstance(each, tuple)]
    known = isinstance(at, Constant) and isinstance(root, PrivateRoot)
    first = at.number if isinstance(at, Constant) and at.number is not None else 0
    end = first + length(access) if known else math.inf
    if not isinstance(root, PrivateRoot):  # any array
        events.difference_update(slots)
    events.difference_update(
        [x for x in slots if x[0] == root and x[1] < end and first < x[1] + _EVENT]
    )
    if known and access.operands[1] in events:
        events.add((root, first))


def _handed(
    block: Block, target: Block, events: frozenset[Value | _Slot]
) -> frozenset[Value | _Slot]:
    """What holds the event after an edge: variables take it over."""
    found = set(events)
    at = target.predecessors.index(block)
    for phi in target.phis:
        assert phi.operation is PHI
        (found.add if phi.operands[at] in events else found.discard)(phi)
    return frozenset(found)
