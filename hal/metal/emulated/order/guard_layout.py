"""What the fault handler and the host side share: structures and numbers, written once."""

from __future__ import annotations

import ctypes
import mmap
from typing import Final

REGIONS: Final = 1024  # that are closed at the same time
FAULTS: Final = 1 << 16  # that are kept until somebody looks
OPENED: Final = 64
STEPS: Final = 1 << 12  # instructions that are followed one by one in a region

FREE: Final = 0
OPEN: Final = 1
READ_ONLY: Final = 2
CLOSED: Final = 3

_u32, _u64 = ctypes.c_uint32, ctypes.c_uint64


class Region(ctypes.Structure):
    """Memory that is closed to the host."""

    _fields_ = [(name, _u64) for name in ("start", "size", "level", "fault_count")]


class Fault(ctypes.Structure):
    """An access of the host; the first byte of it is known."""

    _fields_ = [("address", _u64), ("is_write", _u32), ("thread", _u32)]


class Opened(ctypes.Structure):
    """A page that a thread has open for one instruction; thread 0 stands for nobody."""

    _fields_ = [("page", _u64), ("thread", _u32), ("unused", _u32)]


class Guard(ctypes.Structure):
    """Everything. The first fields are addresses: of functions, of Python's answer to `ask`, and
    of what handled the signals before."""

    _fields_ = [
        *((name, _u64) for name in ("protect", "set_handler", "thread_id", "ask", "answer")),
        *((name, _u64) for name in ("before_fault", "before_trap", "fault_count")),
        *((name, _u32) for name in ("is_asked", "unused")),
        ("regions", Region * REGIONS),
        ("faults", Fault * FAULTS),
        ("opened", Opened * OPENED),
    ]


STRUCTURES: Final = {Region: "region", Fault: "fault", Opened: "opened", Guard: "guard"}
NUMBERS: Final = {
    "PAGE": mmap.PAGESIZE,
    "REGIONS": REGIONS,
    "FAULTS": FAULTS,
    "OPENED": OPENED,
    "STEPS": STEPS,
    "LEVEL_FREE": FREE,
    "LEVEL_OPEN": OPEN,
    "LEVEL_READ_ONLY": READ_ONLY,
}
