"""Shadow memory: for every watched buffer, records of who accessed it last."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from . import layout

Records = NDArray[np.uint64]
GRANULE = 4  # bytes of a buffer that share a record


class Shadows:
    """The shadows of one device's buffers.

    Records carry the number of the dispatch's ordering group, so that they need no clearing: what
    an earlier group left behind is ordered before everything now.
    """

    def __init__(self, entries: int) -> None:
        self.table = (layout.Buffer * entries)()
        self.locks = np.zeros(layout.LOCKS, np.uint32)
        self.tag = 0
        self._group: int | None = None
        self._groups_used = 0
        self._records: dict[int, tuple[int, Records, Records]] = {}

    def begin(self, ordering: int | None, groups: int) -> int:
        """Begin a dispatch of so many threadgroups.

        Returns the number of its first threadgroup. Dispatches with the same `ordering`, one after
        the other, are not ordered among each other; None is ordered after all before.
        """
        if ordering is None or ordering != self._group:
            self._group = ordering
            self._groups_used = 0
            self._next_tag()
        first = self._groups_used
        self._groups_used += groups
        return first

    def _next_tag(self) -> None:
        self.tag += 1
        if self.tag > layout.TAGS:
            self.tag = 1
            for _, written, read in self._records.values():
                written[:] = 0
                read[:] = 0

    def keep(self, live: Iterable[int]) -> None:
        """Forget buffers that are gone."""
        for handle in set(self._records) - set(live):
            del self._records[handle]
            self.table[handle] = layout.Buffer()

    def watch(self, handle: int, size: int, *, readers: bool) -> None:
        """Give a buffer of `size` bytes a shadow; `readers`: whether the dispatch may read it."""
        known = self._records.get(handle)
        if known is None or known[0] != size:
            granules = -(-size // GRANULE)
            written, read = (np.zeros(granules, np.uint64) for _ in range(2))
            self._records[handle] = (size, written, read)
        size, written, read = self._records[handle]
        entry = self.table[handle]
        entry.written = written.ctypes.data_as(ctypes.POINTER(ctypes.c_uint64))
        entry.read = read.ctypes.data_as(ctypes.POINTER(ctypes.c_uint64))
        entry.granules = written.size
        if readers:
            entry.has_readers = self.tag
        elif entry.has_readers != self.tag:  # nor did one that is not ordered before it
            entry.has_readers = 0

    def watched(self, handle: int) -> bool:
        """Whether a buffer has a shadow."""
        return handle in self._records
