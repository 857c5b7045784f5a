"""A text of which parts are removed or replaced; what is left knows where it stood."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

Range = tuple[int, int]
Unit = Range | tuple[Range, ...]
"""What is removed in one go."""


@dataclass(frozen=True, slots=True)
class Change:
    """A range whose place other text takes: some words, and copies of ranges of the text."""

    start: int
    end: int
    parts: tuple[str | Range, ...] = ()


@dataclass(frozen=True, slots=True)
class Pieces:
    """A text less some ranges, which are in order and do not overlap.

    Attributes:
        origins: where each character of the text stood in the text that it came from; None if it
            is that.
    """

    source: str
    removed: tuple[Range, ...] = ()
    origins: tuple[int, ...] | None = None

    def without(self, ranges: Iterable[Range]) -> Pieces:
        """Less further ranges."""
        found: list[Range] = []
        for start, end in sorted([*self.removed, *ranges]):
            if found and start <= found[-1][1]:
                found[-1] = found[-1][0], max(found[-1][1], end)
            elif start < end:
                found.append((start, end))
        return Pieces(self.source, tuple(found), self.origins)

    def settled(self) -> Pieces:
        """What is left as a text of its own."""
        text = self.text
        return Pieces(text, (), tuple(self.origin(at) for at in range(len(text))))

    def changed(self, changes: Iterable[Change]) -> Pieces:
        """A text of which nothing is removed, with parts replaced that do not overlap."""
        texts: list[str] = []
        origins: list[int] = []
        at = 0
        for change in sorted(changes, key=lambda each: each.start):
            for part in ((at, change.start), *change.parts):
                if isinstance(part, str):
                    texts.append(part)
                    origins += [self.origin(change.start)] * len(part)
                else:
                    texts.append(self.source[slice(*part)])
                    origins += map(self.origin, range(*part))
            at = change.end
        texts.append(self.source[at:])
        origins += map(self.origin, range(at, len(self.source)))
        return Pieces("".join(texts), (), tuple(origins))

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

    def place(self, offset: int) -> int:
        """Where a character of what is left stands in the text that parts are removed from."""
        for start, end in self.removed:
            if start > offset:
                break
            offset += end - start
        return offset

    def origin(self, offset: int) -> int:
        """Where a character of what is left stood in the text that it came from."""
        offset = self.place(offset)
        if self.origins is None:
            return offset
        return self.origins[offset] if offset < len(self.origins) else self._end()

    def _end(self) -> int:
        return self.origins[-1] + 1 if self.origins else 0
