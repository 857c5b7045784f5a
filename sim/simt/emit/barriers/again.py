"""Values that are computed again behind barriers, at each of which they would have to be saved."""

from __future__ import annotations

from ...ir.nodes import Constant, Instruction
from ...ir.operations.conversions import SEXT, TRUNC, ZEXT
from ...ir.operations.integers import ADD, AND, ICMP, LSHR, MUL, OR, SHL, SUB, UDIV, UREM, XOR

_CHEAP = frozenset({ADD, SUB, MUL, AND, OR, XOR, SHL, LSHR, SEXT, ZEXT, TRUNC, ICMP})
_CHEAP_BY_POWERS = frozenset({UDIV, UREM})
_MOST_STEPS = 4


def is_soon_computed(value: Instruction) -> bool:
    """Whether it follows, by constants and a few cheap steps, from one value that costs more."""
    steps, source = 0, value
    while _is_cheap(source):
        steps += 1
        operands = [each for each in source.operands if not isinstance(each, Constant)]
        if len(operands) != 1 or steps > _MOST_STEPS:
            return False
        if not isinstance(operands[0], Instruction):
            break
        source = operands[0]
    return steps > 0


def _is_cheap(instruction: Instruction) -> bool:
    if instruction.operation in _CHEAP:
        return True
    if instruction.operation not in _CHEAP_BY_POWERS:
        return False
    divisor = instruction.operands[1]
    number = divisor.number if isinstance(divisor, Constant) else None
    return number is not None and number > 0 and number & (number - 1) == 0
