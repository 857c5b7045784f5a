"""The solver's terms on all threads and iterations at once, as far as numbers decide them.

Other than what is guessed from numbers, what is said here is certain: a term with a symbol that no
numbers are given for is unknown, and so is what does not fit into 64 bits.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, reduce
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.sim.lanes import LANES

from ..terms import Expression
from .evaluate import comparisons

Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]
_LARGEST: Final = 1 << 62


@dataclass(frozen=True, slots=True)
class Truth:
    """Where a condition surely holds, and where it may."""

    surely: Flags
    maybe: Flags

    @property
    def is_decided(self) -> bool:
        """Whether it is known everywhere."""
        return bool((self.surely == self.maybe).all())


_UNKNOWN: Final = Truth(np.asarray(False), np.asarray(True))


class Table:
    """Terms for given numbers of some symbols.

    Args:
        given: numbers of symbols by name; their shapes are broadcast.
    """

    def __init__(self, given: Mapping[str, Numbers]) -> None:
        self._given = given
        self._numbers: dict[int, Numbers | None] = {}
        self._truths: dict[int, Truth] = {}
        self._kept: list[Any] = []

    def number(self, term: Expression) -> Numbers | None:
        """An integer's numbers; None if they are not known."""
        if isinstance(term, int):
            return np.asarray(term) if abs(term) < _LARGEST else None
        key = term.get_id()
        if key not in self._numbers:
            self._kept.append(term)
            self._numbers[key] = self._number(term)
        return self._numbers[key]

    def truth(self, term: Expression) -> Truth:
        """Where a condition holds."""
        if isinstance(term, bool):
            return Truth(np.asarray(term), np.asarray(term))
        key = term.get_id()
        if key not in self._truths:
            self._kept.append(term)
            self._truths[key] = self._truth(term)
        return self._truths[key]

    def _number(self, term: Any) -> Numbers | None:
        import z3

        if z3.is_int_value(term):
            return self.number(term.as_long())
        kind = term.decl().kind()
        if kind == z3.Z3_OP_UNINTERPRETED:
            return self._given.get(term.decl().name()) if term.num_args() == 0 else None
        if kind == z3.Z3_OP_ITE:
            return self._chosen(*term.children())
        parts = [self.number(each) for each in term.children()]
        build = _numbers().get(kind)
        known = [each for each in parts if each is not None]
        return build(known) if build is not None and len(known) == len(parts) else None

    def _chosen(self, condition: Any, yes: Any, no: Any) -> Numbers | None:
        truth = self.truth(condition)
        if not truth.is_decided:
            return None
        if truth.surely.all() or not truth.surely.any():
            return self.number(yes if truth.surely.all() else no)
        first, second = self.number(yes), self.number(no)
        return None if first is None or second is None else np.where(truth.surely, first, second)

    def _truth(self, term: Any) -> Truth:
        import z3

        kind, parts = term.decl().kind(), term.children()
        if kind in (z3.Z3_OP_TRUE, z3.Z3_OP_FALSE):
            return self.truth(kind == z3.Z3_OP_TRUE)
        if kind in (z3.Z3_OP_AND, z3.Z3_OP_OR):
            join = operator.and_ if kind == z3.Z3_OP_AND else operator.or_
            truths = [self.truth(each) for each in parts]
            return Truth(
                reduce(join, (each.surely for each in truths)),
                reduce(join, (each.maybe for each in truths)),
            )
        if kind == z3.Z3_OP_NOT:
            truth = self.truth(parts[0])
            return Truth(~truth.maybe, ~truth.surely)
        compare = comparisons().get(kind)
        if compare is None or len(parts) != 2 or not z3.is_int(parts[0]):
            return _UNKNOWN
        left, right = (self.number(each) for each in parts)
        if left is None or right is None:
            return _UNKNOWN
        found = np.asarray(compare(left, right))
        return Truth(found, found)


@cache
def _numbers() -> dict[int, Callable[[list[Numbers]], Numbers | None]]:
    import z3

    return {
        z3.Z3_OP_ADD: lambda parts: _within(sum(map(_size, parts)), operator.add, parts),
        z3.Z3_OP_SUB: lambda parts: _within(sum(map(_size, parts)), operator.sub, parts),
        z3.Z3_OP_MUL: lambda parts: _within(
            reduce(operator.mul, map(_size, parts)), operator.mul, parts
        ),
        z3.Z3_OP_UMINUS: lambda parts: -parts[0],
        z3.Z3_OP_IDIV: lambda parts: _divided(operator.floordiv, parts),
        z3.Z3_OP_MOD: lambda parts: _divided(operator.mod, parts),
    }


def _size(numbers: Numbers) -> int:
    """The largest number, whatever its sign."""
    return max(abs(int(numbers.max())), abs(int(numbers.min())))


def _within(largest: int, build: Callable[[Any, Any], Any], parts: list[Numbers]) -> Numbers | None:
    return reduce(build, parts) if largest < _LARGEST else None


def _divided(build: Callable[[Any, Any], Any], parts: list[Numbers]) -> Numbers | None:
    """Rounded down, by what is positive: there the solver and numpy agree."""
    left, right = parts
    return np.asarray(build(left, right)) if (right > 0).all() else None


def conjuncts(condition: Expression) -> Iterator[Expression]:
    """What has to hold together for a condition to hold."""
    import z3

    if not isinstance(condition, bool) and z3.is_and(condition):
        for each in condition.children():
            yield from conjuncts(each)
    elif condition is not True:
        yield condition


def threads_numbers(name: str, size: tuple[int, int, int], index: Numbers) -> dict[str, Numbers]:
    """Numbers of the symbols that say where a thread is, by its index in a threadgroup."""
    x, y, _ = size
    return {
        f"{name}.x": index % x,
        f"{name}.y": index // x % y,
        f"{name}.z": index // (x * y),
        f"{name}.lane": index % LANES,
        f"{name}.simdgroup": index // LANES,
    }
