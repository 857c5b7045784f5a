"""What a lane gives to a product of matrices: two elements of each, and which of the two it wants.

The operands are the wanted element's number, those of the left and of the right factor, and those
of what is added.
"""

from __future__ import annotations

from ...analysis.linear_form import number_of
from ...ir.nodes import Instruction, Value
from ...ir.operations.conversions import FPEXT
from ...ir.operations.memory import COMPONENT, LOAD


def element_of(product: Instruction) -> int:
    """Which of a lane's two elements a product gives."""
    return number_of(product.operands[0]) or 0


def left_of(product: Instruction) -> list[Value]:
    """The two elements of the left factor."""
    return product.operands[1:3]


def right_of(product: Instruction) -> list[Value]:
    """Those of the right factor."""
    return product.operands[3:5]


def added_to(product: Instruction) -> list[Value]:
    """Those of what the product is added to."""
    return product.operands[5:7]


def loaded(factor: Value) -> tuple[Instruction, int] | None:
    """The load, and the number of its component, that a factor is as a float, if it is one."""
    if isinstance(factor, Instruction) and factor.operation is FPEXT:
        (factor,) = factor.operands
    if not isinstance(factor, Instruction):
        return None
    if factor.operation is COMPONENT:
        load = factor.operands[0]
        return (load, factor.index) if isinstance(load, Instruction) else None
    return (factor, 0) if factor.operation is LOAD else None
