"""What was written and never read: the trace that a wrong address leaves where the right one was.

A byte that is overwritten, or left at the end, before anybody has read it was written in vain. In a
correct program only padding is: gaps between planes, the ends of blocks of commands.
"""

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from .ranges import Ranges

_PAGE = 1 << 16
Owners = NDArray[np.int32]
Lost = tuple[int, str, int, int]
"""(who wrote, memory, start, stop): bytes written in vain."""


class Unread:
    """Who wrote each byte that nobody has read since; 0 for all others."""

    def __init__(self, padding: Sequence[tuple[str, int, int]] = ()) -> None:
        """`padding`: (memory, start, stop) of bytes that need not be read."""
        self._pages: dict[tuple[str, int], Owners] = {}
        self._padding = tuple(padding)

    def write(self, owner: int, memory: str, ranges: Ranges) -> list[Lost]:
        """Somebody writes; gives what is lost by that."""
        lost: list[Lost] = []
        for start, stop in ranges:
            for at, piece in self._pieces(memory, start, stop):
                lost += _runs(memory, at, piece)
                piece[:] = owner
        for name, start, stop in self._padding:
            if name == memory:
                self._clear(memory, start, stop)
        return lost

    def read(self, memory: str, ranges: Ranges) -> None:
        """Somebody reads."""
        for start, stop in ranges:
            self._clear(memory, start, stop)

    def read_all(self, memory: str) -> None:
        """Somebody reads where data say: it may be anything."""
        for (name, _), page in self._pages.items():
            if name == memory:
                page[:] = 0

    def rest(self) -> list[Lost]:
        """What nobody has read so far."""
        found: list[Lost] = []
        for (memory, number), page in sorted(self._pages.items(), key=lambda item: item[0]):
            found += _runs(memory, number * _PAGE, page)
        return found

    def _clear(self, memory: str, start: int, stop: int) -> None:
        for _, piece in self._pieces(memory, start, stop):
            piece[:] = 0

    def _pieces(self, memory: str, start: int, stop: int) -> Iterator[tuple[int, Owners]]:
        """(address, the owners from there on) of each page that a range touches."""
        while start < stop:
            number, inside = divmod(start, _PAGE)
            count = min(_PAGE - inside, stop - start)
            page = self._pages.setdefault((memory, number), np.zeros(_PAGE, np.int32))
            yield start, page[inside : inside + count]
            start += count


def _runs(memory: str, start: int, owners: Owners) -> list[Lost]:
    """Runs of bytes of one owner."""
    if not owners.any():
        return []
    edges = [0, *(np.flatnonzero(np.diff(owners)) + 1).tolist(), len(owners)]
    return [
        (int(owners[first]), memory, start + first, start + last)
        for first, last in itertools.pairwise(edges)
        if owners[first]
    ]
