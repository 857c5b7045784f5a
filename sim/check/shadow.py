"""Shadow memory: for every watched buffer, records of who accessed it last."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from . import layout

Records = NDArray[np.uint64]
_LARGE = 1 << 22  # bytes
GRANULE = 4  # bytes of a buffer that share a record


class Shadows:
    """The shadows of one device's buffers.

    Records carry the number of their dispatch, so that they need no clearing. What orders one
    dispatch after another is judged elsewhere, from what each of them touched.
    """

    def __init__(self, entries: int) -> None:
        # Pages that no buffer needs are never touched: each checker has a table of its own.
        room = np.zeros(entries * ctypes.sizeof(layout.Buffer), np.uint8)
        self.table = (layout.Buffer * entries).from_buffer(room.data)
        self.locks = np.zeros(layout.LOCKS, np.uint32)
        self.tag = 0
        self._records: dict[int, tuple[int, tuple[Records, ...]]] = {}
        self._marked: set[int] = set()  # buffers with records since the tags began anew

    def begin(self) -> None:
        """Begin a dispatch."""
        self.tag += 1
        if self.tag <= layout.TAGS:
            return
        self.tag = 1
        for handle in self._marked & set(self._records):
            for array in self._records[handle][1]:
                array[:] = 0
        self._marked.clear()

    def keep(self, live: Iterable[int]) -> None:
        """Forget buffers that are gone."""
        for handle in set(self._records) - set(live):
            del self._records[handle]
            self.table[handle] = layout.Buffer()

    def watch(self, handle: int, size: int, *, readers: bool, lanes: bool) -> None:
        """Give a buffer of `size` bytes a shadow; `readers`: whether the dispatch may read it.

        `lanes`: whether lanes of a simdgroup are told apart too.
        """
        known = self._records.get(handle)
        count = 4 if lanes else 2
        if known is None or known[0] != size or len(known[1]) < count:
            granules = -(-size // GRANULE)
            made = tuple(_zeroed(granules) for _ in range(count))
            self._records[handle] = (size, made)
        self._marked.add(handle)
        _, arrays = self._records[handle]
        entry = self.table[handle]
        names = ("written", "read", "lane_written", "lane_read")
        for name, array in zip(names, arrays, strict=False):
            setattr(entry, name, array.ctypes.data_as(ctypes.POINTER(ctypes.c_uint64)))
        entry.granules = arrays[0].size
        if readers:
            entry.has_readers = self.tag
        elif entry.has_readers != self.tag:  # nor did one that is not ordered before it
            entry.has_readers = 0

    def watched(self, handle: int) -> bool:
        """Whether a buffer has a shadow."""
        return handle in self._records

    def records(self, handle: int) -> tuple[Records, Records] | None:
        """Who wrote and who read each granule of a buffer last; None if it has no shadow."""
        known = self._records.get(handle)
        return None if known is None else (known[1][0], known[1][1])


def _zeroed(count: int) -> Records:
    """Records of nothing; large ones on large pages, which are cheaper to touch the first time."""
    size = count * 8
    if size < _LARGE or not hasattr(mmap, "MADV_HUGEPAGE"):
        return np.zeros(count, np.uint64)
    pages = mmap.mmap(-1, size)
    with contextlib.suppress(OSError):  # a kernel without large pages
        pages.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(pages, np.uint64)
