"""Values that follow from a thread's lane alone: which lane reads which in a shuffle."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from assay.sim.simt.ir import Constant, Instruction, Value
from assay.sim.simt.llvm_types import bits, is_float
from assay.sim.simt.shape import LANES, matrix_column, matrix_row

LaneNumbers = tuple[int, ...]

_QUAD = 4
_POSITIONS: Mapping[str, Callable[[int], int]] = {
    "thread_index_in_simdgroup": lambda lane: lane,
    "matrix_row": matrix_row,
    "matrix_column": matrix_column,
}
_BINARY: Mapping[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "shl": lambda a, b: a << (b & 63),
    "lshr": lambda a, b: a >> (b & 63),
    "udiv": lambda a, b: a // b if b else 0,
    "urem": lambda a, b: a % b if b else a,
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
    if instruction.op == "intrinsic":
        position = _POSITIONS.get(instruction.callee)
        return None if position is None else tuple(map(position, range(LANES)))
    operands = [_numbers(operand, known) for operand in instruction.operands]
    if not operands or any(numbers is None for numbers in operands):
        return None
    rows = list(zip(*(numbers for numbers in operands if numbers is not None), strict=True))
    if instruction.op in _BINARY and not is_float(instruction.type):
        compute, mask = _BINARY[instruction.op], (1 << bits(instruction.type)) - 1
        return tuple(compute(a, b) & mask for a, b in rows)
    if instruction.op == "icmp" and instruction.predicate in _COMPARISONS:
        compare = _COMPARISONS[instruction.predicate]
        return tuple(int(compare(a, b)) for a, b in rows)
    if instruction.op in ("zext", "trunc"):
        mask = (1 << bits(instruction.type)) - 1
        return tuple(a & mask for (a,) in rows)
    if instruction.op == "select":
        return tuple(a if condition else b for condition, a, b in rows)
    return None


def stays_in_quads(lane: Value, known: Mapping[Value, LaneNumbers]) -> bool:
    """Whether each lane's number of another is of one in the same four."""
    numbers = known.get(lane)
    if numbers is not None:
        return all(other // _QUAD == own // _QUAD for own, other in enumerate(numbers))
    if not isinstance(lane, Instruction) or lane.op not in ("or", "add"):
        return False
    first_of_quad = tuple(n - n % _QUAD for n in range(LANES))
    return any(
        known.get(base) == first_of_quad and _is_below_four(rest)
        for base, rest in (lane.operands, lane.operands[::-1])
    )


def _is_below_four(value: Value) -> bool:
    while isinstance(value, Instruction) and value.op in ("zext", "trunc"):
        value = value.operands[0]
    if not isinstance(value, Instruction) or value.op != "and":
        return False
    mask = value.operands[1]
    return isinstance(mask, Constant) and mask.number is not None and mask.number < _QUAD


def _numbers(value: Value, known: Mapping[Value, LaneNumbers]) -> LaneNumbers | None:
    if isinstance(value, Constant):
        return None if value.number is None else (value.number,) * LANES
    return known.get(value)
