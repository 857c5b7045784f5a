"""Whether two threads of a threadgroup can access the same bytes without a barrier between."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from assay.sim.simt.ir.llvm_types import bits
from assay.sim.simt.ir.nodes import (
    THREADGROUP_ROOTS,
    AddressRoot,
    Constant,
    Instruction,
    ThreadgroupArenaRoot,
    ThreadgroupParameterRoot,
    ThreadgroupRoot,
)
from assay.sim.simt.ir.operations.memory import STORE

from .answers import Answer, Counterexample, Obstacle, answer
from .conditions import both, one_of
from .counts import Counts
from .intervals import MEM_THREADGROUP, Interval, State, intervals
from .kernel import Kernel
from .study import Study
from .terms import Expression, Term, add, constant
from .values import Values

ABOUT = "threadgroup races"
_MOST_EXAMPLES = 4
_THREADGROUP_SPACES = (0, 3)  # of computed addresses: any, and threadgroup memory


@dataclass(frozen=True, slots=True, eq=False)
class Visit:
    """An access in the iterations of loops that it is in."""

    access: Instruction
    state: State


def threadgroup_races(study: Study) -> Answer:
    """Whether two threads of a threadgroup race for its memory."""
    kernel = study.kernel
    study.cases = 0
    obstacles = _not_understood(kernel)
    examples: list[Counterexample] = []
    seen: set[frozenset[Instruction]] = set()
    for interval in intervals(kernel, MEM_THREADGROUP):
        for one, other in _pairs(kernel, interval):
            both_places = frozenset((one.access, other.access))
            if both_places in seen:
                continue
            found = _race(study, interval, one, other)
            if isinstance(found, Obstacle):
                obstacles.append(found)
            elif found is not None:
                seen.add(both_places)
                examples.append(found)
        if len(examples) >= _MOST_EXAMPLES:
            break
    return answer(ABOUT, study.cases, examples, obstacles)


def _not_understood(kernel: Kernel) -> list[Obstacle]:
    """Accesses whose memory is not known."""
    roots = [each.root for each in kernel.accesses()]
    has_parameter = any(isinstance(root, ThreadgroupParameterRoot) for root in roots)
    found = []
    for access in kernel.accesses():
        root = access.root
        if isinstance(root, ThreadgroupArenaRoot) and has_parameter:
            why = "which threadgroup array it accesses is not known"
            found.append(Obstacle(why=why, site=access.site))
        elif isinstance(root, AddressRoot) and root.space in _THREADGROUP_SPACES:
            why = "it accesses memory through a pointer whose target is not known"
            found.append(Obstacle(why=why, site=access.site))
    return found


def _pairs(kernel: Kernel, interval: Interval) -> Iterator[tuple[Visit, Visit]]:
    """Accesses of an interval to the same memory, of which one writes."""
    visits = [
        Visit(access, state)
        for block, state in interval.visits
        for access in block.body
        if access.operation.accesses_memory and isinstance(access.root, THREADGROUP_ROOTS)
    ]
    for one, other in itertools.combinations_with_replacement(visits, 2):
        writes = one.access.operation.writes_memory or other.access.operation.writes_memory
        atomic = one.access.operation.is_atomic and other.access.operation.is_atomic
        if writes and not atomic and _same_memory(one.access, other.access):
            yield one, other


def _same_memory(one: Instruction, other: Instruction) -> bool:
    """Whether two accesses may meet at all."""
    roots = (one.root, other.root)
    if any(isinstance(root, ThreadgroupParameterRoot) for root in roots):
        return one.root == other.root
    return one.root == other.root or any(isinstance(r, ThreadgroupArenaRoot) for r in roots)


def _race(
    study: Study, interval: Interval, one: Visit, other: Visit
) -> Counterexample | Obstacle | None:
    """How two accesses meet; None if they cannot."""
    if _writes_the_same(one.access, other.access):
        return None
    a, b = study.a, study.b
    here, there = place(a, one), place(b, other)
    formulas = [
        *began(study, interval),
        reached(a, one, here),
        reached(b, other, there),
        _not_in_lock_step(study, one, other, here, there),
        overlap(a, one.access, here, b, other.access, there),
    ]
    model = study.ask(formulas)
    if model.answer == "no":
        return None
    if model.answer == "unknown":
        lines = f"line {one.access.site.line} and line {other.access.site.line}"
        return Obstacle(why=f"whether {lines} meet is too hard", site=one.access.site)
    model = study.smallest(formulas, model)
    memory = one.access.root.name if one.access.root is not None else ""
    words = [(a, action(one.access), one.access), (b, action(other.access), other.access)]
    return study.counterexample(model, memory, words)


def began(study: Study, interval: Interval) -> list[Expression]:
    """Both threads have passed the barrier that an interval begins with."""
    if interval.start is None:
        return []
    return [values.path(interval.start, interval.counts) for values in (study.a, study.b)]


def place(values: Values, visit: Visit) -> Counts:
    """The iterations of all loops around an access of a thread."""
    assert visit.access.block is not None
    own = {loop: count.of(values.thread.name) for loop, count in visit.state}
    return values.counts_at(visit.access.block, own)


def reached(values: Values, visit: Visit, counts: Counts) -> Expression:
    """What holds when a thread comes to an access."""
    assert visit.access.block is not None
    return values.path(visit.access.block, counts)


def address(values: Values, access: Instruction, counts: Counts) -> Term:
    """The byte that an access begins at, counted in its memory."""
    offset = values.read(access.operands[0], counts, "signed")
    root = access.root
    return add(offset, constant(root.start)) if isinstance(root, ThreadgroupRoot) else offset


def length(access: Instruction) -> int:
    """Bytes of an access."""
    element = access.element
    if access.operation.is_atomic and access.number is not None:
        element = access.number.type
    return access.components * max(bits(element) // 8, 1)


def overlap(
    a: Values, one: Instruction, here: Counts, b: Values, other: Instruction, there: Counts
) -> Expression:
    """Whether two accesses have a byte in common."""
    mine, theirs = address(a, one, here), address(b, other, there)
    return both(mine.value < theirs.value + length(other), theirs.value < mine.value + length(one))


def _not_in_lock_step(
    study: Study, one: Visit, other: Visit, here: Counts, there: Counts
) -> Expression:
    """Lanes of a simdgroup access memory in order, but for those of one instruction together."""
    apart = study.a.thread.simdgroup.value != study.b.thread.simdgroup.value
    if one.access is not other.access:
        return apart
    assert one.access.block is not None
    together = both(
        *(
            here[loop].term.value == there[loop].term.value
            for loop in study.kernel.around(one.access.block)
        )
    )
    return one_of(apart, together)


def _writes_the_same(one: Instruction, other: Instruction) -> bool:
    """Whether two stores surely leave the same, so that their order cannot show."""
    if one.operation is not STORE or other.operation is not STORE:
        return False
    if one.components != 1 or other.components != 1 or one.element != other.element:
        return False
    mine, others = one.operands[1], other.operands[1]
    known = isinstance(mine, Constant) and isinstance(others, Constant)
    return known and mine.literal == others.literal  # type: ignore[attr-defined]


def action(access: Instruction) -> str:
    """What an access does, in words."""
    way = "atomic" if access.operation.is_atomic else ""
    way = way or ("write" if access.operation.writes_memory else "read")
    return f"{way} of {length(access)} bytes"
