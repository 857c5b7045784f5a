"""Parts of a text replaced."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Edit:
    """What stands from `start` up to `end`, in characters, is replaced."""

    start: int
    end: int
    text: str = ""


def applied(source: str, edits: Iterable[Edit]) -> str:
    """The source with edits that do not overlap."""
    for edit in sorted(edits, key=lambda each: (each.start, each.end), reverse=True):
        source = source[: edit.start] + edit.text + source[edit.end :]
    return source


def offset_of(source: str, line: int, column: int) -> int:
    """Where a line and column, both from 1, stand in a text; its end if it is shorter."""
    lines = source.split("\n")
    if not 0 < line <= len(lines):
        return len(source)
    return sum(len(each) + 1 for each in lines[: line - 1]) + max(column - 1, 0)
