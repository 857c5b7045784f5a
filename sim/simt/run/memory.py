"""A device's address space: buffers, their GPU addresses, and the table kernels find them in."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..ir import context as c

OFFSET_MASK = (1 << c.HANDLE_SHIFT) - 1
MAX_BUFFER = 1 << 40
_REMEMBERED = 4096  # buffers that are gone and can still be named
_NO_BYTES = np.zeros(0, np.uint8)


@dataclass(slots=True)
class _Entry:
    data: NDArray[np.uint8]
    name: str
    stamp: int = 0  # not 0 while words that nobody wrote may be left
    withdrawn: str = ""  # why kernels may not reach it for now


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tables:
    """Tables that a restricted view uses; all zero between uses."""

    buffers: NDArray[np.uint64]
    address: int  # of `buffers` in the host's memory
    read_only: NDArray[np.uint8]

    @classmethod
    def empty(cls) -> _Tables:
        """Fresh ones, whose pages take no memory until they are used."""
        buffers = np.zeros((c.TABLE_ENTRIES, 2), np.uint64)
        return cls(
            buffers=buffers,
            address=buffers.ctypes.data,
            read_only=np.zeros(c.TABLE_ENTRIES, np.uint8),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Absence:
    """Why memory that an address once named cannot be reached.

    Attributes:
        kind: `use-after-free` or `not-resident`.
        why: a clause that follows the buffer's name: `which was released`.
    """

    kind: str
    why: str


class Memory:
    """Buffers of one device. An address is a handle above 48 bits of byte offset.

    Thread-safe. Kernels can reach the bytes of live buffers and nothing else.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a finaliser may release a buffer meanwhile
        self._entries: dict[int, _Entry] = {}
        self._gone: dict[int, _Entry] = {}  # released, oldest first; without their bytes
        self._next = c.FIRST_BUFFER_HANDLE
        self._stamps = 0
        self._tables: list[_Tables] = []  # of restricted views, not in use
        # (host address, size in bytes) by handle; a free handle has size 0.
        self.table: NDArray[np.uint64] = np.zeros((c.TABLE_ENTRIES, 2), np.uint64)
        self.table_address: int = self.table.ctypes.data
        # 1 by handle where a write is a mistake. Only checks look at it.
        self.read_only: NDArray[np.uint8] = np.zeros(c.TABLE_ENTRIES, np.uint8)

    def register(self, buffer: memoryview | NDArray[np.uint8], *, name: str) -> int:
        """Make host memory a buffer; returns the GPU address of its first byte.

        Args:
            buffer: writable, contiguous bytes; kept alive until `release`.
            name: what messages call the buffer; "" if it has no name.

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
            self._gone.pop(handle, None)
            self.table[handle] = (data.ctypes.data, data.nbytes)
        return handle << c.HANDLE_SHIFT

    def _free_handle(self) -> int:
        # Handles are reused late, so that an old address is not soon that of another buffer.
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
            entry = self._entries.pop(handle)
            self.table[handle] = (0, 0)
            if len(self._gone) >= _REMEMBERED:
                del self._gone[next(iter(self._gone))]
            self._gone[handle] = _Entry(_NO_BYTES, entry.name, withdrawn="which was released")

    def withdraw(self, address: int, why: str) -> None:
        """Let kernels not reach a buffer until `restore`; `why` is a clause for messages."""
        handle = address >> c.HANDLE_SHIFT
        with self._lock:
            self._entries[handle].withdrawn = why
            self.table[handle] = (0, 0)

    def restore(self, address: int) -> None:
        """Let kernels reach a withdrawn buffer again."""
        handle = address >> c.HANDLE_SHIFT
        with self._lock:
            entry = self._entries[handle]
            entry.withdrawn = ""
            self.table[handle] = (entry.data.ctypes.data, entry.data.nbytes)

    def rename(self, address: int, name: str) -> None:
        """Change what messages call a buffer."""
        with self._lock:
            self._entries[address >> c.HANDLE_SHIFT].name = name

    def describe(self, address: int) -> tuple[str, int, int]:
        """(name, byte offset, length) of what an address is in or next to.

        The length is -1 if no live buffer is near; the name is empty if there never was one.
        """
        handle, offset = _near(address)
        with self._lock:
            entry = self._entries.get(handle)
            if entry is None:
                gone = self._gone.get(handle)
                return gone.name if gone else "", offset, -1
            return entry.name, offset, entry.data.nbytes

    def leave_uninitialised(self, address: int, seed: int = 0) -> None:
        """Fill a buffer with words by which it is seen later what nobody wrote.

        `seed` changes the words.
        """
        with self._lock:
            entry = self._entries[address >> c.HANDLE_SHIFT]
            self._stamps += 1
            entry.stamp = (self._stamps << 16) | (seed & 0xFFFF)
            entry.data[:] = _untouched_bytes(entry.data.nbytes, entry.stamp)

    def untouched(self, handle: int) -> tuple[int, NDArray[np.uint8]] | None:
        """(a number of that filling, 255 for each byte that nobody wrote since) or None.

        Bytes count by words of eight; the rest of four to seven is one more, a shorter one is
        taken to be written.
        """
        with self._lock:
            entry = self._entries.get(handle)
            if entry is None or entry.stamp == 0:
                return None
            same = entry.data == _untouched_bytes(entry.data.nbytes, entry.stamp)
            whole = same.size // 8 * 8
            untouched = np.zeros(same.size, np.uint8)
            untouched[:whole] = np.repeat(same[:whole].reshape(-1, 8).all(axis=1), 8)
            untouched[whole:] = same.size - whole >= 4 and same[whole:].all()
            untouched *= 255
            return entry.stamp, untouched

    def note_written(self, handle: int) -> None:
        """All of a buffer has been written."""
        with self._lock:
            self._entries[handle].stamp = 0

    def absence(self, address: int) -> Absence | None:
        """Why the buffer that `address` is in or next to is out of reach; None if it is not."""
        handle, _ = _near(address)
        with self._lock:
            entry = self._entries.get(handle) or self._gone.get(handle)
        if entry is None or not entry.withdrawn:
            return None
        return Absence(kind="use-after-free", why=entry.withdrawn)

    @contextmanager
    def restricted(
        self, addresses: Iterable[int], read_only: Iterable[int], why: str
    ) -> Iterator[Memory]:
        """The same memory for kernels that reach only the buffers of these GPU addresses.

        Args:
            addresses: of live buffers; others are passed over.
            read_only: those among them that are not to be written.
            why: a clause that says what the other buffers lack.
        """
        reached, kept = (
            np.fromiter((a >> c.HANDLE_SHIFT for a in group), np.intp)
            for group in (addresses, read_only)
        )
        view = self._tables.pop() if self._tables else _Tables.empty()
        view.buffers[reached] = self.table[reached]
        view.read_only[kept] = 1
        try:
            yield _Restricted.of(self, view, why)
        finally:
            view.buffers[reached] = 0
            view.read_only[kept] = 0
            self._tables.append(view)

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

    @staticmethod
    def handle_of(address: int) -> int:
        """The handle of the buffer that an address lies in, if there is one."""
        return address >> c.HANDLE_SHIFT

    def bytes_of(self, handle: int) -> NDArray[np.uint8] | None:
        """A buffer's bytes themselves; None if there is no such buffer."""
        with self._lock:
            entry = self._entries.get(handle)
            return entry.data if entry is not None else None

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


