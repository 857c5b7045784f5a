"""What the fault handler and the host side share: structures and numbers, written once."""

from __future__ import annotations

import ctypes
import sys
from typing import Final

from assay.sim.native.c_header import c_header, named
from assay.sim.native.c_unit import CUnit

PAGE: Final = 4096  # bytes, of x86-64
REGIONS: Final = 1024  # that are closed at the same time
FAULTS: Final = 1 << 16  # that are kept until they are read
OPENED: Final = 64
STRAYS: Final = 1000  # faults elsewhere in a row before they are no longer ours
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
    """Everything. The first fields are addresses: of functions, of Python's answers to `ask` and
    to a fault itself, and of what handled the signals before."""

    _fields_ = [
        *((name, _u64) for name in ("protect", "set_handler", "thread_id", "ask", "answer")),
        *((name, _u64) for name in ("holds_python", "locate", "stop_collecting", "collect")),
        *((name, _u64) for name in ("before_fault", "before_trap", "fault_count")),
        *((name, _u32) for name in ("is_asked", "stray_count")),
        ("regions", Region * REGIONS),
        ("faults", Fault * FAULTS),
        ("opened", Opened * OPENED),
    ]


def _header() -> str:
    return c_header(
        constants={
            **named(sys.modules[__name__], "PAGE REGIONS FAULTS OPENED STEPS STRAYS"),
            **named(sys.modules[__name__], "FREE OPEN READ_ONLY", "LEVEL_"),
        },
        structures=(Region, Fault, Opened, Guard),
    )


UNIT = CUnit(kind="guard", package=__package__, main="guard.c", header="guard.h", declared=_header)
