"""What the operations across the lanes of a simdgroup give, lane by lane.

Operands and results are lists of bit patterns indexed by lane; a lane that takes no part has None.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from . import ieee

LANES = 32
Column = Sequence[int | None]


def active_lanes(columns: Sequence[Column]) -> list[int]:
    """The lanes that take part."""
    return [lane for lane in range(LANES) if columns[0][lane] is not None]


def matrix_row(lane: int) -> int:
    """Row of the two elements that a lane holds of an 8x8 matrix."""
    return ((lane >> 2) & 4) + ((lane >> 1) & 3)


def matrix_column(lane: int) -> int:
    """Column of the first of the two elements that a lane holds of an 8x8 matrix."""
    return ((lane >> 2) & 2) * 2 + (lane & 1) * 2


def clusters(
    columns: Sequence[Column],
    identity: int,
    results: Callable[[list[int]], list[int]],
) -> list[int]:
    """`results` of each cluster of lanes; the last column says how many lanes are in one.

    Inactive lanes count as the identity.
    """
    cluster = next(c for c in columns[-1] if c is not None)
    filled = [identity if each is None else each for each in columns[0]]
    parts = [filled[start : start + cluster] for start in range(0, LANES, cluster)]
    return [result for part in parts for result in results(part)]


def reduce(values: list[int], combine: Callable[[int, int], int]) -> int:
    """All combined: each step combines the upper half with the lower."""
    while len(values) > 1:
        half = len(values) // 2
        values = [combine(values[i], values[i + half]) for i in range(half)]
    return values[0]


def scan(values: list[int], combine: Callable[[int, int], int]) -> list[int]:
    """Each combined with all before it, at distances that double."""
    distance = 1
    while distance < len(values):
        values = [
            combine(values[i - distance], value) if i >= distance else value
            for i, value in enumerate(values)
        ]
        distance *= 2
    return values


def multiply_accumulate(columns: Sequence[Column]) -> list[int]:
    """One element per lane of A * B + C on 8x8 matrices, k ascending, each step fused."""
    element = next(e for e in columns[0] if e is not None)
    left, right = _matrix(columns[1:3]), _matrix(columns[3:5])
    results = []
    for lane in range(LANES):
        row, column = matrix_row(lane), matrix_column(lane) + element
        total = columns[5 + element][lane] or 0
        for k in range(8):
            total = ieee.fma(left[row][k], right[k][column], total, "float")
        results.append(total)
    return results


def _matrix(halves: Sequence[Column]) -> list[list[int]]:
    matrix = [[0] * 8 for _ in range(8)]
    for lane in range(LANES):
        for element in (0, 1):
            matrix[matrix_row(lane)][matrix_column(lane) + element] = halves[element][lane] or 0
    return matrix
