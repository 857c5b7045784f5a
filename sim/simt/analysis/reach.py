"""What a kernel asks for: arguments, memory beyond them, and what only the machine knows."""

from __future__ import annotations

from ..ir.nodes import AddressRoot, BufferRoot, Constant, Function
from ..ir.operations.operation import Origin


def untouched_parameters(function: Function, count: int) -> tuple[int, ...]:
    """Numbers of the `count` parameters whose memory and address the kernel never uses."""
    touched = {getattr(i.root, "parameter", -1) for i in function.instructions()}
    return tuple(number for number in range(count) if number not in touched)


def used_parameters(function: Function) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Numbers of the parameters whose buffers the kernel writes, and of those it reads.

    What it updates atomically is among the first.
    """
    written: set[int] = set()
    read: set[int] = set()
    for instruction in function.instructions():
        root, operation = instruction.root, instruction.operation
        if isinstance(root, BufferRoot) and operation.accesses_memory:
            (written if operation.writes_memory else read).add(root.parameter)
    return tuple(sorted(written)), tuple(sorted(read))


def follows_pointers(function: Function) -> bool:
    """Whether the kernel accesses memory through addresses that it computed or loaded."""
    return any(
        isinstance(i.root, AddressRoot) and not isinstance(i.root.address, Constant)
        for i in function.instructions()
    )


def asked_operations(function: Function) -> dict[str, int]:
    """Names of the machine's operations that code uses, each with the axes of it that it uses.

    Those are positions, sizes, barriers and the like, after optimisation.
    """
    asked: dict[str, int] = {}
    for instruction in function.instructions():
        if instruction.operation.origin is not Origin.MACHINE:
            continue
        axis = getattr(instruction.operands[0], "number", None) if instruction.operands else None
        count = axis + 1 if isinstance(axis, int) and axis < 3 else 1
        name = instruction.operation.name
        asked[name] = max(asked.get(name, 1), count)
    return asked
