"""The memory that taped kernels and the host share."""

from __future__ import annotations

import ctypes

from ...native.structures import pointer
from ..ir import context as c
from .tape import LINE_BYTES

PRIVATE_LINES = (c.PRIVATE_HANDLE << c.HANDLE_SHIFT) // LINE_BYTES

_WORDS = pointer("u64")
_u64 = ctypes.c_uint64


class Segment(ctypes.Structure):
    """Where a stream, by its number, begins or goes on."""

    _fields_ = [("start", _WORDS), ("stream", _u64)]


class TapeWriter(ctypes.Structure):
    """Where a taped kernel writes.

    `position` is where the next event goes; the room up to `limit` suffices for any block. When
    it is used up, `end` is where the tape ends and blocks are written to `spare`.
    """

    _fields_ = [
        *((name, _WORDS) for name in ("position", "limit", "spare", "end")),
        ("segments", ctypes.POINTER(Segment)),
        *((name, _u64) for name in ("segment_count", "segment_limit", "full")),
        *((name, _u64) for name in ("group", "simdgroups", "private_rows", "private_line")),
    ]


POSITION = TapeWriter.position.offset
LIMIT = TapeWriter.limit.offset
