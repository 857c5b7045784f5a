"""Values that a loop hands on through threadgroup memory within an iteration, as words that are
copied there and decoded behind a barrier.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field

from assay.sim.simt.ir.cfg import Loop
from assay.sim.simt.ir.nodes import THREADGROUP_ROOTS, Block, Instruction, Value
from assay.sim.simt.ir.operations.memory import LOAD, STORE

from ..accesses import address, length
from ..conditions import both, negation, one_of
from ..counts import Count, Counts
from ..initial.search import Search
from ..initial.writers import Place, Writer
from ..intervals import MEM_THREADGROUP, Interval, intervals
from ..study import Study
from ..terms import Expression
from ..values import Values
from ..walks.execution import NotKnown
from ..walks.visits import Visit, place


@dataclass(frozen=True, slots=True)
class Stored:
    """Who stored what is read.

    Attributes:
        values, counts, block: the thread, its iterations, and where it did.
        value: what it stored.
        condition: which has to hold for it to have done so.
        definition: what makes symbols those of the thread; it can always hold.
    """

    values: Values
    counts: Counts
    block: Block
    value: Value
    condition: Expression
    definition: Expression


@dataclass(slots=True)
class Staged:
    """Finds who stored in an iteration of a loop what is read in the same one.

    Attributes:
        study: of many threads.
        search: for those who wrote what is read.
        loop: one that barriers hold together.
    """

    study: Study
    search: Search
    loop: Loop
    _known: dict[Instruction, Instruction | None] = field(default_factory=dict)
    _names: Iterator[int] = field(default_factory=itertools.count)

    def stored(self, load: Instruction, values: Values, counts: Counts) -> Stored | None:
        """Who stored what a thread reads; None if that is not known."""
        if load not in self._known:
            self._known[load] = self._store_of(load)
        store = self._known[load]
        if store is None or store.block is None or load.block is None:
            return None
        at = address(values, load, values.counts_at(load.block, counts)).value
        around = self.study.kernel.around(store.block)
        known = tuple((loop, counts[loop]) for loop in around if loop in self._outer)
        try:
            name, given = f"staged{next(self._names)}", frozenset(self._outer)
            writer = Writer(self.study, Place(store, known), name, given)
        except NotKnown:
            return None
        if writer.digits is None:
            return None
        who = writer.who(at)
        return Stored(
            values=writer.values,
            counts=writer.counts,
            block=store.block,
            value=store.operands[1],
            condition=both(who.is_one, writer.executes, writer.start == at),
            definition=one_of(negation(who.is_one), who.it_is),
        )

    @property
    def _outer(self) -> list[Loop]:
        """The loop, and those around it."""
        return self.study.kernel.around(self.loop.header)

    def _store_of(self, load: Instruction) -> Instruction | None:
        """The only store to an array, if a load surely finds what that stored in its iteration."""
        writes = [
            each
            for each in self.study.kernel.accesses()
            if each.root == load.root and each.operation.writes_memory
        ]
        if len(writes) != 1 or load.operation is not LOAD or load.block not in self.loop.blocks:
            return None
        (store,) = writes
        is_alike = store.components == load.components == 1 and length(store) == length(load)
        if store.operation is not STORE or not is_alike or store.block not in self.loop.blocks:
            return None
        if any(are_written_twice(self.study, self.loop, [store])):
            return None
        visits = list(self._visits(load))
        is_found = bool(visits) and all(self._is_of_iteration(store, *each) for each in visits)
        return store if is_found else None

    def _visits(self, load: Instruction) -> Iterator[tuple[Interval, Visit]]:
        for interval in intervals(self.study.kernel, MEM_THREADGROUP):
            for block, state in interval.visits:
                if block is load.block:
                    yield interval, Visit(load, state)

    def _is_of_iteration(self, store: Instruction, interval: Interval, visit: Visit) -> bool:
        """Whether what is read was stored in the iteration that reads it."""
        now = place(self.study.a, visit)[self.loop]
        if now.is_own or now.after is not None:
            return False

        def is_meant(where: Place) -> bool:
            return where.write is store and dict(where.known).get(self.loop) == now

        return self.search.is_written(interval, visit, [], is_meant)


def is_staged(value: Value) -> bool:
    """Whether a value is read from threadgroup memory."""
    return (
        isinstance(value, Instruction)
        and value.operation is LOAD
        and isinstance(value.root, THREADGROUP_ROOTS)
    )


def are_written_twice(study: Study, loop: Loop, writes: list[Instruction]) -> Iterator[Instruction]:
    """Writes to places that an iteration of a loop may write twice, or one of the loops around it
    before it: which comes last is not followed.
    """
    for one, other in itertools.combinations_with_replacement(writes, 2):
        assert one.block is not None and other.block is not None
        mine, theirs = (
            in_turn(study, loop, values, each)
            for values, each in ((study.a, one), (study.b, other))
        )
        unlike: Expression = True
        if one is other:
            turns = [
                mine[each].term.value != theirs[each].term.value
                for each in mine
                if mine[each] != theirs[each]
            ]
            unlike = one_of(study.a.thread.index.value != study.b.thread.index.value, *turns)
        start = address(study.a, one, mine).value
        end = address(study.b, other, theirs).value
        answer = study.can(
            [
                study.a.path(one.block, mine),
                study.b.path(other.block, theirs),
                unlike,
                start < end + length(other),
                end < start + length(one),
            ]
        )
        if answer != "no":
            yield one


def in_turn(study: Study, loop: Loop, values: Values, access: Instruction) -> Counts:
    """Iterations of the loops around an access: one that all share of a loop and those around it,
    any of others.
    """
    assert access.block is not None
    outer = study.kernel.around(loop.header)
    counts = {
        each: Count(f"turn.{at}" if each in outer else f"{values.thread.name}.turn.{at}")
        for at, each in enumerate(study.kernel.around(access.block))
    }
    return values.counts_at(access.block, counts)
