"""The `[[...]]` attributes of MSL: read, recorded, and removed when C++ has none such."""

from __future__ import annotations

import bisect
from dataclasses import dataclass

from .lexer import TokenStream

_STANDARD = frozenset(
    {
        "maybe_unused",
        "nodiscard",
        "likely",
        "unlikely",
        "fallthrough",
        "noreturn",
        "deprecated",
        "no_unique_address",
    }
)


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute: its name, the source text of its argument (or ""), and where it stands."""

    name: str
    argument: str
    index: int
    last: int


class Attributes:
    """All attributes of a text, by the place of their opening brackets.

    MSL's own are blanked in the stream; those of C++ and clang stay.
    """

    def __init__(self, stream: TokenStream) -> None:
        self._stream = stream
        self._groups: list[tuple[int, int, list[Attribute]]] = []
        self._spans: dict[int, int] = {}
        texts, match = stream.texts, stream.match
        index, count = 0, len(texts)
        while index < count - 1:
            opens = texts[index] == "[" and texts[index + 1] == "["
            if opens and match[index] == match[index + 1] + 1:
                end = match[index]
                group = self._read(index + 2, end - 2)
                self._groups.append((index, end, group))
                self._spans[index] = end
                index = end
            index += 1
        self._starts = [start for start, _, _ in self._groups]

    def _read(self, first: int, last: int) -> list[Attribute]:
        """Attributes between the brackets; blanks the group if none of them is C++'s."""
        stream, texts = self._stream, self._stream.texts
        found: list[Attribute] = []
        keep = False
        index = first
        while index <= last:
            if texts[index] == ",":
                index += 1
                continue
            start, name = index, texts[index]
            if index + 2 <= last and texts[index + 1] == "::":
                name = f"{name}::{texts[index + 2]}"
                index += 2
            argument = ""
            if index + 1 <= last and texts[index + 1] == "(":
                close = stream.match[index + 1]
                argument = stream.source(index + 2, close - 1)
                index = close
            keep = keep or name in _STANDARD or "::" in name
            found.append(Attribute(name, argument, start, index))
            index += 1
        if not keep:
            stream.blank(first - 2, last + 2)
        return found

    def end_of_group(self, index: int) -> int | None:
        """Index of the last bracket if an attribute group opens at `index`."""
        return self._spans.get(index)

    def covers(self, index: int) -> bool:
        """Whether the token `index` lies in an attribute group."""
        place = bisect.bisect_right(self._starts, index) - 1
        return place >= 0 and index <= self._groups[place][1]

    def within(self, first: int, last: int) -> dict[str, str]:
        """Names and arguments of the attributes whose brackets lie in first..last."""
        found: dict[str, str] = {}
        for place in range(bisect.bisect_left(self._starts, first), len(self._groups)):
            start, end, group = self._groups[place]
            if start > last:
                break
            if end <= last:
                found |= {attribute.name: attribute.argument for attribute in group}
        return found
