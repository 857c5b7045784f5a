"""Sizes that need not be numbers: named dimensions, elements of tensors, and what follows of them.

A size is an `int` where it is known, else a `Formula`; `int` arithmetic is done at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

Operation = Literal["add", "sub", "mul", "floordiv", "ceildiv", "mod", "min", "max", "lt"]
_ON_NUMBERS: Final[Mapping[Operation, Callable[[int, int], int]]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "floordiv": lambda a, b: a // b,
    "ceildiv": lambda a, b: -(-a // b),
    "mod": lambda a, b: a % b,
    "min": min,
    "max": max,
    "lt": lambda a, b: int(a < b),
}
_SIGNS: Final = {"add": "+", "sub": "-", "mul": "*", "floordiv": "//", "mod": "%", "lt": "<"}


@dataclass(frozen=True, slots=True)
class Named:
    """A named dimension."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Element:
    """An element of a tensor of whole numbers, known once the tensor is computed."""

    tensor: str
    index: int

    def __str__(self) -> str:
        return f"{self.tensor}[{self.index}]"


@dataclass(frozen=True, slots=True)
class Formula:
    """An operation on two sizes."""

    operation: Operation
    a: Dim
    b: Dim

    def __str__(self) -> str:
        sign = _SIGNS.get(self.operation)
        if sign is None:
            return f"{self.operation}({self.a}, {self.b})"
        return f"({self.a} {sign} {self.b})"


Dim = int | Named | Element | Formula
Dims = tuple[Dim, ...]


def combined(operation: Operation, a: Dim, b: Dim) -> Dim:
    """The result of an operation, as simple as it is plain to see. Raises ZeroDivisionError."""
    if isinstance(a, int) and isinstance(b, int):
        return _ON_NUMBERS[operation](a, b)
    if operation == "sub" and isinstance(b, int):
        operation, b = "add", -b
    if operation in ("add", "mul") and isinstance(a, int):
        a, b = b, a
    if operation == "add" and b == 0:
        return a
    if (
        operation == "add"
        and isinstance(b, int)
        and isinstance(a, Formula)
        and a.operation == "add"
        and isinstance(a.b, int)
    ):
        return combined("add", a.a, a.b + b)
    if operation == "mul" and b in (0, 1):
        return a if b == 1 else 0
    if operation in ("sub", "mod") and a == b:
        return 0
    if operation in ("floordiv", "ceildiv"):
        found = _divided(a, b)
        if found is not None:
            return found
    if operation in ("min", "max") and a == b:
        return a
    return Formula(operation, a, b)


def _divided(a: Dim, b: Dim) -> Dim | None:
    """What is left of a product when one of its factors is taken away."""
    if b == 1:
        return a
    if a == b:
        return 1
    if isinstance(b, Formula) and b.operation == "mul":
        rest = _divided(a, b.a)
        return None if rest is None else _divided(rest, b.b)
    if isinstance(a, Formula) and a.operation == "mul":
        for one, other in ((a.a, a.b), (a.b, a.a)):
            if one == b:
                return other
            if isinstance(one, int) and isinstance(b, int) and b and one % b == 0:
                return combined("mul", one // b, other)
            left = _divided(one, b)
            if left is not None:
                return combined("mul", left, other)
    return None


def product(dims: Dims) -> Dim:
    """All sizes multiplied; numbers come first, so that equal products look equal."""
    number = 1
    others: list[Dim] = []
    for dim in dims:
        if isinstance(dim, int):
            number *= dim
        else:
            others.append(dim)
    total: Dim = number
    for dim in sorted(others, key=str):
        total = combined("mul", total, dim)
    return total


def is_known(dims: Dims) -> bool:
    """Whether all sizes are numbers."""
    return all(isinstance(dim, int) for dim in dims)


def parts(dim: Dim) -> Iterator[Named | Element]:
    """The names and elements that a size is of."""
    if isinstance(dim, Formula):
        yield from parts(dim.a)
        yield from parts(dim.b)
    elif not isinstance(dim, int):
        yield dim


Range = tuple[int | None, int | None]
"""The least and the greatest that a size can be; None where there is none."""


def greatest(dim: Dim, names: Mapping[str, Range]) -> int | None:
    """The largest number a size can be, if that follows from what names can be."""
    return range_of(dim, names)[1]


def range_of(dim: Dim, names: Mapping[str, Range]) -> Range:
    """What a size can be, from what names can be."""
    if isinstance(dim, int):
        return dim, dim
    if isinstance(dim, Named):
        return names.get(dim.name, (None, None))
    if isinstance(dim, Element):
        return None, None
    a, b = range_of(dim.a, names), range_of(dim.b, names)
    if dim.operation == "add":
        return _sum(a[0], b[0]), _sum(a[1], b[1])
    if dim.operation == "sub":
        return _sum(a[0], _negative(b[1])), _sum(a[1], _negative(b[0]))
    if dim.operation in ("min", "max"):
        return _extreme(dim.operation, a, b)
    if dim.operation == "lt":
        return 0, 1
    if dim.operation == "mul":
        return _multiplied(a, b)
    return _divided_range(dim.operation, a, b)


def _sum(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b


def _negative(a: int | None) -> int | None:
    return None if a is None else -a


def _extreme(operation: Operation, a: Range, b: Range) -> Range:
    ends: list[int | None] = []
    for end, open_end in ((0, "max"), (1, "min")):
        known = [each[end] for each in (a, b) if each[end] is not None]
        numbers = [each for each in known if each is not None]
        both = len(numbers) == 2
        # The least of two is at most either one: one bound is then enough, as for the greatest.
        enough = both or (numbers and operation == open_end)
        ends.append((min if operation == "min" else max)(numbers) if enough else None)
    return ends[0], ends[1]


def _multiplied(a: Range, b: Range) -> Range:
    (low_a, high_a), (low_b, high_b) = a, b
    if low_a is None or low_b is None:
        return None, None
    if high_a is None or high_b is None:
        return (low_a * low_b, None) if low_a >= 0 and low_b >= 0 else (None, None)
    corners = [x * y for x in (low_a, high_a) for y in (low_b, high_b)]
    return min(corners), max(corners)


def _divided_range(operation: Operation, a: Range, b: Range) -> Range:
    """Of divisors that are 1 or more; of others nothing is known."""
    if b[0] is None or b[0] < 1:
        return None, None
    if operation == "mod":
        return 0, None if b[1] is None else b[1] - 1
    apply = _ON_NUMBERS[operation]
    if b[0] == b[1]:
        low, high = (None if end is None else apply(end, b[0]) for end in a)
        return low, high
    return (0, a[1]) if a[0] is not None and a[0] >= 0 else (None, None)


def text(dims: Dims) -> str:
    """`1x3xrows`; `scalar` for none."""
    return "x".join(map(str, dims)) or "scalar"
