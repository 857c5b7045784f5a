"""What is assumed of launches, as people write it: `grid.x <= n and k % 32 == 0`."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from assay.sim.simt.ir.operations import positions as rows
from assay.sim.simt.ir.operations.operation import Operation

from .conditions import both, negation, one_of
from .kernel import Kernel
from .terms import Expression, quotient, signed
from .values import Values

_AXES = "xyz"
_POSITIONS: tuple[Operation, ...] = (
    rows.THREAD_POSITION_IN_GRID,
    rows.THREADGROUP_POSITION_IN_GRID,
    rows.THREADS_PER_GRID,
    rows.THREADGROUPS_PER_GRID,
)
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
_MOST_SCALARS = 4  # of which extra assumptions are tried
_MULTIPLES = (8, 16, 32, 64)


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
    """

    def __init__(
        self, scalars: Mapping[str, Scalar], arrays: Mapping[str, Scalar] | None = None
    ) -> None:
        self.scalars = scalars
        self.arrays = arrays or {}

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
        reader.condition() if condition else reader.number()

    def condition(self, text: str, values: Values) -> Expression:
        """A condition in terms of a thread's values."""
        return _Reader(text, lambda name: self._term(name, values)).condition()

    def number(self, text: str, values: Values) -> Expression:
        """A number in terms of a thread's values."""
        return _Reader(text, lambda name: self._term(name, values)).number()

    def _stand_in(self, name: str) -> Expression | None:
        thing, _, axis = name.partition(".")
        is_size = thing in ("grid", "groups") and axis in _AXES and len(axis) == 1
        return 1 if is_size or self.scalar(name) is not None else None

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
    """Reads one expression in Python's notation."""

    def __init__(self, text: str, find: Callable[[str], Expression | None]) -> None:
        self._text = text
        self._find = find
        try:
            self._tree = ast.parse(text.strip(), mode="eval").body
        except SyntaxError:
            raise self._error("expected an expression such as grid.x <= n") from None

    def _error(self, what: str) -> AssumptionError:
        return AssumptionError(f"'{self._text}': {what}")

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
        raise self._error("expected a comparison, such as grid.x <= n")

    def _compared(self, op: ast.cmpop, left: Expression, right: Expression) -> Expression:
        if type(op) not in _ORDERS:
            raise self._error("it compares in a way that is not known")
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
                    raise self._error("it may divide by positive numbers only")
                return _NUMBERS[type(op)](self._number(left), by)
            case ast.Name() | ast.Attribute() | ast.Subscript():
                name = ast.unparse(tree)
                found = self._find(name)
                if found is None:
                    raise self._error(f"there is no integer argument '{name}'")
                return found
        raise self._error(f"'{ast.unparse(tree)}' is not understood")


def unused_axes(kernel: Kernel) -> list[int]:
    """Dimensions of the grid that a kernel asks nothing about, in which it has one thread."""
    used = {
        _dimension(each)
        for each in kernel.function.instructions()
        if each.operation in _POSITIONS and each.operands
    }
    return [at for at, size in enumerate(kernel.size) if size == 1 and at not in used]


def _dimension(position: Any) -> int | None:
    """Which dimension a position is asked of."""
    number = getattr(position.operands[0], "number", None)
    return number if isinstance(number, int) else None


def candidates(kernel: Kernel, names: Names) -> Iterator[str]:
    """Extra assumptions that hosts often see to, the weaker ones first."""
    scalars = [name for name in names.scalars if "." not in name][:_MOST_SCALARS]
    unused = unused_axes(kernel)
    axes = [axis for at, axis in enumerate(_AXES) if at not in unused]
    extents = [[f"grid.{axis} <= {name}" for name in scalars] for axis in axes]
    singles = [text for each in extents for text in each]
    yield from singles
    yield from (f"{name} % {by} == 0" for name in scalars for by in _MULTIPLES)
    for one, other in itertools.combinations(extents, 2):
        yield from (f"{left} and {right}" for left in one for right in other)
    yield from (f"groups.{axis} == 1" for axis in axes)
    yield from (
        f"{one} and groups.{axis} == 1"
        for one in singles
        for axis in axes
        if not one.startswith(f"grid.{axis}")
    )
    if len(axes) > 1:
        yield " and ".join(f"groups.{axis} == 1" for axis in axes)
