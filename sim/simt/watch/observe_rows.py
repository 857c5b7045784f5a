"""Observations of accesses that leave their row of an array of arrays."""

from __future__ import annotations

from ..ir.insertion import Inserter
from ..ir.nodes import Instruction, Value
from ..ir.operations.integers import ICMP
from ..ir.operations.marks import IN_ROW, OBSERVE_ROW_OVERRUN
from .observe_overflows import FOLLOWED

_MAX_STEPS = 256


class RowOverruns(Inserter):
    """An index that is not less than the length of its row, or negative, where it is used."""

    def before(self, instruction: Instruction) -> None:
        """Judge the indices of an access."""
        if not instruction.operation.accesses_memory:
            return
        for row in _rows(instruction.operands[0]):
            index, length = row.operands
            beyond = self.emit(ICMP, "i1", index, length, predicate="uge")
            self.observe(OBSERVE_ROW_OVERRUN, beyond)


def _rows(offset: Value) -> list[Instruction]:
    """The marked indices that a byte offset is computed from."""
    found: list[Instruction] = []
    work, seen = [offset], {offset}
    while work and len(seen) < _MAX_STEPS:
        value = work.pop()
        if not isinstance(value, Instruction):
            continue
        if value.operation is IN_ROW:
            found.append(value)
        elif value.operation in FOLLOWED:
            following = [operand for operand in value.operands if operand not in seen]
            seen.update(following)
            work += following
    return found
