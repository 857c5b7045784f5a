"""Buffers and buffer views: device memory as the program sees it.

A `Buffer` is a range of a `Storage`, which the device's driver provides.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from .flags import BufferUsage, MemoryType, buffer_usage_text, memory_type_text
from .status import StatusError, out_of_range

WHOLE_BUFFER = 0xFFFFFFFFFFFFFFFF


class Storage(ABC):
    """Memory allocated by a device: `size` bytes."""

    size: int

    @abstractmethod
    def map(self) -> memoryview:
        """All bytes, for the host. Raises StatusError if the host cannot see them."""

    @abstractmethod
    def flush(self, offset: int, length: int) -> None:
        """Make what the host wrote visible to the device."""

    @abstractmethod
    def invalidate(self, offset: int, length: int) -> None:
        """Make what the device wrote visible to the host."""


class Buffer:
    """A byte range of device memory with what may be done with it."""

    type_name: ClassVar[str] = "hal.buffer"
    __slots__ = ("length", "memory_type", "offset", "storage", "usage")

    def __init__(
        self, storage: Storage, offset: int, length: int, memory_type: int, usage: int
    ) -> None:
        self.storage = storage
        self.offset = offset
        self.length = length
        self.memory_type = memory_type
        self.usage = usage

    def check_range(self, offset: int, length: int) -> int:
        """The length in bytes of a range (`WHOLE_BUFFER`: to the end), checked to lie inside."""
        if length == -1 or length == WHOLE_BUFFER:
            length = self.length - offset
        if offset < 0 or length < 0 or offset + length > self.length:
            raise out_of_range(
                "attempted to access an address outside of the valid buffer range "
                f"(offset={offset}, length={length}, end={offset + length - 1}, "
                f"buffer byte_length={self.length})"
            )
        return length

    def subspan(self, offset: int, length: int) -> Buffer:
        """A buffer that is a part of this one."""
        length = self.check_range(offset, length)
        return Buffer(self.storage, self.offset + offset, length, self.memory_type, self.usage)

    @property
    def host_visible(self) -> bool:
        """Whether the host can read and write it directly."""
        return bool(self.memory_type & MemoryType.HOST_VISIBLE)

    def read(self, offset: int, length: int) -> memoryview:
        """A view of bytes for the host, current as of the last finished device work."""
        self._check_mappable()
        length = self.check_range(offset, length)
        start = self.offset + offset
        self.storage.invalidate(start, length)
        return self.storage.map()[start : start + length]

    def write(self, offset: int, data: bytes | memoryview) -> None:
        """Write bytes from the host."""
        self._check_mappable()
        length = self.check_range(offset, len(data))
        start = self.offset + offset
        self.storage.map()[start : start + length] = data
        self.storage.flush(start, length)

    def _check_mappable(self) -> None:
        if not self.host_visible:
            raise StatusError(
                "PERMISSION_DENIED",
                "buffer memory type is not compatible with the requested operation; buffer has "
                f"{memory_type_text(self.memory_type)}, operation requires HOST_VISIBLE",
            )
        if not self.usage & BufferUsage.MAPPING_SCOPED:
            raise StatusError(
                "PERMISSION_DENIED",
                "requested usage was not specified when the buffer was allocated; buffer allows "
                f"{buffer_usage_text(self.usage)}, operation requires MAPPING_SCOPED",
            )


class BufferView:
    """A buffer with a shape and an element type."""

    type_name: ClassVar[str] = "hal.buffer_view"
    __slots__ = ("buffer", "element_type", "encoding_type", "shape")

    def __init__(
        self, buffer: Buffer, shape: tuple[int, ...], element_type: int, encoding_type: int
    ) -> None:
        self.buffer = buffer
        self.shape = shape
        self.element_type = element_type
        self.encoding_type = encoding_type


class File:
    """A read-only source of bytes that queues can read from."""

    type_name: ClassVar[str] = "hal.file"
    __slots__ = ("data",)

    def __init__(self, data: memoryview) -> None:
        self.data = data

    def span(self, offset: int, length: int) -> memoryview:
        """A byte range of the file."""
        if offset < 0 or length < 0 or offset + length > len(self.data):
            raise out_of_range(
                f"file range out of bounds (offset={offset}, length={length}, "
                f"file length={len(self.data)})"
            )
        return self.data[offset : offset + length]
