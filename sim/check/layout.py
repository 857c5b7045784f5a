"""The memory that watched kernels and the host share: structures and numbers, written once."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import cast

LANES = 32
LOCKS = 1 << 12
REPORT_LIMIT = 256
TAGS = 31  # ordering groups that records can tell apart; 0 is no access at all
GROUP_MASK = (1 << 22) - 1
MAX_SITES = 1023  # the last one stands for all beyond it

# How a record is laid out, as far as others than records.c read it.
FLAG_ATOMIC = 1
MASK_SHIFT = 3
FULL_GRANULE = 15
SITE_SHIFT = 7
TAG_SHIFT = 59

HOW_WRITE = 1
HOW_ATOMIC = 2
HOW_CONSTANT = 4  # the argument is declared const or constant
HOW_SITE = 8  # bits that a site's number is shifted by

MEM_DEVICE = 1  # MSL's mem_flags
MEM_THREADGROUP = 2

# What a report is about.
WRITE_WRITE = 1
WRITE_READ = 2  # a write after a read
READ_WRITE = 3  # a read after a write
WEAK = 4
SAME_STORE = 5
LANES_LEFT = 6
LANES_ELSEWHERE = 7
OTHER_BARRIER = 8
SIMDGROUP_LEFT = 9
UNINITIALISED = 10
INACTIVE_LANE = 11
NON_UNIFORM = 12
NAN_BORN = 13
INFINITY_BORN = 14
OVERFLOW = 15
LANE_RACE = 18
READ_ONLY_WRITE = 16
MISALIGNED = 17

_u32, _u64 = ctypes.c_uint32, ctypes.c_uint64


class Report(ctypes.Structure):
    """One kind of happening at one place, with its first example.

    `detail` is, for a race, which of the kinds of races it is; else the lanes concerned.
    """

    _fields_ = [
        *((name, _u32) for name in ("kind", "site", "other_site", "lane", "simdgroup", "epoch")),
        *((name, _u32) for name in ("other_lane", "other_simdgroup", "other_epoch", "detail")),
        *((name, _u64) for name in ("group", "other_group", "address", "count")),
    ]


class Buffer(ctypes.Structure):
    """Shadow of one buffer: records of the last write and read of every four bytes."""

    _fields_ = [
        ("written", ctypes.POINTER(_u64)),
        ("read", ctypes.POINTER(_u64)),
        ("granules", _u64),
        ("has_readers", _u64),
        ("lane_written", ctypes.POINTER(_u64)),
        ("lane_read", ctypes.POINTER(_u64)),
    ]


class Waiter(ctypes.Structure):
    """Lanes of a simdgroup that wait at a barrier, or that have left.

    `passed` counts the barriers that order the lanes among each other.
    """

    _fields_ = [(name, _u32) for name in ("site", "flags", "mask", "live", "branch", "passed")]


class Watch(ctypes.Structure):
    """What one worker's watched kernel sees of the world."""

    _fields_ = [
        ("buffers", ctypes.POINTER(Buffer)),
        ("arena_written", ctypes.POINTER(_u64)),
        ("arena_read", ctypes.POINTER(_u64)),
        ("arena_before", ctypes.POINTER(_u64)),
        ("arena_lane_written", ctypes.POINTER(_u64)),
        ("arena_lane_read", ctypes.POINTER(_u64)),
        ("arena_granules", _u64),
        ("locks", ctypes.POINTER(_u32)),
        ("reports", ctypes.POINTER(Report)),
        *((name, _u64) for name in ("report_count", "report_limit", "reports_dropped")),
        *((name, _u64) for name in ("tag", "group", "group_base", "run")),
        *((name, _u64) for name in ("order_factor", "order_shift", "order_count")),
        *((name, _u32) for name in ("arena_shift", "barriers")),
        *((name, _u32) for name in ("arena_epoch", "device_epoch")),
        *((name, _u32) for name in ("arena_covered", "device_covered")),
        *((name, _u32) for name in ("arena_fenced", "device_fenced")),
        *((name, _u32) for name in ("flush_denormals", "lanes")),
        ("waiting", Waiter * LANES),
        ("left", Waiter * LANES),
    ]


_NAMES: Mapping[type[ctypes.Structure], str] = {
    Report: "report",
    Buffer: "buffer",
    Waiter: "party",
    Watch: "watch",
}
_TYPES: dict[object, str] = {
    _u32: "u32",
    _u64: "u64",
    ctypes.POINTER(_u32): "u32 *",
    ctypes.POINTER(_u64): "u64 *",
    ctypes.POINTER(Report): "struct report *",
    ctypes.POINTER(Buffer): "struct buffer *",
}


def c_structures(names: Mapping[type[ctypes.Structure], str] = _NAMES) -> str:
    """The structures as C text; `names` has those of any others, inner ones first."""
    parts = []
    for structure, name in names.items():
        fields = []
        for field in structure._fields_:
            kind = field[1]
            if isinstance(kind, type) and issubclass(kind, ctypes.Array):
                inner = names[cast(type[ctypes.Structure], kind._type_)]
                fields.append(f"  struct {inner} {field[0]}[{kind._length_}];")
            else:
                fields.append(f"  {_TYPES[kind]} {field[0]};")
        parts.append("\n".join([f"struct {name} {{", *fields, "};"]))
    return "\n".join(parts)


def c_constants() -> dict[str, int]:
    """Numbers that the C text uses."""
    return {
        "LOCKS": LOCKS,
        "FLAG_ATOMIC": FLAG_ATOMIC,
        "MASK_SHIFT": MASK_SHIFT,
        "SITE_SHIFT": SITE_SHIFT,
        "TAG_SHIFT": TAG_SHIFT,
        "GROUP_MASK": GROUP_MASK,
        "HOW_WRITE": HOW_WRITE,
        "HOW_ATOMIC": HOW_ATOMIC,
        "HOW_SITE": HOW_SITE,
        "MEM_DEVICE": MEM_DEVICE,
        "MEM_THREADGROUP": MEM_THREADGROUP,
        "REPORT_WRITE_WRITE": WRITE_WRITE,
        "REPORT_WRITE_READ": WRITE_READ,
        "REPORT_READ_WRITE": READ_WRITE,
        "REPORT_WEAK": WEAK,
        "REPORT_SAME_STORE": SAME_STORE,
        "REPORT_LANE_RACE": LANE_RACE,
        "REPORT_LANES_LEFT": LANES_LEFT,
        "REPORT_LANES_ELSEWHERE": LANES_ELSEWHERE,
        "REPORT_OTHER_BARRIER": OTHER_BARRIER,
        "REPORT_SIMDGROUP_LEFT": SIMDGROUP_LEFT,
        "HOW_CONSTANT": HOW_CONSTANT,
        "REPORT_READ_ONLY_WRITE": READ_ONLY_WRITE,
        "REPORT_MISALIGNED": MISALIGNED,
    }
