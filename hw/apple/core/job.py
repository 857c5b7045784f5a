"""What the compiled core executes: one structure, declared once for C and for Python."""

from __future__ import annotations

import ctypes
import functools

import numpy as np
from numpy.typing import NDArray

from assay.sim.native.c_header import c_header, named, numbered
from assay.sim.native.c_unit import Code, CUnit
from assay.sim.native.structures import dtype_of, pointer
from assay.sim.simt.emit import tape
from assay.sim.simt.ir import context, shape

from ..lower.code import SOURCES
from . import shared
from .result import CAUSES, LEVELS, SIMDGROUP_CAUSES
from .sharing import CATEGORIES

# Arrays of the structure, with their elements; what each holds is said where it is made.
ARRAYS = {
    # code
    "starts": "i32",
    "ops": "struct op",
    "move_starts": "i32",
    "moves": "i32",
    "block_issued": "i64",
    "block_flops": "i64",
    "site_does": "u8",
    # instruction classes
    "class_does": "u8",
    "class_pipe": "u8",
    "class_width": "u8",
    "class_turn": "i64",
    "class_issue": "i64",
    "class_busy": "i64",
    "class_latency": "i64",
    "class_after": "i64",
    "reuse": "i64",
    # tape
    "words": "u64",
    "stream_starts": "i64",
    "known": "u64",
    "access_starts": "i64",
    # lines that threadgroups share, by access and by category
    "site_shares": "u16",
    "category_weight": "i64",
    "category_payers": "i64",
    "category_sector_payers": "i64",
    "category_l2": "i64",
    "category_slc": "i64",
    "capacity": "i64",
    # work space
    "lines": "struct line",
    "buckets": "i32",
    "ring": "i64",
    "simdgroups": "void",
    "groups": "void",
    "registers": "void",
    "access_at": "i64",
    "slices": "void",
    "flights": "i64",
    # results
    "counters": "i64",
    "counters_before": "i64",
    "counters_learned": "i64",
    "cycles": "i64",
    "site_cycles": "i64",
    "pipe_cycles": "i64",
    "bytes": "i64",
    "group_begin": "i64",
    "group_end": "i64",
    "group_instructions": "i64",
    "busy": "i64",
    "banks": "i64",
    "marks": "i64",
}
# Numbers of the structure; times are in ticks; *_line is for all bytes of a line.
NUMBERS = (
    "register_count",
    "access_limit",
    "class_count",
    "group_count",
    "per_group",
    "resident",
    "bucket_mask",
    "outstanding",
    "queue",
    "active_cores",
    "sector",
    "footprint",
    "l1_full_line",
    "l1_line",
    "l1_access",
    "l1_latency",
    "l2_line",
    "l2_latency",
    "slc_line",
    "slc_latency",
    "dram_line",
    "write_line",
    "write_room",
    "dram_latency",
    "threadgroup_interval",
    "threadgroup_broadcast",
    "threadgroup_row",
    "threadgroup_way",
    "threadgroup_latency",
    "threadgroup_atomic_interval",
    "threadgroup_atomic_serial",
    "threadgroup_atomic_latency",
    "atomic_serial",
    "atomic_line",
    "atomic_word",
    "atomic_slice_lines",
    "atomic_slices",
    "atomic_latency",
    "private_interval",
    "barrier_latency",
    "spilled",
    "dispatch_start",
    "launch_latency",
    "launch_interval",
    "may_skip",
    "skipped",
    "counter_count",
    "flops",
    "worst_ways",
    "held_back",
    "slice_count",
    "slice_limit",
    "grain",
    "flight_count",
    "mark_count",
    "mark_step",
)


class Job(ctypes.Structure):
    """The structure; make one with `job`."""

    _fields_ = (
        *((name, pointer(element)) for name, element in ARRAYS.items()),
        *((name, ctypes.c_int64) for name in NUMBERS),
    )


class Op(ctypes.Structure):
    """An instruction; sources that it lacks are the register behind the last one."""

    _fields_ = (
        ("sources", ctypes.c_int32 * SOURCES),
        *((name, ctypes.c_int32) for name in ("destination", "access", "place", "flops", "kind")),
    )


