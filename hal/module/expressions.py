"""Expressions: what the host computes of shapes, on whole numbers of 64 bits.

The code is in postfix order: a word that says what to do, with its operands behind it. There are
no loops: an expression takes as many steps as it is long. A result, or anything on the way, that
does not fit 64 bits ends the evaluation with an error, as does a division by 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final

from ..status import StatusError, invalid_argument, out_of_range

MOST_WORDS: Final = 512
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1


class Op(IntEnum):
    """What a word asks for; operands in words behind it, arguments taken from the stack."""

    CONST = 0
    """One operand: the number."""
    SYMBOL = 1
    """One operand: the symbol, whose size it gives."""
    DIM = 2
    """Two operands: tensor and axis; the size that the tensor has there now."""
    VALUE = 3
    """Two operands: tensor and element in row-major order, as `Read` saw it last."""
    ADD = 4
    SUB = 5
    MUL = 6
    FLOORDIV = 7
    """Rounded down; `CEILDIV` rounds up."""
    CEILDIV = 8
    MOD = 9
    """What `FLOORDIV` leaves; of the divisor's sign."""
    MIN = 10
    MAX = 11
    EQ = 12
    """1 or 0, as `LT` (less) and `LE` (less or equal) give."""
    LT = 13
    LE = 14
    SELECT = 15
    """Of three: the second if the first is not 0, else the third."""


OPERANDS: Final[Mapping[Op, int]] = {Op.CONST: 1, Op.SYMBOL: 1, Op.DIM: 2, Op.VALUE: 2}
_TWO: Final[Mapping[Op, Callable[[int, int], int]]] = {
    Op.ADD: lambda a, b: a + b,
    Op.SUB: lambda a, b: a - b,
    Op.MUL: lambda a, b: a * b,
    Op.FLOORDIV: lambda a, b: a // b,
    Op.CEILDIV: lambda a, b: -(-a // b),
    Op.MOD: lambda a, b: a % b,
    Op.MIN: min,
    Op.MAX: max,
    Op.EQ: lambda a, b: int(a == b),
    Op.LT: lambda a, b: int(a < b),
    Op.LE: lambda a, b: int(a <= b),
}
_DIVISIONS: Final = (Op.FLOORDIV, Op.CEILDIV, Op.MOD)


def two(op: Op, a: int, b: int) -> int:
    """The result of an operation on two numbers. Raises StatusError."""
    if b == 0 and op in _DIVISIONS:
        raise out_of_range(f"{op.name} of {a} by 0")
    return fits(_TWO[op](a, b))


def fits(value: int) -> int:
    """A number, if it fits 64 bits. Raises StatusError."""
    if not _LEAST <= value <= _MOST:
        raise out_of_range("a size does not fit 64 bits")
    return value


@dataclass(slots=True)
class Values:
    """What expressions are of: sizes of symbols, shapes of tensors, elements that were read."""

    symbols: list[int | None] = field(default_factory=list)
    shapes: list[tuple[int, ...] | None] = field(default_factory=list)
    elements: dict[int, tuple[int, ...]] = field(default_factory=dict)

    def symbol(self, number: int) -> int:
        """The size of a symbol. Raises StatusError."""
        size = self.symbols[number]
        if size is None:
            raise StatusError("FAILED_PRECONDITION", f"symbol {number} has no size yet")
        return size

    def dim(self, tensor: int, axis: int) -> int:
        """A size of a tensor. Raises StatusError."""
        shape = self.shapes[tensor]
        if shape is None:
            raise StatusError("FAILED_PRECONDITION", f"tensor {tensor} has no shape yet")
        return shape[axis]

    def value(self, tensor: int, element: int) -> int:
        """An element that was read. Raises StatusError."""
        elements = self.elements.get(tensor)
        if elements is None or element >= len(elements):
            raise StatusError(
                "FAILED_PRECONDITION", f"element {element} of tensor {tensor} was not read"
            )
        return elements[element]


def evaluate(code: Sequence[int], values: Values) -> int:
    """The number that a checked expression gives. Raises StatusError."""
    if len(code) == 2 and code[0] == Op.CONST:
        return code[1]
    stack: list[int] = []
    words = iter(code)
    for word in words:
        op = Op(word)
        if op is Op.CONST:
            stack.append(next(words))
        elif op is Op.SYMBOL:
            stack.append(values.symbol(next(words)))
        elif op is Op.DIM:
            stack.append(values.dim(next(words), next(words)))
        elif op is Op.VALUE:
            stack.append(values.value(next(words), next(words)))
        elif op is Op.SELECT:
            other, one, chosen = stack.pop(), stack.pop(), stack.pop()
            stack.append(one if chosen else other)
        else:
            b, a = stack.pop(), stack.pop()
            stack.append(two(op, a, b))
    return stack[0]


@dataclass(frozen=True, slots=True)
class Reference:
    """Something that an expression is of: the numbers behind SYMBOL, DIM or VALUE."""

    op: Op
    number: int
    part: int = 0


def check(code: Sequence[int]) -> tuple[Reference, ...]:
    """What an expression refers to. Raises StatusError unless it gives exactly one number."""
    if len(code) > MOST_WORDS:
        raise invalid_argument(f"{len(code)} words; {MOST_WORDS} are possible")
    references: list[Reference] = []
    depth, at = 0, 0
    while at < len(code):
        if not 0 <= code[at] < len(Op):
            raise invalid_argument(f"word {at} is {code[at]}, which is no operation")
        op = Op(code[at])
        operands = code[at + 1 : at + 1 + OPERANDS.get(op, 0)]
        if len(operands) < OPERANDS.get(op, 0):
            raise invalid_argument(f"it ends inside of {op.name} at word {at}")
        taken = 0 if operands else 3 if op is Op.SELECT else 2
        if depth < taken:
            raise invalid_argument(f"{op.name} at word {at} finds {depth} of {taken} numbers")
        depth += 1 - taken
        if operands and op is not Op.CONST:
            references.append(Reference(op, *operands))
        at += 1 + len(operands)
    if depth != 1:
        raise invalid_argument(f"it leaves {depth} numbers")
    return tuple(references)


def constant(code: Sequence[int]) -> int | None:
    """The number, if an expression is one."""
    return code[1] if len(code) == 2 and code[0] == Op.CONST else None


def text(code: Sequence[int]) -> str:
    """A checked expression for people: `(s0 * 2 + dim(t3, 0))`."""
    stack: list[str] = []
    words = iter(code)
    for word in words:
        op = Op(word)
        if op is Op.CONST:
            stack.append(str(next(words)))
        elif op is Op.SYMBOL:
            stack.append(f"s{next(words)}")
        elif op in (Op.DIM, Op.VALUE):
            stack.append(f"{op.name.lower()}(t{next(words)}, {next(words)})")
        elif op is Op.SELECT:
            other, one, chosen = stack.pop(), stack.pop(), stack.pop()
            stack.append(f"select({chosen}, {one}, {other})")
        else:
            b, a = stack.pop(), stack.pop()
            sign = _SIGNS.get(op)
            stack.append(f"({a} {sign} {b})" if sign else f"{op.name.lower()}({a}, {b})")
    return stack[0]


_SIGNS: Final = {
    Op.ADD: "+",
    Op.SUB: "-",
    Op.MUL: "*",
    Op.FLOORDIV: "//",
    Op.MOD: "%",
    Op.EQ: "==",
    Op.LT: "<",
    Op.LE: "<=",
}
