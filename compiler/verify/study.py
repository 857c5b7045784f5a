"""Two arbitrary threads of a kernel, what is known of both, and models of what they can do."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, replace
from typing import Any

from assay.sim.simt.ir.nodes import BufferRoot, Instruction
from assay.sim.simt.ir.operations.memory import LOAD
from assay.sim.site import Site

from .answers import Actor, Counterexample
from .conditions import both, negation, one_of
from .counts import Counts
from .facts import Facts
from .kernel import Kernel, is_read_only, unshared
from .positions import Positions
from .ranges import Lemmas, Ranges
from .solver import Model, solve
from .terms import Expression, Term
from .values import Values

Assumed = Callable[[Values], list[Expression]]
_DEEPEST = 30_000  # frames: values of long chains of branches are found by recursion
_LEMMA = 1 / 8  # of the time for a question
_SIZES = (2, 8, 64)  # tried in turn for small counterexamples


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How much is done for an answer.

    Attributes:
        examples: counterexamples after which no more are looked for; of one alone no small one is.
        seconds: for a question.
        only: places of the accesses to ask about; None for all.
        each: the same for each property, and nothing for others; None for the same for all.
        is_for_proofs: whether it only matters if there is a proof, so that the first thing that
            is in its way is the last that is looked for.
    """

    examples: int = 4
    seconds: float = 4.0
    only: frozenset[frozenset[Site]] | None = None
    each: Mapping[str, frozenset[frozenset[Site]]] | None = None
    is_for_proofs: bool = False

    def of(self, about: str) -> Effort:
        """What is done for one property."""
        if self.each is None:
            return self
        return replace(self, only=self.each.get(about, frozenset()), each=None)

    def is_enough(self, examples: Sized, obstacles: Sized) -> bool:
        """Whether no more is looked for, with so many counterexamples and obstacles found."""
        if self.is_for_proofs:
            return len(examples) + len(obstacles) > 0
        return len(examples) >= self.examples


