"""Buffers that were never written as a whole, and shadows that say which bytes were not.

The device fills a new buffer with words that no program writes by chance. A word that still has
its value was not written by the host; what kernels write is noted in the shadow.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ...native.zeroed_pages import zeroed_pages
from ..ir import context as c
from .memory import Memory

Bytes = NDArray[np.uint8]


class UninitialisedBuffers:
    """Shadows of the buffers of one device, of equal size, 255 where a byte was never written."""

    def __init__(self) -> None:
        # Host address of a buffer's shadow by handle; 0 if all of it is initialised.
        self.table: NDArray[np.uint64] = zeroed_pages(8 * c.TABLE_ENTRIES).view(np.uint64)
        self._shadows: dict[int, tuple[int, Bytes]] = {}

    def refresh(self, memory: Memory, handles: Iterable[int]) -> None:
        """Bring the shadows of the buffers that a dispatch can reach up to date."""
        for handle in handles:
            untouched = memory.untouched(handle)
            if untouched is None:
                self._drop(handle)
                continue
            stamp, shadow = untouched
            known = self._shadows.get(handle)
            if known is not None and known[0] == stamp:
                shadow &= known[1]
            if not shadow.any():
                memory.note_written(handle)
                self._drop(handle)
                continue
            self._shadows[handle] = (stamp, shadow)
            self.table[handle] = shadow.ctypes.data

    def _drop(self, handle: int) -> None:
        self._shadows.pop(handle, None)
        self.table[handle] = 0
