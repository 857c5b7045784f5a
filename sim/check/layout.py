"""The memory that watched kernels and the host share: structures and numbers, written once."""

from __future__ import annotations

import ctypes
import sys

from ..lanes import LANES
from ..native.c_header import named
from .kinds import c_constants as reported_constants
from .kinds import number_of

LOCKS = 1 << 12
REPORT_LIMIT = 256
TAGS = 31  # ordering groups that records can tell apart; 0 is no access at all
GROUP_MASK = (1 << 22) - 1
MAX_SITES = 1023  # the last one stands for all beyond it
MAX_READS = 1 << 14  # of what was not written, that one threadgroup's run remembers
READ_SLOTS = 2 * MAX_READS

# How a record is laid out, as far as others than records.c read it.
FLAG_ATOMIC = 1
MASK_SHIFT = 3
FULL_GRANULE = 15
SITE_SHIFT = 7
LANE_SHIFT = 17
TAG_SHIFT = 59

# Runs of records, see runs.c.
RUN = 32  # granules
EXPANDED = 1

HOW_WRITE = 1
HOW_ATOMIC = 2
HOW_CONSTANT = 4  # the argument is declared const or constant
HOW_STORE = 8  # atomically, whatever was there
HOW_UPDATE = 16  # atomically, in an order that does not matter
HOW_SITE = 8  # bits that a site's number is shifted by

MEM_DEVICE = 1  # MSL's mem_flags
MEM_THREADGROUP = 2
MEM_TEXTURE = 4

# What accesses are, as __assay_access_kind says.
KIND_COPY = 1  # of an asynchronous copy, which lasts until
KIND_COPIED = 2  # somebody waits for it
KIND_TEXEL_WRITE = 3  # of a texture that may be read too
KIND_TEXEL_READ = 4

KIND_BITS = 8  # above them is the number of the copy, 0 for any
COPIES = 16  # numbers of copies
OPERATIONS = 16  # places between two barriers whose callers are counted

UNSETTLED = 1 << 14  # accesses that are remembered until they are settled

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
NON_UNIFORM = number_of("non-uniform-argument")
NAN_BORN = number_of("nan-born")
INFINITY_BORN = number_of("infinity-born")
OVERFLOW = number_of("index-overflow")
PARTIAL_SIMDGROUP = number_of("partial-simdgroup")
ROW_OVERRUN = number_of("row-overrun")
OTHER_SIMDGROUPS = number_of("tensor-scope")
OUTSIDE = number_of("outside-tensor")
SOME_SIMDGROUPS = number_of("partial-tensor-scope")
LANE_RACE = 18
READ_ONLY_WRITE = 16
MISALIGNED = 17
STORE_UPDATE = 19  # an atomic store and an atomic update
COPY_NOT_WAITED = 20
TEXTURE_NOT_FENCED = 21

_u32, _u64 = ctypes.c_uint32, ctypes.c_uint64


ORIGIN_READ = MAX_SITES + 1  # origins from here on are of reads, those below are sites' numbers
ORIGIN_FAR = 1 << 15  # of a site's number: it came from other lanes, nobody knows from which
assert ORIGIN_FAR - MAX_READS >= ORIGIN_READ


class Report(ctypes.Structure):
    """One kind of happening at one place, with its first example.

    `detail` is, for a race, which of the kinds of races it is; of what was never written, whether
    `address` and `found`, the offset in its array or buffer, are known, and `other_epoch` whether
    the reader is not; else the lanes concerned.
    """

    _fields_ = [
        *((name, _u32) for name in ("kind", "site", "other_site", "lane", "simdgroup", "epoch")),
        *((name, _u32) for name in ("other_lane", "other_simdgroup", "other_epoch", "detail")),
        *((name, _u64) for name in ("group", "other_group", "address", "found", "count")),
    ]


class Buffer(ctypes.Structure):
    """Shadow of one buffer: records of the last write and read of every four bytes.

    `runs` and `read_runs` have one for each `RUN` of them, see runs.c.
    """

    _fields_ = [
        ("written", ctypes.POINTER(_u64)),
        ("runs", ctypes.POINTER(_u64)),
        ("read", ctypes.POINTER(_u64)),
        ("read_runs", ctypes.POINTER(_u64)),
        ("granules", _u64),
        ("has_readers", _u64),
        ("lane_written", ctypes.POINTER(_u64)),
        ("lane_read", ctypes.POINTER(_u64)),
    ]


class Waiter(ctypes.Structure):
    """Lanes of a simdgroup that wait at a barrier, or that have left.

    `passed` counts the barriers that order the lanes' accesses: of threadgroup memory, of buffers.
    """

    _fields_ = [
        *((name, _u32) for name in ("site", "flags", "mask", "live", "branch")),
        ("passed", _u32 * 2),
    ]


class UnwrittenRead(ctypes.Structure):
    """A read of what nobody had written: what, by whom. `offset` is that in its array or buffer."""

    _fields_ = [
        *((name, _u64) for name in ("address", "offset")),
        *((name, _u32) for name in ("site", "lane", "simdgroup", "readers")),
    ]


