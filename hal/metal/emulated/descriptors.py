"""The small objects that programs fill in: passes, heaps, command buffers, queues, pipelines."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .constants import (
    MTLCPUCacheModeDefaultCache,
    MTLDispatchTypeConcurrent,
    MTLDispatchTypeSerial,
    MTLHazardTrackingModeDefault,
    MTLHeapTypeAutomatic,
    MTLStorageModePrivate,
)
from .errors import MetalValidationError
from .objects import UserMade, call_of
from .structs import MTLSize, Number, as_integer, as_list, as_size

if TYPE_CHECKING:
    from .commands.log_state import MTLLogState
    from .programs.archive import MTLBinaryArchive
    from .programs.library import MTLFunction
    from .programs.linked_functions import MTLLinkedFunctions


class MTLComputePassDescriptor(UserMade):
    """How a compute encoder is to be."""

    _dispatch_type = MTLDispatchTypeSerial

    @classmethod
    def computePassDescriptor(cls) -> "MTLComputePassDescriptor":
        """A fresh descriptor."""
        return cls()

    def dispatchType(self) -> int:
        """The MTLDispatchType."""
        return self._dispatch_type

    def setDispatchType_(self, kind: int) -> None:
        """Set the MTLDispatchType."""
        if kind not in (MTLDispatchTypeSerial, MTLDispatchTypeConcurrent):
            raise MetalValidationError(
                f"MTLComputePassDescriptor.setDispatchType_: {kind!r} is no MTLDispatchType"
            )
        self._dispatch_type = as_integer(call_of(self), "the value", kind)


class MTLBlitPassDescriptor(UserMade):
    """How a blit encoder is to be; there is nothing to choose but counters, which are absent."""

    @classmethod
    def blitPassDescriptor(cls) -> "MTLBlitPassDescriptor":
        """A fresh descriptor."""
        return cls()


class MTLCommandBufferDescriptor(UserMade):
    """How a command buffer is to be."""

    _retained = True
    _error_options = 0
    _log_state: "MTLLogState | None" = None

    def logState(self) -> "MTLLogState | None":
        """Where the messages of os_log go, or None for where those of the queue go."""
        return self._log_state

    def setLogState_(self, state: "MTLLogState | None") -> None:
        """Set where the messages of os_log go."""
        self._log_state = state

    def retainedReferences(self) -> bool:
        """Whether the command buffer keeps the resources it uses alive."""
        return self._retained

    def setRetainedReferences_(self, retained: bool) -> None:
        """Choose whether the command buffer keeps the resources it uses alive."""
        self._retained = bool(retained)

    def errorOptions(self) -> int:
        """The MTLCommandBufferErrorOption."""
        return self._error_options

    def setErrorOptions_(self, options: int) -> None:
        """Accepted; errors always say all that is known."""
        self._error_options = as_integer(call_of(self), "the value", options)


class MTLCommandQueueDescriptor(UserMade):
    """How a command queue is to be."""

    _max_command_buffers = 64
    _log_state: "MTLLogState | None" = None

    def logState(self) -> "MTLLogState | None":
        """Where the messages of os_log go, or None for the standard error stream."""
        return self._log_state

    def setLogState_(self, state: "MTLLogState | None") -> None:
        """Set where the messages of os_log go."""
        self._log_state = state

    def maxCommandBufferCount(self) -> int:
        """How many command buffers may be unfinished at once."""
        return self._max_command_buffers

    def setMaxCommandBufferCount_(self, count: int) -> None:
        """Set how many command buffers may be unfinished at once."""
        self._max_command_buffers = as_integer(call_of(self), "the value", count)


class MTLHeapDescriptor(UserMade):
    """How a heap is to be."""

    _size = 0
    _storage_mode = MTLStorageModePrivate
    _cpu_cache_mode = MTLCPUCacheModeDefaultCache
    _hazard_tracking_mode = MTLHazardTrackingModeDefault
    _type = MTLHeapTypeAutomatic

    def size(self) -> int:
        """Bytes of the heap."""
        return self._size

    def setSize_(self, size: int) -> None:
        """Set the bytes of the heap."""
        self._size = as_integer(call_of(self), "the value", size)

    def storageMode(self) -> int:
        """The MTLStorageMode of everything in the heap."""
        return self._storage_mode

    def setStorageMode_(self, mode: int) -> None:
        """Set the MTLStorageMode of everything in the heap."""
        self._storage_mode = as_integer(call_of(self), "the value", mode)

    def cpuCacheMode(self) -> int:
        """The MTLCPUCacheMode of everything in the heap."""
        return self._cpu_cache_mode

    def setCpuCacheMode_(self, mode: int) -> None:
        """Set the MTLCPUCacheMode of everything in the heap."""
        self._cpu_cache_mode = as_integer(call_of(self), "the value", mode)

    def hazardTrackingMode(self) -> int:
        """The MTLHazardTrackingMode of everything in the heap."""
        return self._hazard_tracking_mode

    def setHazardTrackingMode_(self, mode: int) -> None:
        """Set the MTLHazardTrackingMode of everything in the heap."""
        self._hazard_tracking_mode = as_integer(call_of(self), "the value", mode)

    def resourceOptions(self) -> int:
        """Storage, cache and hazard tracking modes as MTLResourceOptions."""
        return self._cpu_cache_mode | self._storage_mode << 4 | self._hazard_tracking_mode << 8

    def setResourceOptions_(self, options: int) -> None:
        """Set storage, cache and hazard tracking modes at once."""
        options = as_integer(call_of(self), "the value", options)
        self._cpu_cache_mode = options & 0xF
        self._storage_mode = options >> 4 & 0xF
        self._hazard_tracking_mode = options >> 8 & 0x3

    def type(self) -> int:
        """The MTLHeapType."""
        return self._type

    def setType_(self, kind: int) -> None:
        """Set the MTLHeapType."""
        self._type = as_integer(call_of(self), "the value", kind)


class MTLComputePipelineDescriptor(UserMade):
    """How a compute pipeline state is to be."""

    _in_indirect = False
    _archives: Sequence["MTLBinaryArchive"] = ()

    _function: "MTLFunction | None" = None
    _linked: "MTLLinkedFunctions | None" = None
    _multiple_of_width = False
    _max_threads = 0
    _required_size = MTLSize()

    def supportIndirectCommandBuffers(self) -> bool:
        """Whether indirect command buffers may hold the kernel."""
        return self._in_indirect

    def setSupportIndirectCommandBuffers_(self, support: bool) -> None:
        """Choose whether indirect command buffers may hold the kernel."""
        self._in_indirect = bool(support)

    def binaryArchives(self) -> Sequence["MTLBinaryArchive"]:
        """Where compiled code is looked for."""
        return self._archives

    def setBinaryArchives_(self, archives: Sequence["MTLBinaryArchive"] | None) -> None:
        """Accepted: archives hold no code."""
        where = call_of(self)
        given = () if archives is None else archives
        count = len(given) if isinstance(given, Sequence) else 0
        self._archives = tuple(as_list(where, "the archives", given, count))

    def computeFunction(self) -> "MTLFunction | None":
        """The kernel."""
        return self._function

    def setComputeFunction_(self, function: "MTLFunction | None") -> None:
        """Set the kernel."""
        self._function = function

    def linkedFunctions(self) -> "MTLLinkedFunctions | None":
        """The visible functions that the kernel can call."""
        return self._linked

    def setLinkedFunctions_(self, functions: "MTLLinkedFunctions | None") -> None:
        """Set the visible functions that the kernel can call."""
        self._linked = functions

    def threadGroupSizeIsMultipleOfThreadExecutionWidth(self) -> bool:
        """Whether threadgroups are promised to be whole simdgroups."""
        return self._multiple_of_width

    def setThreadGroupSizeIsMultipleOfThreadExecutionWidth_(self, promise: bool) -> None:
        """Promise that threadgroups are whole simdgroups; dispatches are checked against it."""
        self._multiple_of_width = bool(promise)

    def maxTotalThreadsPerThreadgroup(self) -> int:
        """The most threads that a threadgroup will have; 0 for the device's limit."""
        return self._max_threads

    def setMaxTotalThreadsPerThreadgroup_(self, count: int) -> None:
        """Set the most threads that a threadgroup will have; 0 for the device's limit."""
        self._max_threads = as_integer(call_of(self), "the value", count)

    def requiredThreadsPerThreadgroup(self) -> MTLSize:
        """The one size that threadgroups will have; (0, 0, 0) for any."""
        return self._required_size

    def setRequiredThreadsPerThreadgroup_(self, size: Sequence[Number]) -> None:
        """Set the one size that threadgroups will have; code for it is then made at once."""
        where = call_of(self)
        self._required_size = MTLSize(*as_size(where, "the size", size))

    def reset(self) -> None:
        """Back to the defaults."""
        self._required_size = MTLSize()
        self._function = None
        self._linked = None
        self._multiple_of_width = False
        self._max_threads = 0
