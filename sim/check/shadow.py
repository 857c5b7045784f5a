"""Shadow memory: for every watched buffer, records of who accessed it last."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ..native.touched_pages import touched_parts
from ..native.zeroed_pages import zeroed_pages
from . import layout

Records = NDArray[np.uint64]
_LARGE = 1 << 22  # bytes
_ALIGNMENT = 4096  # so that the records of a run have one lock
_PIECE = 1 << 16  # records that are cleared together
GRANULE = 4  # bytes of a buffer that share a record


class Shadows:
    """The shadows of one device's buffers.

    Records carry the number of their dispatch, so that they need no clearing. What orders one
    dispatch after another is judged elsewhere, from what each of them touched.
    """

    def __init__(self, entries: int) -> None:
        # Pages that no buffer needs are never touched: each checker has a table of its own.
        room = zeroed_pages(entries * ctypes.sizeof(layout.Buffer))
        self.table = (layout.Buffer * entries).from_buffer(room.data)
        self.locks = np.zeros(layout.LOCKS, np.uint32)
        self.tag = 0
        self.turn = threading.Lock()  # whose dispatch the records are made by
        self._records: dict[int, tuple[int, tuple[Records, ...]]] = {}
        self._runs: dict[int, tuple[Records, Records]] = {}  # of writes, of reads
        self._marked: set[int] = set()  # buffers with records since the tags began anew

    def begin(self) -> None:
        """Begin a dispatch."""
        self.tag += 1
        if self.tag <= layout.TAGS:
            return
        self.tag = 1
        for handle in self._marked & set(self._records):
            for array in self._records[handle][1]:
                _clear(array)
            for runs in self._runs[handle]:
                runs[:] = 0
        self._marked.clear()

    def keep(self, live: Iterable[int]) -> None:
        """Forget buffers that are gone."""
        for handle in set(self._records) - set(live):
            del self._records[handle], self._runs[handle]
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
            runs = -(-granules // layout.RUN)
            self._runs[handle] = (_zeroed(runs), _zeroed(runs))
        self._marked.add(handle)
        _, arrays = self._records[handle]
        entry = self.table[handle]
        names = ("written", "read", "lane_written", "lane_read")
        shown = [
            *zip(names, arrays, strict=False),
            *zip(("runs", "read_runs"), self._runs[handle], strict=True),
        ]
        for name, array in shown:
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
        if known is None:
            return None
        runs, read_runs = self._runs[handle]
        _expand(known[1][0], runs)
        _expand_reads(known[1][1], read_runs)
        return (known[1][0], known[1][1])


def _expand(written: Records, runs: Records) -> None:
    """Let the record of each granule hold for itself, as runs.c does for one run."""
    found = np.flatnonzero(runs > layout.EXPANDED)
    chosen = runs[found]
    full = np.uint64(layout.FULL_GRANULE << layout.MASK_SHIFT)
    steps = (chosen >> np.uint64(layout.MASK_SHIFT) & np.uint64(layout.FULL_GRANULE)) - np.uint64(1)
    for shift in np.unique(steps):
        these = steps == shift
        lanes = np.arange(layout.RUN, dtype=np.uint64) >> shift << np.uint64(layout.LANE_SHIFT)
        _whole(written)[found[these]] = (chosen[these] | full)[:, None] + lanes
    runs[runs != 0] = layout.EXPANDED


def _expand_reads(read: Records, runs: Records) -> None:
    found = np.flatnonzero(runs > layout.EXPANDED)
    _whole(read)[found] = runs[found][:, None]
    runs[found] = layout.EXPANDED


def _whole(records: Records) -> Records:
    """Records by runs. A last run of fewer granules is never one record."""
    return records[: records.size // layout.RUN * layout.RUN].reshape(-1, layout.RUN)


def _clear(records: Records) -> None:
    """Make all records those of nothing, without touching large memory that holds none."""
    if records.nbytes < _LARGE:
        records[:] = 0
        return
    for number in np.flatnonzero(touched_parts(records, _PIECE)):
        records[number * _PIECE : (number + 1) * _PIECE] = 0


def _zeroed(count: int) -> Records:
    """Records of nothing; large ones on large pages, which are cheaper to touch the first time."""
    size = count * 8
    if size < _LARGE:
        raw = np.zeros(size + _ALIGNMENT, np.uint8)
        start = -raw.ctypes.data % _ALIGNMENT
        return raw[start : start + size].view(np.uint64)
    return zeroed_pages(size, large=True).view(np.uint64)
