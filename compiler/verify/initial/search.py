"""Who wrote what is read of threadgroup memory: guesses, each of which the solver confirms.

For a read, writes are looked for that surely came before it: behind which there is a barrier, or,
in the same simdgroup, which come first in the program. Each is a guess of who wrote the element.
The solver says for which reads none of the guesses is right, and such a read brings the next guess,
until there are no such reads, or no guesses.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from assay.sim.simt.ir.cfg import Loop
from assay.sim.simt.ir.nodes import THREADGROUP_ROOTS, Instruction, ThreadgroupRoot

from ..accesses import action, address, length
from ..answers import Counterexample, Obstacle
from ..conditions import both, negation, one_of
from ..copies import Copies
from ..intervals import MEM_THREADGROUP, Interval
from ..solver import Model, solve
from ..study import Study
from ..terms import Expression
from ..walks.skipped import skipped
from ..walks.visits import Visit, place, reached
from .covered import Coverage, Read
from .writers import (
    Place,
    Who,
    Writer,
    before_access,
    before_barrier,
    given_loops,
    writer_of,
)

_MOST_GUESSES: Final = 24
_SECONDS_OF_GUESS: Final = 0.1


@dataclass(slots=True)
class Question:
    """A read of some bytes, and the guesses at who wrote them.

    Attributes:
        formulas: what holds when it is executed.
        at: the byte that is asked about.
        size: how many bytes are, from there.
        is_meant: which places of writes count.
    """

    interval: Interval
    read: Instruction
    formulas: list[Expression]
    at: Expression
    size: int
    guesses: list[Writer] = field(default_factory=list)
    is_meant: Callable[[Place], bool] = lambda where: True


class Search:
    """Looks for those who wrote what is read.

    Args:
        study: of many threads, of which `a` reads.
        copies: asynchronous ones, which lock step does not order.
    """

    def __init__(self, study: Study, copies: Copies) -> None:
        self.study = study
        self._copies = copies
        self._coverage = Coverage(study)
        self._writers: dict[tuple[Place, bool], Writer | None] = {}
        self._writes = [
            each
            for each in study.kernel.accesses()
            if each.operation.writes_memory and isinstance(each.root, THREADGROUP_ROOTS)
        ]

    def unwritten(self, interval: Interval, visit: Visit) -> list[Counterexample] | Obstacle | None:
        """How a read finds what nobody wrote; None if it cannot."""
        question = self.question(interval, visit)
        model = self._asked(question, visit)
        return None if model.answer == "no" else self._failed(question, model)

    def is_written(
        self,
        interval: Interval,
        visit: Visit,
        when: Sequence[Expression],
        is_meant: Callable[[Place], bool],
    ) -> bool:
        """Whether a read surely finds what was written at certain places.

        Args:
            interval: what the read is in.
            visit: the read.
            when: conditions under which it is asked.
            is_meant: whether a place of a write is one of them.
        """
        question = self.question(interval, visit)
        question.formulas += when
        question.is_meant = is_meant
        return self._asked(question, visit).answer == "no"

    def _asked(self, question: Question, visit: Visit) -> Model:
        """Whether what is read may not have been written, by all the guesses that there are."""
        if self._coverage.is_written(self._read(question, visit), self._given(question, visit)):
            return Model("no")
        while True:
            model = self._ask(question)
            guess = self._next(question, visit, model) if model.answer == "yes" else None
            if guess is None:
                return model
            question.guesses.append(guess)

    def question(self, interval: Interval, visit: Visit) -> Question:
        """What is asked about a read."""
        a, read = self.study.a, visit.access
        counts = place(a, visit)
        formulas: list[Expression] = [reached(a, visit, counts)]
        if interval.start is not None:
            formulas.append(a.path(interval.start, interval.counts))
        formulas += skipped(a, interval, visit, MEM_THREADGROUP)
        start = address(a, read, counts).value
        units = [length(each) for each in self._writes if each.root == read.root]
        unit = math.gcd(length(read), *units)
        part: Any = _part() if unit < length(read) else 0
        if unit < length(read):
            formulas += [part >= 0, part < length(read) // unit]
        root = read.root
        if isinstance(root, ThreadgroupRoot):
            # Whether it stays inside is another question.
            inside = both(start >= root.start, start + length(read) <= root.start + root.size)
            formulas.append(inside)
        return Question(interval, read, formulas, start + unit * part, unit)

    def _ask(self, question: Question) -> Model:
        return self.study.ask([*question.formulas, *self._wrong(question, question.guesses)])

    def _wrong(self, question: Question, guesses: Sequence[Writer]) -> list[Expression]:
        """That none of some guesses is right."""
        found: list[Expression] = []
        for each in guesses:
            who = self._who(question, each)
            fails = both(who.it_is, negation(self._right(question, each)))
            found.append(one_of(negation(who.is_one), fails))
        return found

    def _who(self, question: Question, guess: Writer) -> Who:
        mine = self.study.a.thread.index.value if guess.place.is_mine else None
        return guess.who(question.at, mine)

    def _right(self, question: Question, guess: Writer) -> Expression:
        writes = guess.writes(question.at, question.size)
        if not guess.place.is_near:
            return writes
        same = guess.values.thread.simdgroup.value == self.study.a.thread.simdgroup.value
        return both(writes, same)

    def _read(self, question: Question, visit: Visit) -> Read:
        shared = {loop for loop, _ in visit.state}
        return Read(
            formulas=question.formulas,
            at=question.at,
            size=question.size,
            inner=[x for loop, x in place(self.study.a, visit).items() if loop not in shared],
            part=_part() if question.size < length(question.read) else 0,
        )

    def _given(self, question: Question, visit: Visit) -> Iterator[tuple[Place, frozenset[Loop]]]:
        for where in self._places(question, visit):
            near = question.read if where.is_near else None
            yield where, given_loops(self.study, where, near)

    # -- guesses ----------------------------------------------------------------------------------

    def _next(self, question: Question, visit: Visit, model: Model) -> Writer | None:
        """A guess that may be right where all others are wrong."""
        if len(question.guesses) >= _MOST_GUESSES:
            return None
        for guess in self._possible(question, visit):
            if guess not in question.guesses and self._may_be(question, guess, model):
                return guess
        return None

    def _possible(self, question: Question, visit: Visit) -> Iterator[Writer]:
        for where in self._places(question, visit):
            guess = self._writer(where, question.read)
            if guess is not None:
                yield guess

    def _places(self, question: Question, visit: Visit) -> Iterator[Place]:
        """Where a write may be that came before the read, as far as it is meant."""
        interval, read = question.interval, question.read
        counts = place(self.study.a, visit)
        for write in self._writes:
            if write.root != read.root:
                continue
            far = (
                before_barrier(self.study, write, interval.start, interval.counts)
                if interval.start is not None
                else ()
            )
            # What a copy writes is there once it ends.
            is_late = self._copies.are_unordered(write, read)
            near = () if is_late else before_access(self.study, write, read, counts)
            yield from filter(question.is_meant, itertools.chain(far, near))

    def _writer(self, where: Place, read: Instruction) -> Writer | None:
        key = (where, where.is_near)
        if key not in self._writers:
            name = f"writer{len(self._writers)}"
            near = read if where.is_near else None
            self._writers[key] = writer_of(self.study, where, name, near)
        return self._writers[key]

    def _may_be(self, question: Question, guess: Writer, model: Model) -> bool:
        """Whether a guess may be right of a read that a model is of."""
        numbers = [
            symbol() == number
            for symbol, number in model.named()
            if symbol.arity() == 0 and not symbol.name().startswith("writer")
        ]
        study, who = self.study, self._who(question, guess)
        found = solve(
            [
                *numbers,
                *question.formulas,
                who.is_one,
                who.it_is,
                self._right(question, guess),
            ],
            study.facts,
            _SECONDS_OF_GUESS,
            shows_numbers=False,
        )
        return found.answer != "no"

    # -- endings ----------------------------------------------------------------------------------

    def _failed(self, question: Question, model: Model) -> list[Counterexample] | Obstacle:
        read = question.read
        name = read.root.name if read.root is not None else ""
        if model.answer == "unknown":
            why = f"whether what is read of '{name}' was written before is too hard"
            return Obstacle(why=why, site=read.site)
        formulas = [*question.formulas, *self._wrong(question, question.guesses)]
        words = [(self.study.a, action(read), read)]
        return self.study.examples(formulas, model, name, words)


def _part() -> Any:
    """Which part of a read is asked about, if writes are of smaller ones."""
    from ..native.building import integer

    return integer("part")
