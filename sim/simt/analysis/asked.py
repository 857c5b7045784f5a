"""What a kernel asks the machine: positions, sizes, barriers and the like, after optimisation."""

from __future__ import annotations

from ..ir.nodes import Function
from ..ir.operations.operation import Origin


def asked_operations(function: Function) -> dict[str, int]:
    """Names of the machine's operations that code uses, each with the axes of it that it uses."""
    asked: dict[str, int] = {}
    for instruction in function.instructions():
        if instruction.operation.origin is not Origin.MACHINE:
            continue
        axis = getattr(instruction.operands[0], "number", None) if instruction.operands else None
        count = axis + 1 if isinstance(axis, int) and axis < 3 else 1
        name = instruction.operation.name
        asked[name] = max(asked.get(name, 1), count)
    return asked
