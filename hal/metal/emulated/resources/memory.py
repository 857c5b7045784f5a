"""The memory of one emulated device: what is allocated, at which address, how much may be."""

import gc
import os
import threading
import weakref
from collections import deque
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import MetalOutOfMemoryError, MetalTypeError, MetalValidationError
from ..order.hooks import guarded_memory

if TYPE_CHECKING:
    from assay.sim.simt import Memory

    from ....observe import Watch
    from ..objects import MetalObject
    from ..order.guard import Guarded

Bytes: TypeAlias = NDArray[np.uint8]

# Vector loads of the engine like it, and Metal's own alignment is coarser.
_ALIGNMENT: Final = 64
# Above this bit of an address is what tells buffers apart.
_HANDLE_SHIFT: Final = 48
# Bytes that are copied together.
_PIECE: Final = 1 << 20
# When the host does not say how much memory it has.
_ASSUMED_HOST_MEMORY: Final = 8 << 30


class Allocation:
    """Device bytes with a GPU address; both go when the last reference does."""

    __slots__ = ("__weakref__", "address", "data", "guarded")

    def __init__(self, data: Bytes, address: int):
        self.data = data
        self.address = address
        self.guarded: Guarded | None = None


class AddressSpace:
    """All allocations of one device. Thread-safe, also against finalisers that run at any time.

    Calls of the engine's memory are made under the lock: a finaliser that finds it taken, perhaps
    by its own thread, leaves its release to the holder.
    """

    def __init__(self, memory: "Memory", budget: int):
        self.memory = memory
        self.budget = budget
        self.allocated = 0
        self._lock = threading.Lock()
        self._released: deque[tuple[int, int]] = deque()
        self._owners: weakref.WeakValueDictionary[int, MetalObject] = weakref.WeakValueDictionary()

    def own(self, address: int, owner: "MetalObject") -> None:
        """Let `owner_of` find what has the memory at an address."""
        self._owners[address >> _HANDLE_SHIFT] = owner

    def owner_of(self, address: int) -> "MetalObject | None":
        """The buffer, texture or tensor that an address lies in, while it lives."""
        return self._owners.get(address >> _HANDLE_SHIFT)

    def allocate(
        self, where: str, length: int, name: str, watch: "Watch | None" = None
    ) -> Allocation:
        """`length` zeroed bytes. Raises MetalOutOfMemoryError.

        What the host does to them can be seen if `watch` wants to.
        """
        if self.allocated + length > self.budget:
            # Cycles of objects, and tracebacks, may hold buffers that nobody can reach any more.
            gc.collect()
            self.settle()
        guarded = guarded_memory(watch, length)
        if guarded is None:
            return self.adopt(where, zeroed(where, length, self.budget, self.allocated), name)
        allocation = self.adopt(where, guarded.device, name)
        allocation.guarded = guarded
        return allocation

    def adopt(self, where: str, data: Bytes, name: str, *, counted: bool = True) -> Allocation:
        """`data` itself as device memory; not `counted` when it is part of what is counted.

        Raises MetalOutOfMemoryError.
        """
        length = data.nbytes if counted else 0
        with self._lock:
            self._drain()
            if self.allocated + length > self.budget:
                raise _exhausted(where, length, self.budget, self.allocated)
            address = self._register(where, data, name)
            self.allocated += length
        allocation = Allocation(data, address)
        finalizer = weakref.finalize(allocation, self._release, address, length)
        finalizer.atexit = False
        return allocation

    def inline(self, where: str, data: Bytes, name: str) -> int:
        """The address of a few bytes that a command carries; freed by release_inline."""
        with self._lock:
            self._drain()
            return self._register(where, data, name)

    def release_inline(self, addresses: list[int]) -> None:
        """Forget what `inline` registered."""
        self._released.extend((address, 0) for address in addresses)
        self._try_to_drain()

    def settle(self) -> None:
        """Make all releases happen whose references are gone."""
        if self._released:
            with self._lock:
                self._drain()

    def rename(self, allocation: Allocation, name: str) -> None:
        """Call the allocation `name` in messages."""
        with self._lock:
            self.memory.rename(allocation.address, name)

    def withdraw(self, allocation: Allocation, why: str) -> None:
        """Keep kernels from the allocation until `restore`; `why` is a clause for messages."""
        with self._lock:
            self.memory.withdraw(allocation.address, why)

    def restore(self, allocation: Allocation) -> None:
        """Let kernels reach the allocation again."""
        with self._lock:
            self.memory.restore(allocation.address)

    def _register(self, where: str, data: Bytes, name: str) -> int:
        try:
            return self.memory.register(data, name=name)
        except MemoryError as error:
            raise MetalOutOfMemoryError(
                f"{where}: {error}; release some, or commit command buffers more often"
            ) from error

    def _release(self, address: int, length: int) -> None:
        # A finaliser may interrupt this very thread inside `adopt`: never wait for the lock here.
        self._released.append((address, length))
        self._try_to_drain()

    def _try_to_drain(self) -> None:
        if self._lock.acquire(blocking=False):
            try:
                self._drain()
            finally:
                self._lock.release()

    def _drain(self) -> None:
        while self._released:
            address, length = self._released.popleft()
            self.memory.release(address)
            self.allocated -= length


def zeroed(where: str, length: int, budget: int, allocated: int) -> Bytes:
    """`length` zeroed, aligned host bytes, within `budget`. Raises MetalOutOfMemoryError."""
    if allocated + length > budget:
        raise _exhausted(where, length, budget, allocated)
    try:
        room = np.zeros(length + _ALIGNMENT, dtype=np.uint8)
    except MemoryError as error:
        raise _exhausted(where, length, budget, allocated) from error
    start = -room.ctypes.data % _ALIGNMENT
    return room[start : start + length]


def fill_zeroed(memory: Bytes, given: Bytes) -> None:
    """Copy `given` to zeroed memory; what is zero stays untouched, so that it takes no room."""
    for start in range(0, given.size, _PIECE):
        piece = given[start : start + _PIECE]
        if piece.any():
            memory[start : start + _PIECE] = piece


def bytes_of(where: str, data: object, length: int) -> Bytes:
    """The first `length` bytes of `data`, not copied.

    Raises MetalTypeError for what is no memory, MetalValidationError for too little of it.
    """
    try:
        given = np.frombuffer(data, dtype=np.uint8)  # type: ignore[call-overload]
    except (TypeError, ValueError, BufferError) as error:
        raise MetalTypeError(
            f"{where}: the bytes are {type(data).__name__} ({error}); give bytes, a contiguous "
            "array or another object with the buffer protocol"
        ) from None
    if length > given.nbytes:
        raise MetalValidationError(
            f"{where}: length is {length} B, but only {given.nbytes} B are given"
        )
    view: Bytes = given[:length]
    return view


def host_memory() -> int:
    """Bytes of physical memory of this machine, or an assumed size where it cannot be asked."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return _ASSUMED_HOST_MEMORY


def _exhausted(where: str, length: int, budget: int, allocated: int) -> MetalOutOfMemoryError:
    return MetalOutOfMemoryError(
        f"{where}: {length} bytes do not fit: {allocated} of the device's {budget} bytes are in "
        "use; release buffers, or give the device more with DeviceOptions(memory=...)"
    )
