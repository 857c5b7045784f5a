"""Memory of a context: allocated once where sizes are known, kept and grown where they are not."""

from __future__ import annotations

from typing import Final

from ..buffer import Buffer
from ..device import Device
from ..flags import BufferUsage, MemoryType
from ..status import StatusError

_TYPE: Final = MemoryType.DEVICE_LOCAL | MemoryType.HOST_VISIBLE
_USAGE: Final = BufferUsage.DEFAULT | BufferUsage.MAPPING


def allocate(device: Device, size: int) -> Buffer:
    """Memory of a device that the host sees. Raises StatusError."""
    return device.allocator.allocate(_TYPE, _USAGE, max(size, 4))


class Growing:
    """Memory that is kept while what is asked for fits, and grown by a quarter or more otherwise.

    The old memory goes once no work that was submitted uses it any more.
    """

    def __init__(self, device: Device) -> None:
        self._device = device
        self._buffer: Buffer | None = None
        self.allocations = 0
        """How often memory was allocated."""

    @property
    def size(self) -> int:
        """Bytes that are held."""
        return self._buffer.length if self._buffer is not None else 0

    def get(self, size: int) -> Buffer:
        """At least so many bytes. Raises StatusError, and holds what it held before then."""
        if self._buffer is None or self._buffer.length < size:
            before = self.size
            self._buffer = None  # Both need not be there at once.
            try:
                self._buffer = allocate(self._device, max(size, before + before // 4))
            except StatusError:
                if before:
                    self._buffer = allocate(self._device, before)
                raise
            self.allocations += 1
        return self._buffer

    def release(self) -> None:
        """Holds nothing any more."""
        self._buffer = None
