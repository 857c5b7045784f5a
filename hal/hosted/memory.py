"""Buffers in host memory, which host and device see alike."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..buffer import Buffer, Storage
from ..device import Allocator, Binding, BufferRef
from ..flags import BufferUsage, MemoryType
from ..status import StatusError, invalid_argument, out_of_range

ALIGNMENT = 64
"""Of storages, in bytes: what compiled code for CPUs takes for granted."""
Bytes = NDArray[np.uint8]


class HostStorage(Storage):
    """Bytes that host and device see alike."""

    __slots__ = ("bytes", "size")

    def __init__(self, size: int) -> None:
        self.size = size
        whole = np.zeros(size + ALIGNMENT, np.uint8)
        start = -int(whole.ctypes.data) % ALIGNMENT
        self.bytes: Bytes = whole[start : start + size]

    def map(self) -> memoryview:
        """All bytes, for the host."""
        return self.bytes.data

    def flush(self, offset: int, length: int) -> None:
        """Nothing to do: there is one copy."""

    def invalidate(self, offset: int, length: int) -> None:
        """Nothing to do: there is one copy."""


class HostAllocator(Allocator):
    """Every buffer is host memory, of at most `largest` bytes."""

    def __init__(self, largest: int) -> None:
        self._largest = largest

    def allocate(self, memory_type: int, usage: int, size: int) -> Buffer:
        """A new buffer of zeros."""
        size = size & 0xFFFFFFFFFFFFFFFF
        if size > self._largest:
            raise StatusError(
                "RESOURCE_EXHAUSTED",
                f"unable to allocate buffer: {size} bytes asked for, {self._largest} are possible",
            )
        visible = MemoryType.HOST_LOCAL | MemoryType.DEVICE_VISIBLE
        usage |= BufferUsage.MAPPING_SCOPED
        kept = memory_type & ~MemoryType.OPTIMAL | visible
        return Buffer(HostStorage(size), 0, size, kept, usage)

    def import_host(self, data: memoryview, memory_type: int, usage: int) -> Buffer | None:
        """Never: programs then read host memory as a file."""
        del data, memory_type, usage
        return None


def view(reference: BufferRef, bindings: tuple[Binding, ...]) -> Bytes:
    """The bytes that a reference stands for in one submission. Raises StatusError."""
    if reference.buffer is not None:
        return _bytes(reference.buffer, reference.offset, reference.length)
    if not 0 <= reference.slot < len(bindings):
        raise out_of_range(
            f"binding slot {reference.slot} of {len(bindings)} in the submission's table"
        )
    binding = bindings[reference.slot]
    if binding.buffer is None:
        raise invalid_argument(f"binding slot {reference.slot} has no buffer")
    length = binding.buffer.check_range(binding.offset, binding.length)
    part = binding.buffer.subspan(binding.offset, length)
    return _bytes(part, reference.offset, reference.length)


def _bytes(buffer: Buffer, offset: int, length: int) -> Bytes:
    length = buffer.check_range(offset, length)
    if not isinstance(buffer.storage, HostStorage):
        raise invalid_argument("the buffer was made for another device")
    start = buffer.offset + offset
    return buffer.storage.bytes[start : start + length]
