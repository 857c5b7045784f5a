"""A device's address space: buffers, their GPU addresses, and the table kernels find them in."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import context as c

OFFSET_MASK = (1 << c.HANDLE_SHIFT) - 1
MAX_BUFFER = 1 << 40


@dataclass(slots=True)
class _Entry:
    data: NDArray[np.uint8]
    name: str


class Memory:
    """Buffers of one device. An address is a handle above 48 bits of byte offset.

    Thread-safe. Kernels can reach the bytes of live buffers and nothing else.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a finaliser may release a buffer meanwhile
        self._entries: dict[int, _Entry] = {}
        self._next = c.FIRST_BUFFER_HANDLE
        # (host address, size in bytes) by handle; a free handle has size 0.
        self.table: NDArray[np.uint64] = np.zeros((c.TABLE_ENTRIES, 2), np.uint64)

    def register(self, buffer: memoryview | NDArray[np.uint8], *, name: str) -> int:
        """Make host memory a buffer; returns the GPU address of its first byte.

        Args:
            buffer: writable, contiguous bytes; kept alive until `release`.
            name: what messages call the buffer.

        Raises:
            ValueError: if the memory is read-only, not contiguous or too large.
            MemoryError: if all handles are taken.
        """
        data = np.frombuffer(buffer, np.uint8) if isinstance(buffer, memoryview) else buffer
        if data.dtype != np.uint8 or not data.flags.c_contiguous or not data.flags.writeable:
            raise ValueError(f"buffer '{name}': expected writable, contiguous bytes")
        data = data.reshape(-1)
        if data.nbytes >= MAX_BUFFER:
            raise ValueError(f"buffer '{name}': {data.nbytes} bytes; at most {MAX_BUFFER - 1}")
        with self._lock:
            handle = self._free_handle()
            self._entries[handle] = _Entry(data, name)
            self.table[handle] = (data.ctypes.data, data.nbytes)
        return handle << c.HANDLE_SHIFT

    def _free_handle(self) -> int:
        # Handles are reused late, so that an old address is not soon somebody else's.
        for _ in range(c.TABLE_ENTRIES):
            handle = self._next
            self._next = handle + 1 if handle + 1 < c.TABLE_ENTRIES else c.FIRST_BUFFER_HANDLE
            if handle not in self._entries:
                return handle
        raise MemoryError(f"all {c.TABLE_ENTRIES - c.FIRST_BUFFER_HANDLE} buffers are in use")

    def release(self, address: int) -> None:
        """Forget a buffer; its address is invalid from now on.

        Raises:
            KeyError: if the address is not of a live buffer.
        """
        handle = address >> c.HANDLE_SHIFT
        with self._lock:
            del self._entries[handle]
            self.table[handle] = (0, 0)

    def rename(self, address: int, name: str) -> None:
        """Change what messages call a buffer."""
        with self._lock:
            self._entries[address >> c.HANDLE_SHIFT].name = name

    def describe(self, address: int) -> tuple[str, int, int]:
        """(name, byte offset, length) of what an address is in or next to.

        The name is empty and the length -1 if no live buffer is near.
        """
        handle, offset = address >> c.HANDLE_SHIFT, address & OFFSET_MASK
        if offset >> (c.HANDLE_SHIFT - 1):  # before the start of the next handle's buffer
            handle, offset = handle + 1, offset - (1 << c.HANDLE_SHIFT)
        with self._lock:
            entry = self._entries.get(handle)
            if entry is None:
                return "", offset, -1
            return entry.name, offset, entry.data.nbytes

    @property
    def identity(self) -> object:
        """What all views of the same buffers have in common."""
        return self._entries

    def handles(self) -> list[int]:
        """Handles of all live buffers."""
        with self._lock:
            return list(self._entries)

    def size(self, handle: int) -> int:
        """Bytes of a buffer; 0 if there is none."""
        with self._lock:
            entry = self._entries.get(handle)
            return entry.data.nbytes if entry is not None else 0

    def addresses_in(self, handle: int) -> list[int]:
        """The aligned 64-bit words of a buffer that are addresses in live buffers."""
        with self._lock:
            entry = self._entries.get(handle)
            if entry is None:
                return []
            words = entry.data[: entry.data.nbytes // 8 * 8].view(np.uint64)
            live = np.isin(words >> np.uint64(c.HANDLE_SHIFT), list(self._entries))
            return [int(word) for word in words[live]]

    def resolve(self, address: int) -> tuple[int, int]:
        """(host address, bytes from there to the buffer's end); (0, 0) if there is no buffer."""
        handle, offset = address >> c.HANDLE_SHIFT, address & OFFSET_MASK
        if handle >= c.TABLE_ENTRIES:
            return 0, 0
        base, size = (int(x) for x in self.table[handle])
        return (base + offset, size - offset) if offset < size else (0, 0)
