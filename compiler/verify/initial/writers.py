"""Writes that may have been there before a read, and which thread does them at a given place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from assay.sim.lanes import LANES
from assay.sim.simt.ir.cfg import Loop
from assay.sim.simt.ir.nodes import Block, Constant, Instruction
from assay.sim.simt.ir.operations.synchronisation import SIMDGROUP_BARRIER

from ..accesses import address, length
from ..conditions import both
from ..counts import Count
from ..intervals import MEM_THREADGROUP
from ..study import Study
from ..terms import Expression, quotient
from ..values import Values
from ..walks.execution import Execution, NotKnown
from ..walks.order import dominates, is_before
from .digits import Digit, backwards, digits_of, flattened
from .evaluate import Numbers, Unknown, evaluate
from .tables import threads_numbers

_TURNS: Final = (1, 64, 16, 6)  # iterations that are looked at, by how many loops there are
_EARLIER: Final = (1, 2, 3)  # iterations of a barrier's loop that a write may be before it


@dataclass(frozen=True, slots=True)
class Place:
    """Where a write stands to what came before a read.

    Attributes:
        write: the write.
        known: iterations of loops that the write is in which are known from the read.
        is_mine: whether it is the reading thread's own.
        is_near: whether nothing but lock step orders it.
    """

    write: Instruction
    known: tuple[tuple[Loop, Count], ...]
    is_mine: bool = False
    is_near: bool = False


@dataclass(frozen=True, slots=True)
class Who:
    """Which thread is said to write a byte.

    Attributes:
        is_one: whether there is such a thread, and such iterations: of all others nothing may be
            said, for what contradicts itself would be proved.
        it_is: that the writer is it, where there is one.
    """

    is_one: Expression
    it_is: Expression


class Writer:
    """Some thread that executes a write: which thread, and in which iterations, is told later.

    Attributes:
        place: which write.
        conditions: what makes the thread execute it.
        free: loops around it of which any iteration is meant.
        start: the byte that it writes first.
        digits: how that is made from the thread's index and iterations; None if it is not known.
        first: the thread that has all zeros for digits.
    """

    def __init__(
        self,
        study: Study,
        place: Place,
        name: str,
        given: frozenset[Loop],
        *,
        is_guessed: bool = True,
    ) -> None:
        self.study = study
        self.place = place
        self.values: Values = study.thread(name)
        kernel, write = study.kernel, place.write
        assert write.block is not None
        known = dict(place.known)
        self.free = [loop for loop in kernel.around(write.block) if loop not in known]
        self.turns = [Count(f"{name}.turn.{kernel.cfg.index[loop.header]}") for loop in self.free]
        self.counts = {**known, **dict(zip(self.free, self.turns, strict=True))}
        execution = Execution(self.values, given)
        self.conditions = execution.conditions(write.block, self.counts)
        self.earlier = execution.earlier
        self.start = address(self.values, write, self.counts).value
        self.first = 0
        is_looked_for = is_guessed and not place.is_mine
        self.digits = self._digits(self.conditions) if is_looked_for else None
        self.origin = self._at_zeros() if self.digits is not None else None

    @property
    def executes(self) -> Expression:
        """Whether the thread executes it."""
        return both(*self.conditions)

    @property
    def index(self) -> Expression:
        """The thread's index in its threadgroup."""
        return self.values.thread.index.value

    def who(self, at: Expression, index: Expression | None = None) -> Who:
        """Which thread, in which iterations, is said to write a byte.

        Args:
            at: the byte.
            index: of the thread that reads, if it is the one.
        """
        if index is not None:
            return Who(True, both(*self._is_thread(index)))
        assert self.digits is not None and self.origin is not None
        axes = 1 if self._is_flat else 1 + len(self.turns)
        numbers = backwards(self.digits, axes, at - self.origin)
        if self._is_flat:
            whole = numbers[0]
            numbers = [whole % self._threads, quotient(whole, self._threads)]
        thread = numbers[0] + self.first
        turns = [turn.free == each for turn, each in zip(self.turns, numbers[1:], strict=True)]
        is_one = [thread >= 0, thread < self._everyone, *(each >= 0 for each in numbers[1:])]
        return Who(both(*is_one), both(*self._is_thread(thread), *turns))

    def writes(self, at: Expression, size: int) -> Expression:
        """Whether the thread is one, and writes bytes."""
        counts = [count.term.value >= 0 for count in self.counts.values()]
        return both(
            self.index >= 0,
            self.index < self._everyone,
            *counts,
            self.executes,
            self.start <= at,
            at + size <= self.start + length(self.place.write),
        )

    @property
    def _everyone(self) -> int:
        """How many threads there are."""
        return int(np.prod(self.study.kernel.size))

    def _is_thread(self, index: Expression) -> list[Any]:
        """All that a thread's index says of where it is."""
        thread = self.values.thread
        x, y, _ = self.study.kernel.size
        parts = [
            (thread.place[0], index % x),
            (thread.place[1], quotient(index, x) % y if y > 1 else 0),
            (thread.place[2], quotient(index, x * y)),
            (thread.lane, index % LANES),
            (thread.simdgroup, quotient(index, LANES)),
        ]
        return [term.value == part for term, part in parts if term.constant is None]

    # -- guessing ---------------------------------------------------------------------------------

    def _digits(self, conditions: list[Expression]) -> list[Digit] | None:
        """How addresses are made, of the threads and iterations that may come here."""
        x, y, z = self.study.kernel.size
        self._is_flat = False
        self._threads = x * y * z
        coming = self._coming(conditions)
        if coming is None:
            return None
        threads, turns = coming
        self.first, self._threads = int(threads[0]), len(threads)
        try:
            found = evaluate(self.start, self._given(threads, turns), otherwise=0)
        except Unknown:
            return None
        table = np.broadcast_to(found, (len(threads), *turns)).astype(np.int64)
        digits = digits_of(table)
        if digits is not None:
            return digits
        for flat in flattened(table):
            self._is_flat = True
            return digits_of(flat)
        return None

    def _coming(self, conditions: list[Expression]) -> tuple[Numbers, list[int]] | None:
        """Indices of threads that may execute the write, one behind the other, and how many
        iterations of each loop may; None if nobody does.
        """
        x, y, z = self.study.kernel.size
        everyone = np.arange(x * y * z)
        turns = [_TURNS[min(len(self.turns), len(_TURNS) - 1)]] * len(self.turns)
        given = self._given(everyone, turns)
        comes = np.ones((len(everyone), *turns), bool)
        for each in conditions:
            try:
                comes &= np.broadcast_to(evaluate(each, given), comes.shape)
            except Unknown:
                continue
        axes = range(comes.ndim)
        ends = [
            np.flatnonzero(comes.any(axis=tuple(other for other in axes if other != axis)))
            for axis in axes
        ]
        if not all(map(len, ends)):
            return None
        threads, *others = ends
        coming = everyone[threads[0] : threads[-1] + 1]
        return coming, [int(each[-1]) + 1 for each in others]

    def _given(self, threads: Numbers, turns: Sequence[int]) -> Mapping[str, Numbers]:
        """Numbers of the symbols that say where a thread is, and in which iterations."""
        axes = 1 + len(self.turns)
        column = threads.reshape(-1, *[1] * (axes - 1)).astype(np.int64)
        found: dict[str, Numbers] = {}
        found.update(threads_numbers(self.values.thread.name, self.study.kernel.size, column))
        for axis, (turn, count) in enumerate(zip(self.turns, turns, strict=True), start=1):
            shape = [-1 if at == axis else 1 for at in range(axes)]
            found[turn.symbol] = np.arange(count).reshape(shape)
        return found

    def _at_zeros(self) -> Expression:
        """The address of the first thread in the first iterations, in the solver's terms."""
        import z3

        from ..native.building import known, now

        if isinstance(self.start, int):
            return self.start
        given = self._given(np.asarray([self.first]), [1] * len(self.turns))
        terms = now()
        numbers = {name: int(each.flat[0]) for name, each in given.items()}
        pairs = [(terms.integer(name), terms.literal(each)) for name, each in numbers.items()]
        return known(z3.substitute(self.start, *pairs))


