"""What the operations across the lanes of a simdgroup give, lane by lane.

Operands and results are lists of bit patterns indexed by lane; a lane that takes no part has None.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from . import ieee as floats
from .arithmetic import integer_binary

LANES = 32
Column = Sequence[int | None]
_KINDS = {"f32": "float", "i32": "i32", "u32": "i32", "i64": "i64", "u64": "i64", "i16": "i16"}


def matrix_row(lane: int) -> int:
    """Row of the two elements that a lane holds of an 8x8 matrix."""
    return ((lane >> 2) & 4) + ((lane >> 1) & 3)


def matrix_column(lane: int) -> int:
    """Column of the first of the two elements that a lane holds of an 8x8 matrix."""
    return ((lane >> 2) & 2) * 2 + (lane & 1) * 2


def cross(name: str, columns: Sequence[Column]) -> list[int]:
    """Results of a lane-crossing operation for all 32 lanes.

    Args:
        name: `simd_sum_f32`, `mma_f32` and so on.
        columns: operands; a lane is active if its operands are not None. An operation without
            operands gets one column that marks the active lanes.

    Raises:
        NotImplementedError: for a name that is none of these operations.
    """
    active = [lane for lane in range(LANES) if columns[0][lane] is not None]
    if name.startswith("simd_shuffle_"):
        return [0 if lane is None else columns[0][lane & 31] or 0 for lane in columns[1]]
    if name.startswith("simd_broadcast_first_"):
        return [columns[0][active[0]] or 0] * LANES
    if name in ("simd_ballot", "simd_active_mask"):
        every = name == "simd_active_mask"
        return [sum(1 << lane for lane in active if every or columns[0][lane])] * LANES
    if name == "mma_f32":
        return _multiply_accumulate(columns)
    if name.startswith("simd_"):
        return _combine(name.removeprefix("simd_"), columns)
    raise NotImplementedError(f"the machine operation '{name}'")


def _combine(name: str, columns: Sequence[Column]) -> list[int]:
    """Reductions and scans over clusters; inactive lanes count as the identity."""
    *shape, op, kind = name.split("_")
    cluster = next(c for c in columns[1] if c is not None)
    identity, combine = _identity(op, kind), _operation(op, kind)
    filled = [identity if each is None else each for each in columns[0]]
    results: list[int] = []
    for start in range(0, LANES, cluster):
        part = filled[start : start + cluster]
        if not shape:
            results += [_reduce(part, combine)] * cluster
            continue
        scanned = _scan(part, combine)
        results += scanned if shape == ["prefix", "inclusive"] else [identity, *scanned[:-1]]
    return results


def _reduce(values: list[int], combine: Callable[[int, int], int]) -> int:
    while len(values) > 1:
        half = len(values) // 2
        values = [combine(values[i], values[i + half]) for i in range(half)]
    return values[0]


def _scan(values: list[int], combine: Callable[[int, int], int]) -> list[int]:
    distance = 1
    while distance < len(values):
        values = [
            combine(values[i - distance], value) if i >= distance else value
            for i, value in enumerate(values)
        ]
        distance *= 2
    return values


def _operation(op: str, kind: str) -> Callable[[int, int], int]:
    type = _KINDS[kind]
    if type == "float":
        if op in ("min", "max"):
            return lambda a, b: floats.choose((a, b), type, smallest=op == "min", nan_wins=False)
        return lambda a, b: floats.binary({"sum": "fadd", "product": "fmul"}[op], a, b, type)
    prefix = "llvm.s" if kind.startswith("i") else "llvm.u"
    names = {"sum": "add", "product": "mul", "min": f"{prefix}min", "max": f"{prefix}max"}
    return lambda a, b: integer_binary(names.get(op, op), a, b, int(type[1:]))


def _identity(op: str, kind: str) -> int:
    type = _KINDS[kind]
    if type == "float":
        numbers = {"sum": 0.0, "product": 1.0, "min": float("inf"), "max": float("-inf")}
        return floats.encode(numbers[op], type)
    width = int(type[1:])
    largest = (1 << width) - 1
    if kind.startswith("i") and op in ("min", "max"):
        return largest >> 1 if op == "min" else 1 << (width - 1)
    return {"product": 1, "and": largest, "min": largest}.get(op, 0)


def _multiply_accumulate(columns: Sequence[Column]) -> list[int]:
    """One element per lane of A * B + C on 8x8 matrices, k ascending, each step fused."""
    element = next(e for e in columns[0] if e is not None)
    left, right = _matrix(columns[1:3]), _matrix(columns[3:5])
    results = []
    for lane in range(LANES):
        row, column = matrix_row(lane), matrix_column(lane) + element
        total = columns[5 + element][lane] or 0
        for k in range(8):
            total = floats.fma(left[row][k], right[k][column], total, "float")
        results.append(total)
    return results


def _matrix(halves: Sequence[Column]) -> list[list[int]]:
    matrix = [[0] * 8 for _ in range(8)]
    for lane in range(LANES):
        for element in (0, 1):
            matrix[matrix_row(lane)][matrix_column(lane) + element] = halves[element][lane] or 0
    return matrix
