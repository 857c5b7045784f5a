"""A text of which parts are removed; what is left knows where it stood."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

Range = tuple[int, int]
Unit = Range | tuple[Range, ...]
"""What is removed in one go."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """A text less some ranges, which are in order and do not overlap."""

    source: str
    removed: tuple[Range, ...] = ()

    def without(self, ranges: Iterable[Range]) -> Pieces:
        """Less further ranges."""
        found: list[Range] = []
        for start, end in sorted([*self.removed, *ranges]):
            if found and start <= found[-1][1]:
                found[-1] = found[-1][0], max(found[-1][1], end)
            elif start < end:
                found.append((start, end))
        return Pieces(self.source, tuple(found))

    def has(self, start: int, end: int) -> bool:
        """Whether something of a range is left that is no blank."""
        for begin, stop in self.removed:
            if begin <= start < stop:
                start = stop
        return start < end and bool(self.source[start:end].strip())

    @property
    def text(self) -> str:
        """What is left."""
        parts, at = [], 0
        for start, end in self.removed:
            parts.append(self.source[at:start])
            at = end
        return "".join([*parts, self.source[at:]])

    def origin(self, offset: int) -> int:
        """Where a character of what is left stands in the whole text."""
        for start, end in self.removed:
            if start > offset:
                break
            offset += end - start
        return offset
