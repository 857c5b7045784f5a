"""What goes into a value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from assay.sim.simt.ir.nodes import Instruction, Value
from assay.sim.simt.ir.operations.control import PHI, SELECT


def made_of(value: Value, parts: Callable[[Instruction], Iterable[Value]]) -> Iterator[Value]:
    """A value and what goes into it, each once.

    Args:
        value: what is begun with.
        parts: what is looked at behind an instruction.
    """
    seen: set[Value] = set()
    work = [value]
    while work:
        each = work.pop()
        if each in seen:
            continue
        seen.add(each)
        yield each
        if isinstance(each, Instruction):
            work += parts(each)


def choices(value: Instruction) -> list[Value]:
    """What a value is one of, if it is chosen or merged."""
    if value.operation is SELECT:
        return value.operands[1:]
    return value.operands if value.operation is PHI else []
