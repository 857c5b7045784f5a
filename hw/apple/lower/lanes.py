"""Values that follow from a thread's lane alone: which lane reads which in a shuffle."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from assay.sim.simt.ir.llvm_types import bits, is_float
from assay.sim.simt.ir.nodes import Constant, Instruction, Value
from assay.sim.simt.ir.operations.control import SELECT
from assay.sim.simt.ir.operations.conversions import TRUNC, ZEXT
from assay.sim.simt.ir.operations.integers import (
    ADD,
    AND,
    ICMP,
    LSHR,
    MUL,
    OR,
    SHL,
    SUB,
    UDIV,
    UREM,
    XOR,
)
from assay.sim.simt.ir.operations.operation import Operation
from assay.sim.simt.ir.operations.positions import (
    MATRIX_COLUMN,
    MATRIX_ROW,
    THREAD_INDEX_IN_SIMDGROUP,
)
from assay.sim.simt.ir.shape import LANES, matrix_column, matrix_row

LaneNumbers = tuple[int, ...]

_QUAD = 4
_SUMS = frozenset({OR, ADD})
RESIZES = frozenset({ZEXT, TRUNC})
_POSITIONS: Mapping[Operation, Callable[[int], int]] = {
    THREAD_INDEX_IN_SIMDGROUP: lambda lane: lane,
    MATRIX_ROW: matrix_row,
    MATRIX_COLUMN: matrix_column,
}
_BINARY: Mapping[Operation, Callable[[int, int], int]] = {
    ADD: lambda a, b: a + b,
    SUB: lambda a, b: a - b,
    MUL: lambda a, b: a * b,
    AND: lambda a, b: a & b,
    OR: lambda a, b: a | b,
    XOR: lambda a, b: a ^ b,
    SHL: lambda a, b: a << (b & 63),
    LSHR: lambda a, b: a >> (b & 63),
    UDIV: lambda a, b: a // b if b else 0,
    UREM: lambda a, b: a % b if b else a,
}
_COMPARISONS: Mapping[str, Callable[[int, int], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "ult": lambda a, b: a < b,
    "ule": lambda a, b: a <= b,
    "ugt": lambda a, b: a > b,
    "uge": lambda a, b: a >= b,
}


def lane_numbers(
    instruction: Instruction, known: Mapping[Value, LaneNumbers]
) -> LaneNumbers | None:
    """What a value is in each lane; None if that depends on more than the lane."""
    operation = instruction.operation
    if operation in _POSITIONS:
        return tuple(map(_POSITIONS[operation], range(LANES)))
    operands = [_numbers(operand, known) for operand in instruction.operands]
    if not operands or any(numbers is None for numbers in operands):
        return None
    rows = list(zip(*(numbers for numbers in operands if numbers is not None), strict=True))
    if operation in _BINARY and not is_float(instruction.type):
        compute, mask = _BINARY[operation], (1 << bits(instruction.type)) - 1
        return tuple(compute(a, b) & mask for a, b in rows)
    if operation is ICMP and instruction.predicate in _COMPARISONS:
        compare = _COMPARISONS[instruction.predicate]
        return tuple(int(compare(a, b)) for a, b in rows)
    if operation in RESIZES:
        mask = (1 << bits(instruction.type)) - 1
        return tuple(a & mask for (a,) in rows)
    if operation is SELECT:
        return tuple(a if condition else b for condition, a, b in rows)
    return None


def stays_in_quads(lane: Value, known: Mapping[Value, LaneNumbers]) -> bool:
    """Whether each lane's number of another is of one in the same four."""
    numbers = known.get(lane)
    if numbers is not None:
        return all(other // _QUAD == own // _QUAD for own, other in enumerate(numbers))
    if not isinstance(lane, Instruction) or lane.operation not in _SUMS:
        return False
    first_of_quad = tuple(n - n % _QUAD for n in range(LANES))
    return any(
        known.get(base) == first_of_quad and _is_below_four(rest)
        for base, rest in (lane.operands, lane.operands[::-1])
    )


def _is_below_four(value: Value) -> bool:
    while isinstance(value, Instruction) and value.operation in RESIZES:
        value = value.operands[0]
    if not isinstance(value, Instruction) or value.operation is not AND:
        return False
    mask = value.operands[1]
    return isinstance(mask, Constant) and mask.number is not None and mask.number < _QUAD


def _numbers(value: Value, known: Mapping[Value, LaneNumbers]) -> LaneNumbers | None:
    if isinstance(value, Constant):
        return None if value.number is None else (value.number,) * LANES
    return known.get(value)
