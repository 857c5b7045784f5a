"""Where a recording stands while it is made: all that is left if its process is killed."""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import count, takewhile
from pathlib import Path

from .records import SUFFIX


def partials_of(path: Path) -> list[Path]:
    """What processes that were to write `path` left, or write now."""
    return list(takewhile(Path.exists, _names(path)))


def new_partial(path: Path) -> tuple[Path, io.BufferedWriter]:
    """The first name that nobody has, and its file. Raises OSError."""
    for each in _names(path):
        try:
            return each, each.open("xb")
        except FileExistsError:
            continue
    raise AssertionError("names do not end")


def _names(path: Path) -> Iterator[Path]:
    for number in count(1):
        ordinal = "" if number == 1 else f"-{number}"
        yield path.with_name(f"{path.name.removesuffix(SUFFIX)}.partial{ordinal}{SUFFIX}")