class Study:
    """Threads `a` and `b`, of one threadgroup or of two.

    Args:
        kernel: the kernel.
        assumed: what is assumed of launches, as conditions on a thread's values.
        apart: whether the threads are of different threadgroups, which share no more than
            read-only memory.
        alone: whether it is about one thread, `a`; there may be no other.
        many: whether it is about `a` and others that are named later, by what their indices are.
        together: whether both threads are of one simdgroup, with lanes that only barriers order.
        lenient: whether values are taken not to wrap where that is not proved.
        effort: how much is done.
        lemmas: what was tried before under the same assumptions.

    Attributes:
        in_order: places of each two stores that nothing but lock step keeps apart.
        read_together: places of reads that were taken to find the same one after the other.
    """

    def __init__(
        self,
        kernel: Kernel,
        assumed: Assumed,
        *,
        apart: bool = False,
        alone: bool = False,
        many: bool = False,
        together: bool = False,
        lenient: bool = False,
        effort: Effort | None = None,
        lemmas: Lemmas | None = None,
    ) -> None:
        if sys.getrecursionlimit() < _DEEPEST:
            sys.setrecursionlimit(_DEEPEST)
        self.effort = effort or Effort()
        self.kernel = unshared(kernel) if apart else kernel
        self.apart = apart
        self.together = together
        self.facts = Facts(kernel.function.instructions())
        seconds = self.effort.seconds * _LEMMA
        self.ranges = Ranges(self.kernel, assumed, lenient=lenient, seconds=seconds, lemmas=lemmas)
        groups = {"a": "group", "b": "other" if apart else "group"}
        self.many = many
        self.a, self.b = (self.thread(name, group) for name, group in groups.items())
        x, y = self.a.thread, self.b.thread
        self.always = [*x.facts, *y.facts, *assumed(self.a), *assumed(self.b)]
        self.are_two = alone or many or _unlike(x.place, y.place)
        if together:
            same = x.simdgroup.value == y.simdgroup.value
            self.are_two = both(_unlike(x.place, y.place), same)
        if apart:
            self.are_two = _unlike(x.group, y.group)
        self.lengths: Mapping[str, Expression] = {}  # of arguments that stand for memory
        self.cases = 0
        self.in_order: set[frozenset[Site]] = set()
        self.read_together: set[Site] = set()
        self._lemmas: dict[tuple[int, int], bool] = {}
        self._kept: list[Any] = []

    def thread(self, name: str, group: str = "group") -> Values:
        """A thread's values."""
        place = Positions(
            name,
            self.kernel.size,
            group,
            is_one_of_many=self.many,
            is_ragged=self.kernel.is_ragged,
        )
        return Values(self.kernel, place, self.facts, self.ranges)

    def holds(self, path: Expression, condition: Expression) -> bool:
        """Whether a condition is proved where a path was taken."""
        if isinstance(condition, bool):
            return condition
        if path is False:
            return True
        key = (0 if path is True else path.get_id(), condition.get_id())
        if key not in self._lemmas:
            self._kept += [path, condition]
            model = solve(
                [path, negation(condition), *self.always],
                self.facts,
                2 * _LEMMA * self.effort.seconds,
                shows_numbers=False,
            )
            self._lemmas[key] = model.answer == "no"
        return self._lemmas[key]

    def ask(
        self,
        formulas: Iterable[Expression],
        seconds: float | None = None,
        *,
        may_be_one: bool = False,
    ) -> Model:
        """Whether the two threads, or the only one if they may be, can do what formulas say."""
        # Who wrote something is guessed by numbers.
        shows_numbers = self.many or not self.effort.is_for_proofs
        return self._solved(
            formulas, seconds, may_be_one, shows_numbers=shows_numbers, is_doubted=True
        )

    def can(
        self,
        formulas: Iterable[Expression],
        seconds: float | None = None,
        *,
        may_be_one: bool = False,
    ) -> str:
        """The same where numbers do not matter: "yes", "no" or "unknown"."""
        return self._solved(formulas, seconds, may_be_one, shows_numbers=False).answer

    def _solved(
        self,
        formulas: Iterable[Expression],
        seconds: float | None,
        may_be_one: bool,
        *,
        shows_numbers: bool,
        is_doubted: bool = False,
    ) -> Model:
        self.cases += 1
        allowed = self.effort.seconds if seconds is None else seconds
        two = True if may_be_one else self.are_two
        given = [*formulas, *self.always, two]
        return solve(
            given,
            self.facts,
            allowed,
            shows_numbers=shows_numbers,
            is_doubted=is_doubted,
        )

    def possible(self, *more: Expression) -> str:
        """Whether there is a launch as assumed, and more: "yes", "no" or "unknown"."""
        given = [*self.always, *more]
        found = solve(given, self.facts, self.effort.seconds, shows_numbers=False)
        return found.answer

    def meant(self, *accesses: Instruction) -> bool:
        """Whether a question about accesses is to be asked."""
        only = self.effort.only
        return only is None or frozenset(each.site for each in accesses) in only

    def examples(
        self,
        formulas: Sequence[Expression],
        model: Model,
        memory: str,
        what: Sequence[tuple[Values, str, Instruction]],
    ) -> list[Counterexample]:
        """A small counterexample, and one with numbers of some size.

        With few elements, threads often write what is there already, which is no race.
        """
        if self.effort.is_for_proofs:
            return [Counterexample(memory=memory, groups=(0, 0, 0), arguments={}, actors=())]
        if self.effort.examples == 1:
            return [self.counterexample(model, memory, what)]
        symbols = [symbol for _, _, symbol in self.scalars()]
        sizes = [*(each.value for each in self.a.thread.groups), *symbols]
        small = self._first(([size <= most for size in sizes] for most in _SIZES), formulas)
        models = [small or model]
        threads = self.kernel.size[0] * self.kernel.size[1] * self.kernel.size[2]
        bounds = [each for size in symbols for each in (size >= threads, size <= 8 * threads)]
        groups = [each.value <= _SIZES[-1] for each in self.a.thread.groups]
        large = self._first([[*groups, *bounds]], formulas) if symbols else None
        models += [] if large is None else [large]
        return [self.counterexample(each, memory, what) for each in models]

    def _first(
        self, tries: Iterable[list[Expression]], formulas: Sequence[Expression]
    ) -> Model | None:
        """The first model under further conditions."""
        for further in tries:
            found = self.ask([*formulas, *further], 1.0)
            if found.answer == "yes":
                return found
        return None

    def scalars(self) -> list[tuple[str, tuple[int, str], Any]]:
        """Integers that the kernel reads at places of read-only buffers which are known: name,
        byte offset and type, symbol.
        """
        found = {}
        for load in self.kernel.function.instructions():
            if load.operation is not LOAD or not load.element.startswith("i"):
                continue
            root = load.root
            if not isinstance(root, BufferRoot) or not is_read_only(root, self.kernel.written):
                continue
            at = self.a.read(load.operands[0], self._any_counts(load), "signed").constant
            if at is not None:
                term = self.a.term(load, self._any_counts(load))
                found[root.name, at] = (root.name, (at, load.element), term.value)
        return list(found.values())

    def _any_counts(self, load: Instruction) -> Counts:
        assert load.block is not None
        return self.a.counts_at(load.block, {})

    def counterexample(
        self, model: Model, memory: str, what: Sequence[tuple[Values, str, Instruction]]
    ) -> Counterexample:
        """What a model says, in numbers."""
        return Counterexample(
            memory=memory,
            groups=_numbers(model, self.a.thread.groups),
            arguments={
                (name, at): (element, model.number(symbol))
                for name, (at, element), symbol in self.scalars()
            },
            lengths={name: model.number(length) for name, length in self.lengths.items()},
            actors=tuple(
                Actor(
                    what=words,
                    site=place.site,
                    thread=_numbers(model, values.thread.place),
                    group=_numbers(model, values.thread.group),
                )
                for values, words, place in what
            ),
        )


def _unlike(one: Sequence[Term], other: Sequence[Term]) -> Expression:
    """Whether two positions differ."""
    pairs = zip(one, other, strict=True)
    return one_of(*(mine.value != theirs.value for mine, theirs in pairs))


def _numbers(model: Model, terms: Sequence[Any]) -> tuple[int, int, int]:
    x, y, z = (model.number(term.value) for term in terms)
    return x, y, z
