"""What a format's reader finds for a key, and reading numbers with bounds checks."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from ...status import StatusError


@dataclass(frozen=True, slots=True)
class Splat:
    """A pattern repeated over `length` bytes; nothing is stored."""

    length: int
    pattern: bytes


Found = tuple[int, int] | Splat
"""(byte offset in the file, length), or a splat."""


class Cursor:
    """Reads a file front to back; running past the end is the file's error, not a crash."""

    def __init__(self, data: memoryview, name: str) -> None:
        self.data = data
        self.name = name
        self.position = 0

    def take(self, size: int) -> memoryview:
        """The next bytes."""
        if size < 0 or self.position + size > len(self.data):
            raise self.damaged(f"{size} bytes wanted at {self.position} of {len(self.data)}")
        start, self.position = self.position, self.position + size
        return self.data[start : self.position]

    def number(self, code: str) -> int:
        """The next little-endian number by its `struct` letter."""
        layout = "<" + code
        return int(struct.unpack(layout, self.take(struct.calcsize(layout)))[0])

    def damaged(self, detail: str) -> StatusError:
        """The error for a file that is not what its name says."""
        return StatusError(
            "INVALID_ARGUMENT", f"{self.name}: damaged or truncated parameter file: {detail}"
        )