class Slice(ctypes.Structure):
    """What a simdgroup did for a while, on its timeline."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("begin", "end")),
        *((name, ctypes.c_int32) for name in ("partition", "threadgroup", "simdgroup", "cause")),
        *((name, ctypes.c_int32) for name in ("place", "awaited", "met", "unused")),
    )


OP, SLICE = dtype_of(Op), dtype_of(Slice)


def job(arrays: dict[str, NDArray[np.generic]], numbers: dict[str, int]) -> Job:
    """The structure that points to `arrays`, which must outlive it."""
    return Job(
        **{name: array.__array_interface__["data"][0] for name, array in arrays.items()}, **numbers
    )


def _header() -> str:
    return c_header(
        constants={
            **named(shape, "LANES"),
            **named(tape, "TYPE_MASK NUMBER_MASK NUMBER_SHIFT LANES_SHIFT FIELD_MASK"),
            **named(tape, "LINES_SHIFT WORDS_SHIFT WAYS_SHIFT SHARING_SHIFT CONSECUTIVE CACHED"),
            **named(tape, "ACCESS", suffix="_EVENT"),
            **named(context, "PRIVATE_HANDLE"),
            "PRIVATE_SHIFT": context.HANDLE_SHIFT - (tape.LINE_BYTES.bit_length() - 1),
            "LINE": tape.LINE_BYTES,
            "SOURCES": SOURCES,
            "CATEGORIES": CATEGORIES,
            "CAUSES": len(CAUSES),
            "UNIT": SIMDGROUP_CAUSES.index("unit"),
            "QUEUES": len(shared.QUEUES),
            **named(shared, "TICKS PARTITIONS MARKS REUSE"),
        },
        enumerations=(
            numbered(CAUSES),
            numbered(LEVELS, prefix="AT_"),
            numbered(shared.QUEUES, suffix="_PORT"),
            numbered(shared.BANKS),
            shared.Does,
        ),
        structures=(Op, Slice, Job),
    )


UNIT = CUnit(kind="core", package=__package__, main="run.c", header="job.h", declared=_header)


@functools.cache
def load_core() -> Code:
    """The compiled core."""
    return UNIT.load()


@functools.cache
def _function(name: str, *arguments: type) -> ctypes._FuncPointer:
    kind = ctypes.CFUNCTYPE(ctypes.c_int64, *arguments)
    return kind(load_core().address(name))


def run(job: Job) -> int:
    """Execute the taped threadgroups; ticks that it takes, or -1 if simdgroups wait for ever."""
    return int(_function("run", ctypes.c_void_p)(ctypes.addressof(job)))


def count_lines(job: Job, first: int, last: int) -> int:
    """Lines that the accesses of the streams from `first` to before `last` name."""
    kind = (ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
    return int(_function("count_lines", *kind)(ctypes.addressof(job), first, last))


def collect(
    job: Job, first: int, last: int, limit: int
) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.uint8]]:
    """Distinct lines of some streams (at most `limit`).

    For each the access that first touches it, its number, and how many words that touches of it.
    """
    sites, lines = np.empty(limit, np.int64), np.empty(limit, np.uint64)
    words = np.empty(limit, np.uint8)
    mask = (1 << max(4, (2 * limit).bit_length())) - 1
    buckets = np.full(mask + 1, -1, np.int32)
    pointer, number = ctypes.c_void_p, ctypes.c_int64
    kinds = (pointer, number, pointer, pointer, pointer, number, number, pointer, number)
    function = _function("collect", *kinds)
    count = 0
    for stream in range(first, last):
        count = int(
            function(
                ctypes.addressof(job),
                stream,
                sites.ctypes.data,
                lines.ctypes.data,
                words.ctypes.data,
                count,
                limit,
                buckets.ctypes.data,
                mask,
            )
        )
    return sites[:count], lines[:count], words[:count]


def count_issued(job: Job, first: int, last: int) -> int:
    """Instructions that the streams from `first` to before `last` issue."""
    kind = (ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
    return int(_function("count_issued", *kind)(ctypes.addressof(job), first, last))


def size_of(which: int) -> int:
    """Bytes of the C structures simdgroup (0), group (1), line (2) and register_state (3)."""
    return int(_function("size_of", ctypes.c_int64)(which))
