"""MTLBuffer and what its contents() returns.

Storage modes keep Metal's visibility rules. Shared: host and device see one copy. Private: the host
sees nothing. Managed, on a device without unified memory: two copies, and only didModifyRange_ and
synchronizeResource_ carry changes across; forgetting one shows the stale data, as hardware does.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, overload

import numpy as np

from ..constants import (
    MTLPurgeableStateEmpty,
    MTLPurgeableStateKeepCurrent,
    MTLPurgeableStateNonVolatile,
    MTLStorageModeManaged,
    MTLStorageModeMemoryless,
    MTLStorageModePrivate,
    MTLStorageModeShared,
)
from ..errors import MetalValidationError
from ..objects import call_of
from ..structs import as_integer, as_range
from .memory import Allocation, Bytes
from .resource import WithOptions, storage_mode_of

if TYPE_CHECKING:
    from ..device import MTLDevice
    from ..errors import NSError
    from ..tensors.descriptor import MTLTensorDescriptor
    from ..tensors.tensor import MTLTensor
    from ..textures.descriptor import MTLTextureDescriptor
    from ..textures.texture import MTLTexture
    from .heap import MTLHeap


class VarList:
    """Host memory without a stated length, as PyObjC's objc.varlist; items are single bytes.

    Deviation: accesses beyond the buffer are refused.
    """

    def __init__(self, where: str, data: Bytes):
        self._where = where
        self._data = data

    def as_buffer(self, count: int) -> memoryview:
        """A writable view of the first `count` bytes."""
        self._check(count)
        return self._data.data[:count]

    def as_tuple(self, count: int) -> tuple[bytes, ...]:
        """The first `count` bytes, one by one."""
        self._check(count)
        return tuple(bytes((value,)) for value in self._data[:count].tolist())

    @overload
    def __getitem__(self, index: int) -> bytes: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[bytes, ...]: ...
    def __getitem__(self, index: int | slice) -> bytes | tuple[bytes, ...]:
        if isinstance(index, slice):
            self._check(index.stop)
            return tuple(bytes((value,)) for value in self._data[index].tolist())
        self._check(index + 1)
        return bytes((int(self._data[index]),))

    def __setitem__(self, index: int | slice, value: bytes | Sequence[bytes]) -> None:
        data = value if isinstance(value, bytes) else b"".join(value)
        if isinstance(index, slice):
            self._check(index.stop)
            self._data[index] = np.frombuffer(data, dtype=np.uint8)
        else:
            self._check(index + 1)
            self._data[index] = data[0]

    def _check(self, count: int | None) -> None:
        if count is None or not 0 <= count <= self._data.nbytes:
            raise MetalValidationError(
                f"{self._where}: {count} bytes asked for; the buffer has {self._data.nbytes}"
            )


class MTLBuffer(WithOptions):
    """Memory that kernels read and write."""

    aliased_at = 0

    def __init__(
        self,
        device: "MTLDevice",
        allocation: Allocation,
        options: int,
        *,
        heap: "MTLHeap | None" = None,
        heap_offset: int = 0,
    ):
        self._device = device
        self.allocation = allocation
        self._address = allocation.address
        self.data = allocation.data
        self._length = allocation.data.nbytes
        self._options = options
        self._storage_mode = storage_mode_of(options)
        self._heap = heap
        self._heap_offset = heap_offset
        self.guarded = allocation.guarded if heap is None else heap.allocation.guarded
        self.host_bytes: Bytes | None = self.data
        self._has_copy = False
        self._purgeable_state = MTLPurgeableStateNonVolatile
        device.memory.own(self._address, self)
        self.deallocator: Callable[[], None] | None = None
        if self._storage_mode == MTLStorageModePrivate:
            self.host_bytes = None
        elif self._storage_mode == MTLStorageModeManaged and not device.hasUnifiedMemory():
            self.host_bytes = self.data.copy()
            self._has_copy = True
        elif self.guarded is not None:
            self.host_bytes = self.guarded.host[heap_offset : heap_offset + self._length]

    def device(self) -> "MTLDevice":
        """The device whose memory this is."""
        return self._device

    def setLabel_(self, label: str | None) -> None:
        """Name the buffer, in messages of kernels too."""
        super().setLabel_(label)
        self._device.memory.rename(self.allocation, label or "")

    def length(self) -> int:
        """Size in bytes."""
        return self._length

    def allocatedSize(self) -> int:
        """Bytes that the buffer takes."""
        return self._length

    def contents(self) -> VarList:
        """The bytes as the host sees them. Refused for private storage.

        Deviation: Metal returns a null pointer for private storage.
        """
        if self.host_bytes is None:
            raise MetalValidationError(
                f"MTLBuffer.contents: {self!r} has MTLStorageModePrivate, which the host cannot "
                "see; copy it into a shared buffer with a blit encoder"
            )
        return VarList(call_of(self), self.host_bytes)

    def gpuAddress(self) -> int:
        """Address of the first byte as kernels see it."""
        return self._address

    def heap(self) -> "MTLHeap | None":
        """The heap that the buffer lies in, or None."""
        return self._heap

    def heapOffset(self) -> int:
        """Bytes from the start of the heap."""
        return self._heap_offset

    def didModifyRange_(self, changed: Sequence[int]) -> None:
        """Carry what the host wrote into `changed` over to the device (managed storage)."""
        where = call_of(self)
        if self._storage_mode != MTLStorageModeManaged:
            raise MetalValidationError(
                f"{where}: {self!r} is not of MTLStorageModeManaged; only managed buffers have "
                "copies to bring together, so leave the call out"
            )
        location, length = as_range(where, changed)
        self.check_range(where, location, length)
        if self.host_bytes is not None and self._has_copy:
            self.data[location : location + length] = self.host_bytes[location : location + length]

    def setPurgeableState_(self, state: int) -> int:
        """Say whether the contents are still needed; the answer is the state before.

        Deviation: memory is taken back only when the buffer goes. What is made empty is filled
        with 0xFF, which reads as NaN; kernels that reach it meanwhile fail.
        """
        state = as_integer(call_of(self), "the state", state)
        before = self._purgeable_state
        if state != MTLPurgeableStateKeepCurrent:
            self._purgeable_state = state
        memory = self._device.memory
        if state == MTLPurgeableStateEmpty:
            self.data[:] = 0xFF
            memory.withdraw(self.allocation, "which was emptied with setPurgeableState_")
        elif before == MTLPurgeableStateEmpty and state != MTLPurgeableStateKeepCurrent:
            memory.restore(self.allocation)
        return before

    def makeAliasable(self) -> None:
        """Let later buffers of the same heap overlap this one."""
        if self._heap is not None:
            self._heap.make_aliasable(self)

    def isAliasable(self) -> bool:
        """Whether later buffers of the heap may overlap this one."""
        return self._heap is not None and self._heap.is_aliasable(self)

    def addDebugMarker_range_(self, marker: str, marked: Sequence[int]) -> None:
        """Accepted and ignored: markers serve Xcode alone."""
        self.check_range(call_of(self), *as_range("MTLBuffer", marked))

    def removeAllDebugMarkers(self) -> None:
        """Accepted and ignored: markers serve Xcode alone."""

    def newTextureWithDescriptor_offset_bytesPerRow_(
        self, descriptor: "MTLTextureDescriptor", offset: int, bytes_per_row: int
    ) -> "MTLTexture":
        """A texture whose texels are bytes of this buffer, from `offset` on."""
        from ..textures.maker import texture_in_buffer

        return texture_in_buffer(self, descriptor, offset, bytes_per_row)

    def newTensorWithDescriptor_offset_error_(
        self, descriptor: "MTLTensorDescriptor", offset: int, _error: None
    ) -> "tuple[MTLTensor | None, NSError | None]":
        """A tensor whose elements are those of this buffer, from byte `offset` on."""
        from ..tensors.maker import tensor_in_buffer

        return tensor_in_buffer(call_of(self), self, descriptor, offset)

    def check_range(self, where: str, location: int, length: int) -> None:
        """Raises MetalValidationError for bytes that the buffer does not have."""
        if location + length > self._length:
            raise MetalValidationError(
                f"{where}: bytes {location}..{location + length} of {self!r}, which has only "
                f"{self._length} bytes"
            )

    def synchronize_host(self) -> None:
        """Carry what the device wrote over to the host's copy."""
        if self.host_bytes is not None and self._has_copy:
            self.host_bytes[:] = self.data

    def __repr__(self) -> str:
        label = f" {self._label!r}" if self._label else ""
        return f"<MTLBuffer{label} of {self._length} bytes>"

    def __del__(self) -> None:
        if (deallocator := self.__dict__.get("deallocator")) is not None:
            deallocator()


def checked_options(where: str, options: int) -> int:
    """`options` when a buffer can have them. Raises MetalValidationError."""
    options = as_integer(where, "options", options)
    if options & ~0x3F1 or options >> 8 & 0x3 == 3:
        raise MetalValidationError(f"{where}: options {options:#x} are no MTLResourceOptions")
    mode = storage_mode_of(options)
    if mode == MTLStorageModeMemoryless:
        raise MetalValidationError(
            f"{where}: MTLStorageModeMemoryless is for textures alone; use "
            "MTLResourceStorageModePrivate"
        )
    if mode not in (MTLStorageModeShared, MTLStorageModeManaged, MTLStorageModePrivate):
        raise MetalValidationError(f"{where}: options {options:#x} name no storage mode")
    return options