class Unsettled(ctypes.Structure):
    """An access to four bytes whose effect waits for something; valid while its stamp is.

    `settles` says for what: 0 a fence of textures, else the end of the copy of that number.
    `begun` is how many copies had begun: each access of a copy has the same. To other simdgroups
    a copy to threadgroup memory lasts until a barrier behind its end: their stamps are `ordered`.
    """

    _fields_ = [
        ("granule", _u64),
        *((name, _u32) for name in ("stamp", "site")),
        *((name, ctypes.c_uint8) for name in ("settles", "write", "mask", "lane")),
        *((name, _u32) for name in ("simdgroup", "begun", "barriers")),
    ]


class Operation(ctypes.Structure):
    """An operation that all simdgroups call together: how often each did since the last barrier.

    `cause` is the site of the branch that may keep some from it.
    """

    _fields_ = [*((name, _u32) for name in ("site", "cause")), ("calls", _u32 * LANES)]


class Watch(ctypes.Structure):
    """What one worker's watched kernel sees of the world."""

    _fields_ = [
        ("buffers", ctypes.POINTER(Buffer)),
        ("arena_written", ctypes.POINTER(_u64)),
        ("arena_read", ctypes.POINTER(_u64)),
        ("arena_before", ctypes.POINTER(_u64)),
        *((f"arena_{name}runs", ctypes.POINTER(_u64)) for name in ("", "read_", "before_")),
        ("arena_lane_written", ctypes.POINTER(_u64)),
        ("arena_lane_read", ctypes.POINTER(_u64)),
        ("arena_granules", _u64),
        ("locks", ctypes.POINTER(_u32)),  # null if one worker runs all threadgroups
        ("reports", ctypes.POINTER(Report)),
        *((name, _u64) for name in ("report_count", "report_limit", "reports_dropped")),
        *((name, _u64) for name in ("tag", "group", "group_base", "run")),
        *((name, _u64) for name in ("order_factor", "order_shift", "order_count")),
        *((name, _u32) for name in ("arena_shift", "barriers")),
        *((name, _u32) for name in ("arena_epoch", "device_epoch")),
        *((name, _u32) for name in ("arena_covered", "device_covered")),
        *((name, _u32) for name in ("arena_fenced", "device_fenced")),
        *((name, _u32) for name in ("flush_denormals", "lanes")),
        ("simdgroups", _u32),  # of a threadgroup
        ("reads", ctypes.POINTER(UnwrittenRead)),
        ("read_slots", ctypes.POINTER(ctypes.c_uint16)),
        ("read_count", _u64),
        ("unsettled", ctypes.POINTER(Unsettled)),
        *((name, _u32) for name in ("kind", "kind_mask", "copying", "slow", "stamp", "remembers")),
        *((name, _u32) for name in ("copy", "begun", "settled")),
        ("pending", _u32 * LANES),
        ("stamps", _u32 * LANES * (1 + COPIES)),
        ("ordered", _u32 * LANES * (1 + COPIES)),
        ("met", _u32),  # simdgroups all of whose lanes wait at `meeting`: they are not in `waiting`
        ("meeting", Waiter),
        ("waiting", Waiter * LANES),
        ("left", Waiter * LANES),
        ("operation_count", _u32),
        ("operations", Operation * OPERATIONS),
    ]


STRUCTURES = (Report, Buffer, Waiter, UnwrittenRead, Unsettled, Operation, Watch)


def c_constants() -> dict[str, int]:
    """Numbers that the C text uses."""
    return {
        **_named("LANES LOCKS FLAG_ATOMIC MASK_SHIFT SITE_SHIFT LANE_SHIFT TAG_SHIFT RUN EXPANDED"),
        **_named("GROUP_MASK MEM_DEVICE MEM_THREADGROUP MEM_TEXTURE UNSETTLED"),
        **_named(
            "KIND_COPY KIND_COPIED KIND_TEXEL_WRITE KIND_TEXEL_READ KIND_BITS COPIES OPERATIONS"
        ),
        **_named("HOW_WRITE HOW_ATOMIC HOW_CONSTANT HOW_STORE HOW_UPDATE HOW_SITE"),
        **_named("WRITE_WRITE WRITE_READ READ_WRITE WEAK SAME_STORE", "REPORT_"),
        **_named("UNINITIALISED", "REPORT_"),
        **_named("ORIGIN_FAR ORIGIN_READ MAX_READS READ_SLOTS"),
        **_named("LANES_LEFT LANES_ELSEWHERE OTHER_BARRIER SIMDGROUP_LEFT", "REPORT_"),
        **_named("LANE_RACE READ_ONLY_WRITE MISALIGNED STORE_UPDATE", "REPORT_"),
        **_named("COPY_NOT_WAITED TEXTURE_NOT_FENCED", "REPORT_"),
        **reported_constants(),
    }


def _named(names: str, prefix: str = "") -> dict[str, int]:
    return named(sys.modules[__name__], names, prefix)
