"""Device memory as Metal buffers: the memory-type table, mapping, flushing, importing."""

from __future__ import annotations

from typing import Any

from ..buffer import Buffer, Storage
from ..device import Allocator
from ..flags import BufferUsage, MemoryType
from ..status import StatusError
from .errors import metal_calls


class MetalStorage(Storage):
    """One MTLBuffer. `handle` is the buffer object; the bytes are those of its contents."""

    __slots__ = ("_bytes", "_managed", "_synchronize", "handle", "size")

    def __init__(self, handle: Any, size: int, managed: bool, synchronize: Any) -> None:
        self.handle = handle
        self.size = size
        self._managed = managed
        self._synchronize = synchronize
        self._bytes: memoryview | None = None

    def map(self) -> memoryview:
        """All bytes, for the host."""
        if self._bytes is None:
            with metal_calls("to show a buffer to the host"):
                self._bytes = memoryview(self.handle.contents().as_buffer(self.size)).cast("B")
        return self._bytes

    def flush(self, offset: int, length: int) -> None:
        """Tell Metal what the host wrote, where it keeps separate copies."""
        if self._managed:
            self.handle.didModifyRange_((offset, length))

    def invalidate(self, offset: int, length: int) -> None:
        """Fetch what the device wrote, where Metal keeps separate copies."""
        if self._managed:
            self._synchronize(self.handle)


class MetalAllocator(Allocator):
    """Every allocation is one MTLBuffer, as in IREE's driver."""

    def __init__(self, api: Any, device: Any, queue: Any) -> None:
        self._api = api
        self._device = device
        self._queue = queue
        self._unified = bool(device.hasUnifiedMemory())
        self._largest = int(device.maxBufferLength())
        self._options: dict[int, int] = {}

    def allocate(self, memory_type: int, usage: int, size: int) -> Buffer:
        """A new buffer; sizes are rounded up to 4 bytes, at least 4."""
        memory_type = self.placed(memory_type)
        size = max(4, (size & 0xFFFFFFFFFFFFFFFF) + 3 & ~3)
        if size > self._largest:
            raise StatusError(
                "RESOURCE_EXHAUSTED",
                f"unable to allocate buffer: {size} bytes asked for, the device allows "
                f"{self._largest} per buffer",
            )
        with metal_calls("an allocation"):
            handle = self._device.newBufferWithLength_options_(size, self.options(memory_type))
        if handle is None:
            raise StatusError("RESOURCE_EXHAUSTED", f"unable to allocate buffer of {size} bytes")
        if memory_type & MemoryType.HOST_VISIBLE:
            usage |= BufferUsage.MAPPING_SCOPED
        return self._wrap(handle, size, memory_type, usage)

    def import_host(self, data: memoryview, memory_type: int, usage: int) -> Buffer | None:
        """Use host memory in place where Metal can: whole pages at a page boundary."""
        # PyObjC has no portable way to hand a Python buffer's address over for keeping, and
        # constants in a module file do not fill whole pages: programs then read them as files.
        del data, memory_type, usage
        return None

    def placed(self, memory_type: int) -> int:
        """The memory type that a request gets on this device."""
        both = MemoryType.DEVICE_LOCAL | MemoryType.HOST_VISIBLE
        if memory_type & both == both and self._unified:
            memory_type &= ~(MemoryType.DEVICE_LOCAL | MemoryType.HOST_VISIBLE)
            memory_type |= MemoryType.HOST_LOCAL | MemoryType.DEVICE_VISIBLE
        return memory_type & ~MemoryType.OPTIMAL

    def options(self, memory_type: int) -> int:
        """The resource options of a memory type: the table of IREE's driver.

        Device-local and host-visible is Managed (only without unified memory, see `placed`),
        device-local alone is Private, all else Shared. Host-cached memory uses the default
        cache mode, other memory is write-combined. Hazards are tracked by HAL barriers alone.
        """
        known = self._options.get(memory_type)
        if known is not None:
            return known
        api = self._api
        if memory_type & MemoryType.DEVICE_LOCAL == MemoryType.DEVICE_LOCAL:
            mode = api.MTLResourceStorageModePrivate
            if memory_type & MemoryType.HOST_VISIBLE:
                mode = api.MTLResourceStorageModeManaged
        else:
            mode = api.MTLResourceStorageModeShared
        cached = memory_type & MemoryType.HOST_CACHED or mode == api.MTLResourceStorageModePrivate
        cache = (
            api.MTLResourceCPUCacheModeDefaultCache
            if cached
            else api.MTLResourceCPUCacheModeWriteCombined
        )
        options = mode | cache | api.MTLResourceHazardTrackingModeUntracked
        self._options[memory_type] = options
        return int(options)

    def _wrap(self, handle: Any, size: int, memory_type: int, usage: int) -> Buffer:
        both = MemoryType.DEVICE_LOCAL | MemoryType.HOST_VISIBLE
        managed = memory_type & both == both
        storage = MetalStorage(handle, size, managed, self._synchronize)
        return Buffer(storage, 0, size, memory_type, usage)

    def _synchronize(self, handle: Any) -> None:
        command_buffer = self._queue.commandBuffer()
        encoder = command_buffer.blitCommandEncoder()
        encoder.synchronizeResource_(handle)
        encoder.endEncoding()
        command_buffer.commit()
        command_buffer.waitUntilCompleted()
