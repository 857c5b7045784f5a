"""FlatBuffers read field by field, every offset checked: a file that is cut short says so."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Self


class Truncated(ValueError):
    """An offset that leads out of the file."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table at a place of a file."""

    data: bytes
    place: int

    @classmethod
    def root(cls, data: bytes) -> Self:
        """The table that a file begins with."""
        return cls(data, _number(data, 0, "<I"))

    def _field(self, index: int) -> int:
        """Where a field is; 0 if it is not there."""
        layout = self.place - _number(self.data, self.place, "<i")
        size = _number(self.data, layout, "<H")
        if 4 + 2 * index >= size:
            return 0
        offset = _number(self.data, layout + 4 + 2 * index, "<H")
        return self.place + offset if offset else 0

    def integer(self, index: int, kind: str = "<i", default: int = 0) -> int:
        """A number."""
        place = self._field(index)
        return _number(self.data, place, kind) if place else default

    def table(self, index: int) -> Table | None:
        """A table inside."""
        place = self._field(index)
        return Table(self.data, self._target(place)) if place else None

    def tables(self, index: int) -> list[Table]:
        """A vector of tables."""
        start, count = self._vector(index)
        self._reach(start, 4 * count)
        return [Table(self.data, self._target(start + 4 * i)) for i in range(count)]

    def integers(self, index: int, kind: str = "i") -> tuple[int, ...]:
        """A vector of numbers."""
        start, count = self._vector(index)
        self._reach(start, struct.calcsize(f"<{kind}") * count)
        return struct.unpack_from(f"<{count}{kind}", self.data, start)

    def length(self, index: int) -> int:
        """How long a vector is; 0 if it is not there."""
        return self._vector(index)[1]

    def text(self, index: int) -> str:
        """A string."""
        start, count = self._vector(index)
        self._reach(start, count)
        return self.data[start : start + count].decode(errors="replace")

    def _vector(self, index: int) -> tuple[int, int]:
        place = self._field(index)
        if not place:
            return 0, 0
        start = self._target(place)
        return start + 4, _number(self.data, start, "<I")

    def _target(self, place: int) -> int:
        return place + _number(self.data, place, "<I")

    def _reach(self, start: int, size: int) -> None:
        if start + size > len(self.data):
            raise Truncated(f"it has {len(self.data)} bytes, and {start + size} are needed")


def _number(data: bytes, place: int, kind: str) -> int:
    if place < 0 or place + struct.calcsize(kind) > len(data):
        raise Truncated(f"it has {len(data)} bytes, and a number is asked for at byte {place}")
    return int(struct.unpack_from(kind, data, place)[0])
