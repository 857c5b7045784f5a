"""The scalars that linear forms add to a function, constants folded."""

from __future__ import annotations

from ..ir.nodes import Constant, Instruction, Value, integer
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

    def _new(self, op: str, type: str, *operands: Value) -> Value:
        folded = _fold(op, type, operands)
        if folded is not None:
            return folded
        instruction = Instruction(op, type, list(operands), self.anchor.site)
        instruction.block = self.anchor.block
        self.added.setdefault(self.anchor, []).append(instruction)
        return instruction

    def _intrinsic(self, name: str, *operands: Value) -> Value:
        value = self._new("intrinsic", "i32", *operands)
        assert isinstance(value, Instruction)
        value.callee = name
        return value


def _fold(op: str, type: str, operands: tuple[Value, ...]) -> Value | None:
    numbers = [number_of(o) for o in operands]
    first, second = numbers[0] if numbers else None, numbers[1] if len(numbers) > 1 else None
    if op in ("add", "sub", "mul"):
        if first is not None and second is not None:
            result = {"add": first + second, "sub": first - second, "mul": first * second}[op]
            return integer(type, result)
        if second == 0 and op in ("add", "sub"):
            return operands[0]
        if first == 0 and op == "add":
            return operands[1]
        if op == "mul" and 0 in (first, second):
            return integer(type, 0)
        if op == "mul" and 1 in (first, second):
            return operands[1] if first == 1 else operands[0]
    elif op in ("udiv", "urem") and second == 1:
        return operands[0] if op == "udiv" else integer(type, 0)
    elif op in ("udiv", "urem", "and") and first == 0:
        return integer(type, 0)
    elif op == "ashr" and first is not None and second is not None:
        return integer(type, first >> second)
    elif op in ("trunc", "sext") and first is not None:
        return integer(type, first)
    elif op == "zext" and isinstance(operands[0], Constant) and operands[0].number is not None:
        return integer(type, operands[0].number)
    elif op == "select" and operands[1] is operands[2]:
        return operands[1]
    return None
