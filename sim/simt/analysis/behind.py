"""What values addresses are made of: the words of buffers that a chain of operations leads to."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ..ir.llvm_types import Scalar, size_of
from ..ir.nodes import BufferRoot, Constant, Function, Instruction, Value
from ..ir.operations.memory import LOAD


def words_behind(
    function: Function, lines: Collection[tuple[str, int]], parameters: Collection[int]
) -> set[tuple[int, int, int]]:
    """(parameter, byte offset, bytes) of what the addresses of accesses at `lines` rest on.

    Args:
        function: the kernel.
        lines: file and line of the accesses.
        parameters: whose memory is looked for. An offset that is not constant is -1.
    """
    seen: set[Value] = set()
    waiting = [
        instruction.operands[0]
        for instruction in function.instructions()
        if (instruction.site.file, instruction.site.line) in lines
        and instruction.operation.accesses_memory
        and instruction.operands
    ]
    found: set[tuple[int, int, int]] = set()
    while waiting:
        value = waiting.pop()
        if value in seen or not isinstance(value, Instruction):
            continue
        seen.add(value)
        if value.operation is LOAD:
            found.update(_word(value, parameters))
        else:
            waiting += value.operands
    return found


def _word(load: Instruction, parameters: Collection[int]) -> Iterator[tuple[int, int, int]]:
    root = load.root
    if not isinstance(root, BufferRoot) or root.parameter not in parameters:
        return
    place = load.operands[0]
    offset = place.number if isinstance(place, Constant) and place.number is not None else -1
    yield root.parameter, offset, size_of(Scalar(load.element)) * load.components
