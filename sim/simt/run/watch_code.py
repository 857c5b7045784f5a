"""The C functions that watched kernels call."""

from __future__ import annotations

import functools

from ...check import layout
from ...native.c_header import c_header, named
from ...native.c_unit import Code, CUnit
from ..ir import context

FUNCTIONS = (
    "assay_watch_range",
    "assay_watch_lanes",
    "assay_watch_permuted",
    "assay_watch_group",
    "assay_watch_begin",
    "assay_watch_end",
    "assay_watch_wait",
    "assay_watch_leave",
    "assay_watch_fence",
    "assay_watch_round",
    "assay_watch_event",
    "assay_watch_simdgroup_wait",
    "assay_watch_lane_barrier",
    "assay_watch_place",
)


def _header() -> str:
    return c_header(
        constants={
            **named(context, "SCRATCH_VALUES HANDLE_SHIFT OFFSET_MASK TABLE_ENTRIES"),
            **named(context, "THREADGROUP_HANDLE FIRST_BUFFER_HANDLE"),
            **layout.c_constants(),
        },
        structures=(context.TableEntry, context.Context, *layout.STRUCTURES),
    )


UNIT = CUnit(
    kind="watch",
    package=__package__,
    main="watch/watch.c",
    header="watch.h",
    declared=_header,
    functions=FUNCTIONS,
)


@functools.cache
def load_watch() -> Code:
    """Compile the functions, or take them from the cache, and make their symbols known."""
    return UNIT.load()
