"""Which bytes of the memories have been written."""

import numpy as np
from numpy.typing import NDArray

from .ranges import Ranges

_PAGE = 1 << 16
Flags = NDArray[np.bool_]


class Shadow:
    """A flag per byte, in pages that are made when touched."""

    def __init__(self) -> None:
        self._pages: dict[tuple[str, int], Flags] = {}

    def mark(self, memory: str, start: int, stop: int) -> None:
        """Somebody wrote these bytes."""
        self.put(memory, start, np.ones(stop - start, np.bool_))

    def put(self, memory: str, start: int, flags: Flags) -> None:
        """Sets the flags of bytes from `start` on."""
        done = 0
        while done < len(flags):
            number, inside = divmod(start + done, _PAGE)
            count = min(_PAGE - inside, len(flags) - done)
            page = self._pages.setdefault((memory, number), np.zeros(_PAGE, np.bool_))
            page[inside : inside + count] = flags[done : done + count]
            done += count

    def get(self, memory: str, start: int, stop: int) -> Flags:
        """The flags of bytes."""
        found = np.zeros(stop - start, np.bool_)
        done = 0
        while start + done < stop:
            number, inside = divmod(start + done, _PAGE)
            count = min(_PAGE - inside, stop - start - done)
            page = self._pages.get((memory, number))
            if page is not None:
                found[done : done + count] = page[inside : inside + count]
            done += count
        return found

    def keep(self, memory: str) -> None:
        """Forgets what was written to any other memory."""
        self._pages = {key: page for key, page in self._pages.items() if key[0] == memory}

    def unwritten(self, memory: str, ranges: Ranges) -> Ranges:
        """Those bytes that nobody wrote."""
        found: list[tuple[int, int]] = []
        for start, stop in ranges:
            flags = self.get(memory, start, stop)
            if flags.all():
                continue
            edges = np.flatnonzero(np.diff(np.concatenate([[True], flags, [True]]).astype(np.int8)))
            pairs = (start + edges).reshape(-1, 2)
            found += [(int(first), int(last)) for first, last in pairs]
        return tuple(found)
