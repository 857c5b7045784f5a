"""Counts of shifts: the engines take them modulo the width, so that nobody else has to."""

from __future__ import annotations

from ..ir.llvm_types import bits
from ..ir.nodes import AddressRoot, Constant, Function, Instruction, Value, integer
from ..ir.operations.integers import AND, ASHR, LSHR, SHL
from ..ir.passes import rewrites

_SHIFTS = frozenset({SHL, LSHR, ASHR})


@rewrites
def drop_masks(function: Function) -> None:
    """Leave out what reduces counts modulo the width, in place; reduce those that are numbers."""
    masks: set[Value] = set()
    for instruction in function.instructions():
        if instruction.operation in _SHIFTS:
            count = instruction.operands[1]
            instruction.operands[1] = _plain(count, bits(instruction.type))
            if instruction.operands[1] is not count:
                masks.add(count)
    if masks:
        _drop_unused(function, masks)


def _plain(count: Value, width: int) -> Value:
    """The same count, as far as a shift of so many bits looks at it."""
    if width & (width - 1):
        return count
    if isinstance(count, Instruction) and count.operation is AND:
        value, mask = count.operands
        if isinstance(mask, Constant) and ~(mask.number or 0) & (width - 1) == 0:
            return _plain(value, width)
    if isinstance(count, Constant) and count.number is not None and count.number >= width:
        return integer(count.type, count.number % width)
    return count


def _drop_unused(function: Function, masks: set[Value]) -> None:
    used = {operand for i in function.instructions() for operand in i.operands}
    used.update(block.condition for block in function.blocks if block.condition is not None)
    roots = (i.root for i in function.instructions())
    used.update(root.address for root in roots if isinstance(root, AddressRoot))
    for block in function.blocks:
        block.body = [i for i in block.body if i not in masks or i in used]
