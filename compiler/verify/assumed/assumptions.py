"""What is assumed of launches, as people write it: `grid.x <= n and k % 32 == 0`.

Parts of it may be about all numbers of a buffer, `0 <= x[*] and distinct(x)`.
"""

from __future__ import annotations

import ast
import functools
import itertools
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeGuard

from ..conditions import both, negation, one_of
from ..kernel import Kernel
from ..terms import Expression, quotient, signed
from ..values import Values
from .contents import Contents, Distinct, Elements, Find

_AXES = "xyz"
_SIZES = frozenset(f"{thing}.{axis}" for thing in ("grid", "groups") for axis in _AXES)
_NUMBERS: dict[type[ast.operator], Callable[[Any, Any], Expression]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: quotient,
    ast.Mod: lambda a, b: a % b,
}
_ORDERS: dict[type[ast.cmpop], Callable[[Any, Any], Expression]] = {
    ast.Eq: lambda a, b: a == b,
    ast.NotEq: lambda a, b: a != b,
    ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b,
    ast.Gt: lambda a, b: a > b,
    ast.GtE: lambda a, b: a >= b,
}
_EACH = "[...]"  # what Python reads in the place of `[*]`


class AssumptionError(ValueError):
    """An assumption that is not understood; `str()` says what of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scalar:
    """An integer that a kernel is given: where it lies behind which parameter, and its type.

    Attributes:
        name: as assumptions call it, `n` or `args.n`.
        argument: the argument's name.
        offset: bytes from the begin of what the argument refers to.
    """

    name: str
    argument: str
    parameter: int
    width: int
    is_signed: bool
    offset: int = 0


class Names:
    """What expressions may name: integer arguments, members of structs, `shape[0]` of an array,
    `grid.x` in threads, `groups.x`.

    Args:
        scalars: integers by name.
        arrays: arrays of integers by name; each is told by its first element.
        buffers: the same of those whose elements may be spoken of, `x[*]` and `distinct(x)`.
    """

    def __init__(
        self,
        scalars: Mapping[str, Scalar],
        arrays: Mapping[str, Scalar] | None = None,
        buffers: Mapping[str, Scalar] | None = None,
    ) -> None:
        self.scalars = scalars
        self.arrays = arrays or {}
        self.buffers = buffers or {}

    def scalar(self, name: str) -> Scalar | None:
        """The integer of a name; None if there is none."""
        array, bracket, index = name.removesuffix("]").partition("[")
        if not bracket or name in self.scalars:
            return self.scalars.get(name)
        first = self.arrays.get(array)
        if first is None or not index.isdecimal():
            return None
        return replace(first, name=name, offset=first.offset + first.width // 8 * int(index))

    def check(self, text: str, *, condition: bool) -> None:
        """Refuse what is not understood. Raises AssumptionError."""
        reader = _Reader(text, self._stand_in)
        if not condition:
            reader.number()
            return
        self.contents((text,))
        for part in reader.parts():
            part.finding(self._stand_in_for(part.each())).condition()

    def condition(self, text: str, values: Values) -> Expression:
        """A condition in terms of a thread's values, but for what it says of numbers in buffers."""
        parts = _Reader(text, lambda name: self._term(name, values)).parts()
        return both(*(part.condition() for part in parts if not part.each()))

    def holds(self, text: str, find: Callable[[str], int | None]) -> bool:
        """Whether a condition holds of a run's numbers, but for what it says of those in buffers.

        Raises AssumptionError if one has no number.
        """
        parts = _Reader(text, find).parts()
        return all(part.condition() for part in parts if not part.each())

    def length(self, text: str, find: Callable[[str], int | None]) -> int:
        """What a number is in a run. Raises AssumptionError if it has none."""
        return int(_Reader(text, find).number())

    def contents(
        self, texts: Collection[str], lengths: Mapping[str, str] | None = None
    ) -> Contents:
        """What conditions say of numbers in buffers, of which some lengths in bytes are stated.

        Raises AssumptionError.
        """
        readers = [_Reader(text, self._stand_in) for text in texts]
        parts = [part for reader in readers for part in reader.parts() if part.each()]
        keys = [(reader, key) for reader in readers for key in reader.distinct()]
        return Contents(
            self._term,
            tuple(map(self._elements, parts)),
            tuple(
                Distinct(tuple(self._buffer(name, reader) for name in key)) for reader, key in keys
            ),
            self._lengths(lengths or {}),
            self._named((*texts, *(lengths or {}).values())),
        )

    def _named(self, texts: Iterable[str]) -> tuple[Scalar, ...]:
        """The elements of arrays that expressions name, each once."""
        readers = [_Reader(text, self._stand_in) for text in texts]
        names = (name for reader in readers for name in reader.names() if _EACH not in name)
        found = (self.scalar(name) for name in names if name not in self.scalars)
        known = (each for each in found if each is not None)
        return tuple({(each.parameter, each.offset): each for each in known}.values())

    def _elements(self, part: _Reader) -> Elements:
        names = part.each()
        if len(names) > 1:
            raise part.error("it may speak of the numbers of one buffer at a time")
        (name,) = names

        def holds(find: Find, number: Expression) -> Expression:
            each = f"{name}{_EACH}"
            return part.finding(lambda other: number if other == each else find(other)).condition()

        return Elements(self._buffer(name, part), holds, part.modulus())

    def _buffer(self, name: str, reader: _Reader) -> Scalar:
        if name not in self.buffers:
            raise reader.error(f"there is no buffer '{name}' of integers")
        return self.buffers[name]

    def _lengths(self, lengths: Mapping[str, str]) -> dict[int, Callable[[Values], Expression]]:
        known = [
            (self.buffers[name], text) for name, text in lengths.items() if name in self.buffers
        ]
        return {each.parameter: functools.partial(self.number, text) for each, text in known}

    def _stand_in_for(self, each: Collection[str]) -> Find:
        names = {f"{name}{_EACH}" for name in each}
        return lambda name: 1 if name in names else self._stand_in(name)

    def number(self, text: str, values: Values) -> Expression:
        """A number in terms of a thread's values."""
        return _Reader(text, lambda name: self._term(name, values)).number()

    def _stand_in(self, name: str) -> Expression | None:
        is_size, is_argument = name in _SIZES, self.scalar(name) is not None
        if is_size and is_argument:
            raise AssumptionError(f"'{name}' may mean the grid, or an argument of that name")
        return 1 if is_size or is_argument else None

    def _term(self, name: str, values: Values) -> Expression | None:
        if self._stand_in(name) is None:
            return None
        scalar = self.scalar(name)
        if scalar is not None:
            term = values.argument(scalar.argument, scalar.parameter, scalar.width, scalar.offset)
            return signed(term, scalar.width).value if scalar.is_signed else term.value
        thing, _, axis = name.partition(".")
        dimension = _AXES.index(axis)
        if thing == "grid":
            return values.thread.threads_of_grid(dimension).value
        return values.thread.groups[dimension].value