def before_barrier(
    study: Study, write: Instruction, start: Block, counts: Mapping[Loop, Count]
) -> Iterator[Place]:
    """Places of a write that come before a barrier in given iterations."""
    kernel = study.kernel
    assert write.block is not None
    order = kernel.cfg.index
    around = kernel.around(write.block)
    common = [loop for loop in kernel.around(start) if loop in around]
    same = tuple((loop, counts[loop]) for loop in common)
    if order[write.block] <= order[start]:
        yield Place(write, same)
    for at, loop in reversed(list(enumerate(common))):
        earlier = [counts[loop].further(-by) for by in _EARLIER]
        yield from (Place(write, (*same[:at], (loop, each))) for each in earlier)


def before_access(
    study: Study, write: Instruction, read: Instruction, counts: Mapping[Loop, Count]
) -> Iterator[Place]:
    """Places of a write that come before a read in one simdgroup: the thread's own, and those of
    other lanes behind a barrier, without which compilers keep no order between lanes.
    """
    kernel = study.kernel
    assert write.block is not None and read.block is not None
    around = kernel.around(write.block)
    common = [loop for loop in kernel.around(read.block) if loop in around]
    known = tuple((loop, counts[loop]) for loop in common)
    if is_before(study.kernel, write, read):
        others = _behind_barrier(study, write, read, is_earlier=False)
        yield from (Place(write, known, is_mine=mine, is_near=True) for mine in _whose(others))
    others = _behind_barrier(study, write, read, is_earlier=True)
    for at, loop in reversed(list(enumerate(common))):
        earlier = (*known[:at], (loop, counts[loop].further(-1)))
        yield from (Place(write, earlier, is_mine=mine, is_near=True) for mine in _whose(others))


