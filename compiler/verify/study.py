"""Two arbitrary threads of a kernel, what is known of both, and models of what they can do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from assay.sim.simt.ir.nodes import BufferRoot, Instruction
from assay.sim.simt.ir.operations.memory import LOAD

from .answers import Actor, Counterexample
from .counts import Counts
from .facts import Facts
from .kernel import Kernel, is_read_only
from .positions import Positions
from .ranges import Ranges
from .solver import Model, solve
from .terms import Expression
from .values import Values

Assumed = Callable[[Values], list[Expression]]
_SIZES = (2, 4, 8, 16, 32, 64, 128, 1024)  # tried in turn for small counterexamples


class Study:
    """Threads `a` and `b` of one threadgroup.

    Args:
        kernel: the kernel.
        assumed: what is assumed of launches, as conditions on a thread's values.
    """

    def __init__(self, kernel: Kernel, assumed: Assumed) -> None:
        self.kernel = kernel
        self.facts = Facts(kernel.function.instructions())
        ranges = Ranges(kernel, assumed)
        self.a, self.b = (
            Values(kernel, Positions(name, kernel.size), self.facts, ranges) for name in "ab"
        )
        x, y = self.a.thread, self.b.thread
        self.always = [*x.facts, *y.facts, *assumed(self.a), *assumed(self.b)]
        self.are_two = x.index.value != y.index.value
        self.cases = 0

    def ask(self, formulas: Iterable[Expression], seconds: float = 4.0) -> Model:
        """Whether the two threads can do what formulas say."""
        self.cases += 1
        return solve([*formulas, *self.always, self.are_two], self.facts, seconds)

    def smallest(self, formulas: Sequence[Expression], model: Model) -> Model:
        """A model with small grids and arguments, if one is found."""
        sizes = [each.value for each in self.a.thread.groups]
        sizes += [symbol for _, _, symbol in self.scalars()]
        for most in _SIZES:
            found = self.ask([*formulas, *(size <= most for size in sizes)], 1.0)
            if found.answer == "yes":
                return found
        return model

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


def _numbers(model: Model, terms: Sequence[Any]) -> tuple[int, int, int]:
    x, y, z = (model.number(term.value) for term in terms)
    return x, y, z
