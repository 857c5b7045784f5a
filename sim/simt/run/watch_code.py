"""Compiles the C functions that watched kernels call, and makes them known to the linker."""

from __future__ import annotations

import functools
from importlib.resources import files

from ...check import layout
from ...native.c_code import load_c
from ...native.jit import LoadedCode
from ..ir import context as c

# Files of one translation unit, each building on those before it.
PARTS = ("records", "ranges", "lanes", "barriers", "events")
FUNCTIONS = (
    *("assay_watch_range", "assay_watch_lanes", "assay_watch_permuted", "assay_watch_group"),
    *("assay_watch_begin", "assay_watch_end", "assay_watch_wait", "assay_watch_leave"),
    *("assay_watch_fence", "assay_watch_round", "assay_watch_event", "assay_watch_simdgroup_wait"),
    *("assay_watch_lane_barrier", "assay_watch_place"),
)


def source() -> str:
    """The C text, with the structures and numbers it shares with the host."""
    shared = {
        "CONTEXT_WATCH": c.WATCH,
        "CONTEXT_SIMDGROUP": c.SIMDGROUP,
        "CONTEXT_POSITION": c.POSITION,
        "CONTEXT_THREADGROUPS": c.THREADGROUPS,
        "CONTEXT_ARENA": c.ARENA,
        "CONTEXT_ARENA_SIZE": c.ARENA_SIZE,
        "CONTEXT_TABLE": c.TABLE,
        "CONTEXT_READ_ONLY": c.READ_ONLY,
        "CONTEXT_SCRATCH": c.SCRATCH,
        "SCRATCH_VALUES": c.SCRATCH_VALUES,
        "HANDLE_SHIFT": c.HANDLE_SHIFT,
        "OFFSET_MASK": (1 << c.HANDLE_SHIFT) - 1,
        "THREADGROUP_HANDLE": c.THREADGROUP_HANDLE,
        "FIRST_BUFFER_HANDLE": c.FIRST_BUFFER_HANDLE,
        "TABLE_ENTRIES": c.TABLE_ENTRIES,
        **layout.c_constants(),
    }
    numbers = "\n".join(f"#define {name} {value}ull" for name, value in shared.items())
    folder = files(__package__).joinpath("watch")
    text = "\n".join(folder.joinpath(f"{name}.c").read_text() for name in PARTS)
    return f"{numbers}\n{text.replace('STRUCTURES', layout.c_structures(), 1)}"


@functools.cache
def load_watch() -> LoadedCode:
    """Compile the functions, or take them from the cache, and make their symbols known."""
    return load_c(source(), "watch", FUNCTIONS)
