"""The scalars that linear forms add to a function, constants folded."""

from __future__ import annotations

from ..ir.nodes import Constant, Instruction, Value, integer
from ..ir.operations.control import SELECT
from ..ir.operations.conversions import SEXT, TRUNC, ZEXT
from ..ir.operations.integers import ADD, AND, ASHR, MUL, SUB, UDIV, UREM
from ..ir.operations.operation import Operation
from ..ir.shape import Shape
from .linear_form import number_of
from .uniform_facts import Facts


class Scalars:
    """Makes uniform instructions, to be put before the instruction `anchor`."""

    anchor: Instruction

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.facts = Facts(shape)
        self.added: dict[Instruction, list[Instruction]] = {}

    def _new(self, operation: Operation, type: str, *operands: Value) -> Value:
        folded = _fold(operation, type, operands)
        if folded is not None:
            return folded
        instruction = Instruction(operation, type, list(operands), self.anchor.site)
        instruction.block = self.anchor.block
        self.added.setdefault(self.anchor, []).append(instruction)
        return instruction


_SUMS = frozenset({ADD, SUB, MUL})
_DIVISIONS = frozenset({UDIV, UREM})
_ZERO_FROM_ZERO = frozenset({UDIV, UREM, AND})
_RESIZED = frozenset({TRUNC, SEXT})


def _fold(operation: Operation, type: str, operands: tuple[Value, ...]) -> Value | None:
    numbers = [number_of(o) for o in operands]
    first, second = numbers[0] if numbers else None, numbers[1] if len(numbers) > 1 else None
    if operation in _SUMS:
        return _fold_sum(operation, type, operands, first, second)
    if operation in _DIVISIONS and second == 1:
        return operands[0] if operation is UDIV else integer(type, 0)
    if operation in _ZERO_FROM_ZERO and first == 0:
        return integer(type, 0)
    if operation is ASHR and first is not None and second is not None:
        return integer(type, first >> second)
    if operation in _RESIZED and first is not None:
        return integer(type, first)
    if operation is ZEXT and isinstance(operands[0], Constant) and operands[0].number is not None:
        return integer(type, operands[0].number)
    if operation is SELECT and operands[1] is operands[2]:
        return operands[1]
    return None


def _fold_sum(
    operation: Operation,
    type: str,
    operands: tuple[Value, ...],
    first: int | None,
    second: int | None,
) -> Value | None:
    """A sum, difference or product of what may be known."""
    if first is not None and second is not None:
        result = first * second if operation is MUL else first + second
        return integer(type, first - second if operation is SUB else result)
    if operation is MUL:
        if 0 in (first, second):
            return integer(type, 0)
        if 1 in (first, second):
            return operands[1] if first == 1 else operands[0]
        return None
    if second == 0:
        return operands[0]
    return operands[1] if first == 0 and operation is ADD else None