def _untouched_bytes(size: int, stamp: int) -> NDArray[np.uint8]:
    """What a buffer that nobody wrote holds: an arithmetic progression of large odd step."""
    words = np.arange(1, -(-size // 8) + 1, dtype=np.uint64)
    words *= np.uint64(0x9E3779B97F4A7C15)
    words += np.uint64(stamp * 0x2545F4914F6CDD1D & (1 << 64) - 1)
    return words.view(np.uint8)[:size]


class _Restricted(Memory):
    """A device's memory with tables of its own; shares everything else with the device's."""

    _why: str

    @classmethod
    def of(cls, memory: Memory, tables: _Tables, why: str) -> _Restricted:
        """A view of `memory`."""
        view = cls.__new__(cls)
        view.__dict__.update(memory.__dict__)
        view.table, view.table_address = tables.buffers, tables.address
        view.read_only = tables.read_only
        view._why = why
        return view

    def absence(self, address: int) -> Absence | None:
        """Why the buffer is out of reach, here perhaps for this view alone."""
        absent = super().absence(address)
        if absent is not None:
            return absent
        handle, _ = _near(address)
        with self._lock:
            hidden = handle in self._entries and not self.table[handle, 1]
        return Absence(kind="not-resident", why=self._why) if hidden else None


def _near(address: int) -> tuple[int, int]:
    """(handle, byte offset) of the buffer that an address is in, or shortly before."""
    handle, offset = address >> c.HANDLE_SHIFT, address & OFFSET_MASK
    if offset >> (c.HANDLE_SHIFT - 1):  # before the start of the next handle's buffer
        return handle + 1, offset - (1 << c.HANDLE_SHIFT)
    return handle, offset
