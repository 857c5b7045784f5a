"""Buffers of the Torq HAL: host memory, of which the NPU gets copies in its XRAM."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..buffer import Buffer, Storage
from ..device import Allocator, Binding, BufferRef
from ..flags import BufferUsage, MemoryType
from ..status import StatusError, invalid_argument, out_of_range

_LARGEST = 1 << 30
Bytes = NDArray[np.uint8]


class HostStorage(Storage):
    """Bytes that host and device see alike."""

    __slots__ = ("bytes", "size")

    def __init__(self, size: int) -> None:
        self.size = size
        self.bytes: Bytes = np.zeros(size, np.uint8)

    def map(self) -> memoryview:
        """All bytes, for the host."""
        return self.bytes.data

    def flush(self, offset: int, length: int) -> None:
        """Nothing to do: there is one copy."""

    def invalidate(self, offset: int, length: int) -> None:
        """Nothing to do: there is one copy."""


class TorqAllocator(Allocator):
    """Every buffer is host memory; the board's processors and the NPU share their DRAM."""

    def allocate(self, memory_type: int, usage: int, size: int) -> Buffer:
        """A new buffer of zeros."""
        size = size & 0xFFFFFFFFFFFFFFFF
        if size > _LARGEST:
            raise StatusError(
                "RESOURCE_EXHAUSTED",
                f"unable to allocate buffer: {size} bytes asked for, {_LARGEST} are possible",
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
