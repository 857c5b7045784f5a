"""Places in the user's source."""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Site:
    """A place in the user's source; `inlined` leads outwards through the callers.

    The callers in it have no chains of their own: with them it would double with each call.
    """

    file: str = ""
    line: int = 0
    column: int = 0
    function: str = ""
    inlined: tuple[Site, ...] = ()

    @property
    def scope(self) -> tuple[str, str, tuple[Site, ...]]:
        """The function that the place is in, as it was called: lines compare within one."""
        return self.file, self.function, self.inlined

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.file else "unknown source line"


@functools.lru_cache(maxsize=1 << 12)
def shortened(file: str) -> str:
    """A path from the current folder on, if it lies there."""
    try:
        short = os.path.relpath(file)
    except ValueError:  # another drive
        return file
    return file if short.startswith("..") else short


def shown_line(text: str) -> str:
    """A line of source as a terminal may show it: what is not printed, which could be commands to
    the terminal, is replaced, sign for sign.
    """
    return "".join(c if c == "\t" or c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