class _Reader:
    """Reads one expression in Python's notation, or a part of it."""

    def __init__(self, text: str, find: Find, tree: ast.expr | None = None) -> None:
        self._text = text
        self._find = find
        try:
            whole = ast.parse(text.strip().replace("[*]", _EACH), mode="eval").body
        except SyntaxError:
            raise self.error("expected an expression such as grid.x <= n, or 4 * n") from None
        self._tree = whole if tree is None else tree

    def error(self, what: str) -> AssumptionError:
        return AssumptionError(f"'{self._text}': {what.replace(_EACH, '[*]')}")

    def finding(self, find: Find) -> _Reader:
        """The same with other numbers for names."""
        return _Reader(self._text, find, self._tree)

    def parts(self) -> list[_Reader]:
        """The conditions that have to hold together, but for those of `distinct`."""
        parts = _joined(self._tree)
        return [_Reader(self._text, self._find, each) for each in parts if not _is_distinct(each)]

    def distinct(self) -> list[tuple[str, ...]]:
        """The names that each `distinct` is about."""
        return [
            tuple(ast.unparse(name) for name in each.args)
            for each in _joined(self._tree)
            if _is_distinct(each)
        ]

    def each(self) -> list[str]:
        """The buffers of whose numbers a part speaks."""
        names = [
            ast.unparse(each.value)
            for each in ast.walk(self._tree)
            if isinstance(each, ast.Subscript) and ast.unparse(each).endswith(_EACH)
        ]
        return sorted(set(names))

    def names(self) -> list[str]:
        """The elements of arrays that are named: `x[0]`."""
        return [
            ast.unparse(each) for each in ast.walk(self._tree) if isinstance(each, ast.Subscript)
        ]

    def modulus(self) -> int:
        """By what all numbers of a buffer leave the same rest, where a part says just that."""
        match self._tree:
            case ast.Compare(
                left=ast.BinOp(
                    left=ast.Subscript(), op=ast.Mod(), right=ast.Constant(value=int() as by)
                ),
                ops=[ast.Eq()],
                comparators=[right],
            ) if _EACH not in ast.unparse(right):
                return by
        return 1

    def condition(self) -> Expression:
        return self._condition(self._tree)

    def number(self) -> Expression:
        return self._number(self._tree)

    def _condition(self, tree: ast.expr) -> Expression:
        match tree:
            case ast.BoolOp(op=op, values=values):
                join = both if isinstance(op, ast.And) else one_of
                return join(*(self._condition(each) for each in values))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return negation(self._condition(operand))
            case ast.Compare(left=left, ops=ops, comparators=rest):
                numbers = [self._number(each) for each in (left, *rest)]
                pairs = zip(ops, itertools.pairwise(numbers), strict=True)
                return both(*(self._compared(op, a, b) for op, (a, b) in pairs))
        raise self.error("expected a comparison, such as grid.x <= n")

    def _compared(self, op: ast.cmpop, left: Expression, right: Expression) -> Expression:
        if type(op) not in _ORDERS:
            raise self.error("it compares in a way that is not known")
        return _ORDERS[type(op)](left, right)

    def _number(self, tree: ast.expr) -> Expression:
        match tree:
            case ast.Constant(value=int() as value) if not isinstance(value, bool):
                return value
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self._number(operand)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _NUMBERS:
                by = self._number(right)
                if isinstance(op, ast.FloorDiv | ast.Mod) and not (
                    isinstance(right, ast.Constant) and isinstance(by, int) and by > 0
                ):
                    raise self.error("it may divide by positive numbers only")
                return _NUMBERS[type(op)](self._number(left), by)
            case ast.Name() | ast.Attribute() | ast.Subscript():
                name = ast.unparse(tree)
                found = self._find(name)
                if found is None:
                    raise self.error(f"there is no integer argument '{name}'")
                return found
        raise self.error(f"'{ast.unparse(tree)}' is not understood")


def _joined(tree: ast.expr) -> list[ast.expr]:
    """The parts of a condition that have to hold together."""
    if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And):
        return [part for each in tree.values for part in _joined(each)]
    return [tree]


def _is_distinct(tree: ast.expr) -> TypeGuard[ast.Call]:
    """Whether a part says that numbers of buffers are different."""
    is_call = isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name)
    return is_call and tree.func.id == "distinct" and bool(tree.args) and not tree.keywords  # type: ignore[attr-defined]


def unused_axes(kernel: Kernel) -> list[int]:
    """Dimensions of the grid that a kernel asks nothing about, in which it has one thread."""
    return [at for at, size in enumerate(kernel.size) if size == 1 and at not in kernel.asked]
