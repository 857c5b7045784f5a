"""Sizes that are known when a module runs: numbers for Python code that computes with them.

What is computed becomes a formula. Where code asks whether one size is less than another, or equal
to it, the answer is that for one choice of sizes, and becomes a condition that others must meet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, NoReturn

from assay.compiler.foundry.errors import FoundryError
from assay.compiler.graph.symbolic.dims import (
    Dim,
    Formula,
    Named,
    Operation,
    Range,
    combined,
    range_of,
)
from assay.compiler.graph.symbolic.shape_sets import Bounds

_USUAL: Final = 64
"""What a size without bounds is while conditions are answered, if it may be that."""


@dataclass
class Conditions:
    """What must hold of sizes, which are those that `bounds` names."""

    bounds: Mapping[str, Bounds]
    found: dict[Dim, str] = field(default_factory=dict)
    """Formulas that must not be 0, each with a message."""

    def size(self, name: str) -> Size:
        """A named size."""
        bounds = self.bounds[name]
        steps = bounds.multiple_of
        most = bounds.maximum or max(_USUAL, bounds.minimum)
        return Size(Named(name), max(most // steps, 1) * steps, self)

    def require(self, condition: Dim, message: str) -> None:
        """A formula that must not be 0, unless its sizes' bounds say so already."""
        if not self._holds(condition):
            self.found.setdefault(condition, message)

    def _holds(self, condition: Dim) -> bool:
        """Whether a formula cannot be 0."""
        if isinstance(condition, Formula) and condition.operation == "lt":
            (_, most), (least, _) = self._range(condition.a), self._range(condition.b)
            return most is not None and least is not None and most < least
        least = self._range(condition)[0]
        return least is not None and least >= 1

    def _range(self, dim: Dim) -> Range:
        ranges = {name: (each.minimum, each.maximum or None) for name, each in self.bounds.items()}
        return range_of(dim, ranges)


class Size:
    """A size as a formula, and what it is for the choice that answers conditions."""

    __slots__ = ("_conditions", "dim", "number")

    def __init__(self, dim: Dim, number: int, conditions: Conditions) -> None:
        self.dim, self.number, self._conditions = dim, number, conditions

    def __add__(self, other: int | Size) -> int | Size:
        return self._with("add", other, lambda a, b: a + b)

    __radd__ = __add__

    def __mul__(self, other: int | Size) -> int | Size:
        return self._with("mul", other, lambda a, b: a * b)

    __rmul__ = __mul__

    def __sub__(self, other: int | Size) -> int | Size:
        return self._with("sub", other, lambda a, b: a - b)

    def __rsub__(self, other: int) -> int | Size:
        return self._of(other)._with("sub", self, lambda a, b: a - b)

    def __floordiv__(self, other: int | Size) -> int | Size:
        negated = self._negated()
        if negated is not None:  # Rounded up, that is, which is what -(-a // b) says.
            return -negated._with("ceildiv", other, lambda a, b: -(-a // b))
        return self._with("floordiv", other, lambda a, b: a // b)

    def __rfloordiv__(self, other: int) -> int | Size:
        return self._of(other)._with("floordiv", self, lambda a, b: a // b)

    def __mod__(self, other: int | Size) -> int | Size:
        return self._with("mod", other, lambda a, b: a % b)

    def __rmod__(self, other: int) -> int | Size:
        return self._of(other)._with("mod", self, lambda a, b: a % b)

    def __neg__(self) -> int | Size:
        negated = self._negated()
        return 0 - self if negated is None else negated

    def _negated(self) -> Size | None:
        """What this is 0 minus of."""
        dim = self.dim
        if isinstance(dim, Formula) and dim.operation == "sub" and dim.a == 0:
            return Size(dim.b, -self.number, self._conditions)
        return None

    def __lt__(self, other: int | Size) -> bool:
        return self._answer(self._less(self, other), self.number < _number(other), "<", other)

    def __gt__(self, other: int | Size) -> bool:
        return self._answer(self._less(other, self), self.number > _number(other), ">", other)

    def __le__(self, other: int | Size) -> bool:
        return not self > other

    def __ge__(self, other: int | Size) -> bool:
        return not self < other

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, int | Size):
            return False
        if self.dim == _dim(other):
            return True
        differs = combined("add", self._less(self, other), self._less(other, self))
        return not self._answer(differs, self.number != _number(other), "!=", other)

    def __hash__(self) -> int:
        return hash(self.dim)

    def __bool__(self) -> bool:
        return self != 0

    def _refused(self) -> NoReturn:
        raise FoundryError(
            "module-size",
            f"{self.dim} is used as a number while the module is built, and is known only when it "
            "runs; give that size as a number",
        )

    def __index__(self) -> int:
        self._refused()

    def __int__(self) -> int:
        self._refused()

    def __float__(self) -> float:
        self._refused()

    def __truediv__(self, other: object) -> float:
        self._refused()

    __rtruediv__ = __truediv__

    def __repr__(self) -> str:
        return str(self.dim)

    def _of(self, number: int) -> Size:
        return Size(number, number, self._conditions)

    def _with(
        self, operation: Operation, other: int | Size, on_numbers: Callable[[int, int], int]
    ) -> int | Size:
        if not isinstance(other, int | Size):
            return NotImplemented
        made = combined(operation, self.dim, _dim(other))
        if isinstance(made, int):
            return made
        return Size(made, on_numbers(self.number, _number(other)), self._conditions)

    @staticmethod
    def _less(a: int | Size, b: int | Size) -> Dim:
        return combined("lt", _dim(a), _dim(b))

    def _answer(self, condition: Dim, is_so: bool, sign: str, other: int | Size) -> bool:
        """What holds for the choice of sizes, which must hold for all."""
        opposite = {"<": ">=", ">": "<=", "!=": "=="}[sign]
        message = f"{self.dim} {sign if is_so else opposite} {_dim(other)}"
        wanted = condition if is_so else combined("sub", 1, condition)
        self._conditions.require(wanted, f"the module was built for sizes with {message}")
        return is_so


def _dim(size: int | Size) -> Dim:
    return size.dim if isinstance(size, Size) else size


def _number(size: int | Size) -> int:
    return size.number if isinstance(size, Size) else size
