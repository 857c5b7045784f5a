"""The memory that recorded kernels and the host share, and the C functions that they call."""

from __future__ import annotations

import ctypes
import functools
from importlib.resources import files

from ...native.c_code import load_c
from ...native.jit import LoadedCode
from ..emit import tape as r
from ..ir import context as c

FUNCTIONS = (
    *("assay_record_full", "assay_record_group", "assay_record_resume"),
    *("assay_record_lanes", "assay_record_private"),
)
PRIVATE_LINES = (c.PRIVATE_HANDLE << c.HANDLE_SHIFT) // r.LINE_BYTES

_POINTER = ctypes.c_void_p
_u64 = ctypes.c_uint64


class Segment(ctypes.Structure):
    """Where a stream, by its number, begins or goes on."""

    _fields_ = [("start", _POINTER), ("stream", _u64)]


class Recorder(ctypes.Structure):
    """Where a recorded kernel writes.

    `position` is where the next event goes; the room up to `limit` suffices for any block. When
    it is used up, `end` is where the recording ends and blocks are written to `spare`.
    """

    _fields_ = [
        *((name, _POINTER) for name in ("position", "limit", "spare", "end")),
        ("segments", ctypes.POINTER(Segment)),
        *((name, _u64) for name in ("segment_count", "segment_limit", "full")),
        *((name, _u64) for name in ("group", "simdgroups", "private_rows", "private_line")),
    ]


POSITION = Recorder.position.offset
LIMIT = Recorder.limit.offset

_TYPES: dict[object, str] = {
    _POINTER: "u64 *",
    _u64: "u64 ",
    ctypes.POINTER(Segment): "struct segment *",
}


def _structures() -> str:
    parts = []
    for structure, name in ((Segment, "segment"), (Recorder, "recorder")):
        fields = "".join(f"  {_TYPES[field[1]]}{field[0]};\n" for field in structure._fields_)
        parts.append(f"struct {name} {{\n{fields}}};")
    return "\n".join(parts)


def _source() -> str:
    shared = {
        "CONTEXT_RECORDER": c.RECORDER,
        "CONTEXT_SCRATCH": c.SCRATCH,
        "HANDLE_SHIFT": c.HANDLE_SHIFT,
        "THREADGROUP_HANDLE": c.THREADGROUP_HANDLE,
        "PRIVATE_LINES": PRIVATE_LINES,
        "LINE_BYTES": r.LINE_BYTES,
        "BANKS": r.BANKS,
        "BANK_BYTES": r.BANK_BYTES,
        "LANES_SHIFT": r.LANES_SHIFT,
        "LINES_SHIFT": r.LINES_SHIFT,
        "WORDS_SHIFT": r.WORDS_SHIFT,
        "WAYS_SHIFT": r.WAYS_SHIFT,
        "SHARING_SHIFT": r.SHARING_SHIFT,
        "BYTES_SHIFT": r.BYTES_SHIFT,
        "FIRST_ROW_SHIFT": r.FIRST_ROW_SHIFT,
        "LAST_ROW_SHIFT": r.LAST_ROW_SHIFT,
        "CONSECUTIVE": r.CONSECUTIVE,
        "CACHED": r.CACHED,
    }
    numbers = "\n".join(f"#define {name} {value}ull" for name, value in shared.items())
    text = files(__package__).joinpath("tape.c").read_text()
    return f"{numbers}\n{text.replace('STRUCTURES', _structures(), 1)}"


@functools.cache
def load_record() -> LoadedCode:
    """Compile the functions, or take them from the cache, and make their symbols known."""
    return load_c(_source(), "record", FUNCTIONS)
