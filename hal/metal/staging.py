"""Staging memory of submissions: argument buffers and small uploads, reused when they are done."""

from __future__ import annotations

import threading
from typing import Any

from ..observe import current_watch

_SMALLEST = 64 << 10
_ALIGNMENT = 16
_KEPT = 8


class Staging:
    """One shared MTLBuffer, given out from its start to its end."""

    __slots__ = ("bytes", "handle", "size", "used")

    def __init__(self, handle: Any, size: int) -> None:
        self.handle = handle
        self.size = size
        self.used = 0
        self.bytes = memoryview(handle.contents().as_buffer(size)).cast("B")

    def fits(self, size: int) -> bool:
        """Whether so many bytes are left."""
        return self.used + size <= self.size

    def reserve(self, size: int) -> int:
        """The offset of new bytes."""
        offset = self.used
        self.used = -(-(offset + size) // _ALIGNMENT) * _ALIGNMENT
        return offset


class StagingPool:
    """Buffers that finished submissions gave back."""

    def __init__(self, api: Any, device: Any) -> None:
        self._device = device
        self._options = (
            api.MTLResourceStorageModeShared
            | api.MTLResourceCPUCacheModeWriteCombined
            | api.MTLResourceHazardTrackingModeUntracked
        )
        self._free: list[Staging] = []
        self._lock = threading.Lock()

    def take(self, size: int) -> Staging:
        """A buffer with room for `size` bytes.

        While work is checked it is a new one: that a submission gave its own back only the driver
        knows, and the program's order is what is checked.
        """
        if current_watch() is not None:
            return self.lasting(max(_SMALLEST, size))
        with self._lock:
            for index, staging in enumerate(self._free):
                if staging.size >= size:
                    staging.used = 0
                    return self._free.pop(index)
        return self.lasting(max(_SMALLEST, size))

    def lasting(self, size: int) -> Staging:
        """A new buffer, which need not be given back."""
        return Staging(self._device.newBufferWithLength_options_(size, self._options), size)

    def give_back(self, staged: list[Staging]) -> None:
        """Return buffers whose submission is finished."""
        with self._lock:
            room = _KEPT - len(self._free)
            self._free += [staging for staging in staged if staging.size == _SMALLEST][:room]