def _whose(others: bool) -> tuple[bool, ...]:
    """Whether a write may be the reading thread's own, and whether another one's."""
    return (True, False) if others else (True,)


def _behind_barrier(
    study: Study, write: Instruction, read: Instruction, *, is_earlier: bool
) -> bool:
    """Whether a barrier of the simdgroup stands between a write and a read.

    Args:
        study: of the kernel.
        write: by some lane.
        read: by another lane of the simdgroup.
        is_earlier: whether the write is of an earlier iteration of a loop that both are in.
    """
    assert write.block is not None and read.block is not None
    around = set(study.kernel.around(write.block)) & set(study.kernel.around(read.block))
    return any(
        each.operation is SIMDGROUP_BARRIER
        and _orders(each)
        and each.block is not None
        and around <= set(study.kernel.around(each.block))
        and dominates(study.kernel, each, read)
        and (
            is_earlier
            or (is_before(study.kernel, write, each) and not is_before(study.kernel, each, write))
        )
        for each in study.kernel.function.instructions()
    )


def _orders(barrier: Instruction) -> bool:
    """Whether a barrier is for threadgroup memory."""
    flags = barrier.operands[0]
    return isinstance(flags, Constant) and bool((flags.number or 0) & MEM_THREADGROUP)


def writer_of(study: Study, place: Place, name: str, read: Instruction | None) -> Writer | None:
    """The thread that does a write; None if it is not known what makes it."""
    try:
        found = Writer(study, place, name, given_loops(study, place, read))
    except NotKnown:
        return None
    return found if found.digits is not None or place.is_mine else None


def given_loops(study: Study, place: Place, read: Instruction | None) -> frozenset[Loop]:
    """Loops of which the thread that writes surely came to the iteration that is asked for.

    Args:
        study: of the kernel.
        place: where the write stands.
        read: what it comes before in one simdgroup; None if a barrier lies between.
    """
    known = frozenset(loop for loop, _ in place.known)
    # All that a reading thread was in it came to; others come along where barriers hold them.
    return known if read is None or place.is_mine else known & study.kernel.shared


__all__ = [
    "Place",
    "Who",
    "Writer",
    "before_access",
    "before_barrier",
    "given_loops",
    "writer_of",
]
