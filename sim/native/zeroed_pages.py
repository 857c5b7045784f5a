"""Zeros that take no room, and no time, where nobody touches them."""

from __future__ import annotations

import contextlib
import mmap

import numpy as np
from numpy.typing import NDArray


def zeroed_pages(size: int, *, large: bool = False) -> NDArray[np.uint8]:
    """So many bytes, at the start of a page; on large pages if the system has them.

    NumPy's zeros often lie where something else lay before, and are all written then.
    """
    if not hasattr(mmap, "MAP_PRIVATE"):
        return np.zeros(size, np.uint8)
    # Not shared: of shared pages that are swapped out the system does not tell that they are there.
    pages = mmap.mmap(-1, max(size, 1), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if large and hasattr(mmap, "MADV_HUGEPAGE"):
        with contextlib.suppress(OSError):  # a kernel without large pages
            pages.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(pages, np.uint8)[:size]
