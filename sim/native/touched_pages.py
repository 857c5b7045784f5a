"""Which parts of a large zeroed array anybody has written to, without reading it.

Memory that a system gives away is zero, and takes no room before it is touched; to look through it
all would touch it all.
"""

from __future__ import annotations

import mmap
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_PAGES = Path("/proc/self/pagemap")  # Linux: a word for each page of the process
_WORD = 8
_THERE_OR_SWAPPED = np.uint64(3 << 62)


def touched_parts(array: NDArray[Any], count: int) -> NDArray[np.bool_]:
    """Whether each part of `count` elements may hold anything but zeros.

    All do, where the system does not tell.
    """
    parts = -(-array.size // count)
    start = array.ctypes.data
    first, last = start // mmap.PAGESIZE, -(-(start + array.nbytes) // mmap.PAGESIZE)
    try:
        with _PAGES.open("rb", buffering=0) as file:
            file.seek(first * _WORD)
            pages = np.frombuffer(file.read((last - first) * _WORD), np.uint64)
    except OSError:
        return np.ones(parts, np.bool_)
    if pages.size != last - first:
        return np.ones(parts, np.bool_)
    written = np.flatnonzero(pages & _THERE_OR_SWAPPED)
    sums = np.searchsorted(written, _pages_of(start, first, array.itemsize * count, parts))
    return np.asarray(sums[1] > sums[0])


def _pages_of(start: int, first: int, size: int, parts: int) -> NDArray[np.int64]:
    """For each part the first of its pages, and the one behind the last, counted from `first`."""
    begins = start + np.arange(parts, dtype=np.int64) * size
    ends = begins + size
    return np.stack((begins // mmap.PAGESIZE, -(-ends // mmap.PAGESIZE))) - first
