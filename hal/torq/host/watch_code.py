"""The compiled functions that follow the emulated processor, and what they share with Python."""

from __future__ import annotations

import ctypes
import functools
from typing import ClassVar

from assay.sim.native.c_header import c_header
from assay.sim.native.c_unit import Code, CUnit
from assay.sim.native.structures import pointer

INSTRUCTION_BYTES = 4
WRITE = 17
"""UC_MEM_WRITE of unicorn."""
READ, WRITTEN = 1, 2
"""What is noted of a byte: it was read before it was written, it was written."""


class Fuel(ctypes.Structure):
    """Instructions that were begun, how many may be, and what stops the processor."""

    _fields_: ClassVar = [
        ("used", ctypes.c_uint64),
        ("most", ctypes.c_uint64),
        ("stop", pointer("void")),
    ]


class Region(ctypes.Structure):
    """Memory whose accesses are noted, a byte of `marks` for each byte of it."""

    _fields_: ClassVar = [
        ("start", ctypes.c_uint64),
        ("size", ctypes.c_uint64),
        ("marks", pointer("u8")),
    ]


class Marked(ctypes.Structure):
    """All regions."""

    _fields_: ClassVar = [("count", ctypes.c_uint64), ("regions", pointer("void"))]


def _header() -> str:
    numbers = {
        "INSTRUCTION_BYTES": INSTRUCTION_BYTES,
        "WRITE": WRITE,
        "READ": READ,
        "WRITTEN": WRITTEN,
    }
    return c_header(enumerations=(numbers,), structures=(Fuel, Region, Marked))


UNIT = CUnit(kind="host", package=__package__, main="watch.c", header="watch.h", declared=_header)


@functools.cache
def load_watch() -> Code:
    """The compiled functions; the first time on a machine that takes a moment."""
    return UNIT.load()
