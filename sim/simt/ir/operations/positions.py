"""Where a thread is, and how large everything around it is."""

from __future__ import annotations

from collections.abc import Callable

from ..meaning.lanes import matrix_column, matrix_row
from .operation import OfThread, Operation, Origin, Thread, Uninitialised, Variation


def _row(
    name: str, types: str, compute: Callable[[Thread], tuple[int, ...]], *, of_lane: bool = False
) -> Operation:
    """A position; `of_lane` says that lanes of a simdgroup differ in it."""
    return Operation(
        name=name,
        origin=Origin.MACHINE,
        types=types,
        meaning=OfThread(compute),
        result=Variation.ALWAYS if of_lane else Variation.AS_OPERANDS,
        uninitialised=Uninitialised.CLEAN,
    )


_ONE, _BY_DIMENSION = "-> i32", "i32 -> i32"

THREAD_POSITION_IN_GRID = _row(
    "thread_position_in_grid", _BY_DIMENSION, lambda t: t.position_in_grid, of_lane=True
)
THREAD_POSITION_IN_THREADGROUP = _row(
    "thread_position_in_threadgroup",
    _BY_DIMENSION,
    lambda t: t.position_in_threadgroup,
    of_lane=True,
)
THREADGROUP_POSITION_IN_GRID = _row(
    "threadgroup_position_in_grid", _BY_DIMENSION, lambda t: t.threadgroup
)
THREADS_PER_THREADGROUP = _row("threads_per_threadgroup", _BY_DIMENSION, lambda t: t.size)
DISPATCH_THREADS_PER_THREADGROUP = _row(
    "dispatch_threads_per_threadgroup", _BY_DIMENSION, lambda t: t.full_size
)
THREADS_PER_GRID = _row("threads_per_grid", _BY_DIMENSION, lambda t: t.grid)
THREADGROUPS_PER_GRID = _row("threadgroups_per_grid", _BY_DIMENSION, lambda t: t.threadgroups)

THREAD_INDEX_IN_THREADGROUP = _row(
    "thread_index_in_threadgroup", _ONE, lambda t: (t.index,), of_lane=True
)
THREAD_INDEX_IN_SIMDGROUP = _row(
    "thread_index_in_simdgroup", _ONE, lambda t: (t.lane,), of_lane=True
)
SIMDGROUP_INDEX_IN_THREADGROUP = _row(
    "simdgroup_index_in_threadgroup", _ONE, lambda t: (t.simdgroup,)
)
SIMDGROUPS_PER_THREADGROUP = _row("simdgroups_per_threadgroup", _ONE, lambda t: (t.simdgroups,))
DISPATCH_SIMDGROUPS_PER_THREADGROUP = _row(
    "dispatch_simdgroups_per_threadgroup", _ONE, lambda t: (t.full_simdgroups,)
)

# Row and first column of the two elements that a lane holds of an 8x8 matrix.
MATRIX_ROW = _row("matrix_row", _ONE, lambda t: (matrix_row(t.lane),), of_lane=True)
MATRIX_COLUMN = _row("matrix_column", _ONE, lambda t: (matrix_column(t.lane),), of_lane=True)
