"""What values addresses are made of: the words of buffers that a chain of operations leads to."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

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
    addresses = [access.operands[0] for access in _accesses(function, lines)]
    return _words(addresses, parameters, lambda _: ())


def words_behind_own(
    function: Function, lines: Collection[tuple[str, int]], parameters: Collection[int]
) -> set[tuple[int, int, int]]:
    """The same of accesses to the kernel's own arrays, and of how far their indices are counted.

    An index that a loop counts rests on what it is compared with.
    """
    addresses = [
        access.operands[0]
        for access in _accesses(function, lines)
        if not isinstance(access.root, BufferRoot)
    ]
    tests: dict[Value, list[Instruction]] = {}
    for instruction in function.instructions() if addresses else ():
        for operand in instruction.operands if instruction.type == "i1" else ():
            tests.setdefault(operand, []).append(instruction)

    # LLVM may give a loop that it unrolls a counter beside the index.
    counters = {phi: block.phis for block in function.blocks for phi in block.phis}

    def limits(value: Instruction) -> Iterator[Value]:
        for counter in counters.get(value, ()):
            for counted in (counter, *counter.operands):
                for test in tests.get(counted, ()):
                    yield from test.operands

    return _words(addresses, parameters, limits)


def _accesses(function: Function, lines: Collection[tuple[str, int]]) -> Iterator[Instruction]:
    for instruction in function.instructions():
        is_meant = (instruction.site.file, instruction.site.line) in lines
        if is_meant and instruction.operation.accesses_memory and instruction.operands:
            yield instruction


def _words(
    values: Iterable[Value],
    parameters: Collection[int],
    further: Callable[[Instruction], Iterable[Value]],
) -> set[tuple[int, int, int]]:
    """Words of buffers that operations lead to from `values`; `further` gives more to look at."""
    seen: set[Value] = set()
    waiting = list(values)
    found: set[tuple[int, int, int]] = set()
    while waiting:
        value = waiting.pop()
        if value in seen or not isinstance(value, Instruction):
            continue
        seen.add(value)
        waiting += further(value)
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
