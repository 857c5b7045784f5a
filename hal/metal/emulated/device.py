"""MTLDevice: one emulated GPU, from which everything else is made."""

import mmap
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Final

from assay.hw.apple.facts.chips import chip
from assay.hw.apple.facts.limits import limits

from ...observe import current_watch
from .commands.event import MTLEvent, MTLFence, MTLSharedEvent
from .commands.indirect import (
    MTLIndirectCommandBuffer,
    MTLIndirectCommandBufferDescriptor,
    new_indirect_command_buffer,
)
from .commands.log_state import MTLLogState, MTLLogStateDescriptor
from .commands.queue import MTLCommandQueue
from .constants import (
    MTLArgumentBuffersTier2,
    MTLDeviceLocationBuiltIn,
    MTLGPUFamilyApple1,
    MTLGPUFamilyCommon1,
    MTLGPUFamilyCommon3,
    MTLGPUFamilyMac1,
    MTLGPUFamilyMac2,
    MTLGPUFamilyMetal3,
    MTLStorageModePrivate,
)
from .descriptors import MTLCommandQueueDescriptor, MTLHeapDescriptor
from .engine import Engine, default_engine
from .errors import MetalValidationError, NSError
from .metal4.maker import Metal4Maker
from .objects import call_of, expect
from .programs.maker import ProgramMaker
from .resources.buffer import MTLBuffer, checked_options
from .resources.heap import MTLHeap
from .resources.memory import AddressSpace, bytes_of, fill_zeroed, host_memory
from .resources.residency import MTLResidencySet, MTLResidencySetDescriptor, new_residency_set
from .resources.resource import storage_mode_of
from .structs import MTLSize, MTLSizeAndAlign, as_integer
from .tensors.maker import TensorMaker
from .textures.maker import TextureMaker
from .worker import SerialThread, run_handler

_LIMITS = limits()
# Registry ids tell devices of one process apart.
_registry_ids = count(1)
# The share of the host's memory that a device may take unless told otherwise.
_SHARE_OF_HOST_MEMORY: Final = 0.75
_LAST_APPLE_FAMILY: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceOptions:
    """What an emulated device is like: `chip` is a key of assay.hw.apple.chips.

    `memory` is in bytes (None: three quarters of the host's), `workers` are threads of the engine
    (None: all cores), `fuel` bounds the work of one thread of a kernel (None: the engine's bound).
    """

    chip: str = "m1"
    unified_memory: bool = True
    memory: int | None = None
    workers: int | None = None
    fuel: int | None = None


class MTLDevice(ProgramMaker, TextureMaker, TensorMaker, Metal4Maker):
    """One emulated GPU."""

    def __init__(self, options: DeviceOptions | None = None, engine: Engine | None = None):
        self.options = options or DeviceOptions()
        self._chip = chip(self.options.chip)
        self.engine = engine or default_engine()
        budget = self.options.memory or int(host_memory() * _SHARE_OF_HOST_MEMORY)
        self.memory = AddressSpace(self.engine.make_memory(), budget)
        self._registry_id = next(_registry_ids)
        self.compiler = SerialThread("metal-compiler")
        self.specialiser = SerialThread("metal-specialiser")

    # What the device is

    def name(self) -> str:
        """What Metal calls the GPU."""
        return self._chip.name

    def registryID(self) -> int:
        """A number that tells devices of the process apart."""
        return self._registry_id

    def hasUnifiedMemory(self) -> bool:
        """Whether host and device share memory."""
        return self.options.unified_memory

    def isLowPower(self) -> bool:
        """Always False."""
        return False

    def isHeadless(self) -> bool:
        """Always True: there is no display."""
        return True

    def isRemovable(self) -> bool:
        """Always False."""
        return False

    def location(self) -> int:
        """Always MTLDeviceLocationBuiltIn."""
        return MTLDeviceLocationBuiltIn

    def maxThreadsPerThreadgroup(self) -> MTLSize:
        """The most threads in each direction; their product is bounded by the pipeline."""
        most = _LIMITS.threads_per_threadgroup
        return MTLSize(most, most, most)

    def maxThreadgroupMemoryLength(self) -> int:
        """Bytes of threadgroup memory that a threadgroup may have."""
        return _LIMITS.threadgroup_memory

    def maxBufferLength(self) -> int:
        """Bytes of the largest buffer. Deviation: all of the device's memory."""
        return self.memory.budget

    def recommendedMaxWorkingSetSize(self) -> int:
        """Bytes that buffers may take together. Deviation: more is refused, not just slow."""
        return self.memory.budget

    def currentAllocatedSize(self) -> int:
        """Bytes that buffers and heaps take now."""
        return self.memory.allocated

    def argumentBuffersSupport(self) -> int:
        """Always MTLArgumentBuffersTier2."""
        return MTLArgumentBuffersTier2

    def supportsFamily_(self, family: int) -> bool:
        """Whether the chip belongs to an MTLGPUFamily."""
        family = as_integer(call_of(self), "the family", family)
        apple = family - MTLGPUFamilyApple1 + 1
        if 1 <= apple <= _LAST_APPLE_FAMILY:
            return apple <= self._chip.family
        return family in (MTLGPUFamilyMac1, MTLGPUFamilyMac2, MTLGPUFamilyMetal3) or (
            MTLGPUFamilyCommon1 <= family <= MTLGPUFamilyCommon3
        )

    def sampleTimestamps_gpuTimestamp_(self, _cpu: None, _gpu: None) -> tuple[int, int]:
        """Times of host and device in nanoseconds. Deviation: one clock serves both."""
        now = time.monotonic_ns()
        return now, now

    # Memory

    def newBufferWithLength_options_(self, length: int, options: int) -> MTLBuffer:
        """A zeroed buffer.

        Deviation: MetalOutOfMemoryError is raised where Metal returns nil.
        """
        where = call_of(self)
        length = self._checked_length(where, length)
        allocation = self.memory.allocate(where, length, "", current_watch())
        return MTLBuffer(self, allocation, checked_options(where, options))

    def newBufferWithBytes_length_options_(
        self, data: object, length: int, options: int
    ) -> MTLBuffer:
        """A buffer with a copy of `data`.

        Deviation: MetalOutOfMemoryError is raised where Metal returns nil.
        """
        where = call_of(self)
        length = self._checked_length(where, length)
        if storage_mode_of(checked_options(where, options)) == MTLStorageModePrivate:
            raise MetalValidationError(
                f"{where}: the host cannot fill MTLStorageModePrivate; make a shared buffer and "
                "copy it with a blit encoder"
            )
        given = bytes_of(where, data, length)
        allocation = self.memory.allocate(where, length, "", current_watch())
        fill_zeroed(allocation.data, given)
        return MTLBuffer(self, allocation, options)

    def newBufferWithBytesNoCopy_length_options_deallocator_(
        self,
        pointer: object,
        length: int,
        options: int,
        deallocator: Callable[[object, int], None] | None,
    ) -> MTLBuffer:
        """A buffer in the memory of `pointer`, a writable object with the buffer protocol.

        `deallocator(pointer, length)` is called when the buffer goes. Deviation: address and length
        are multiples of the host's page, which need not be that of Apple silicon.
        """
        where = call_of(self)
        length = self._checked_length(where, length)
        if storage_mode_of(checked_options(where, options)) == MTLStorageModePrivate:
            raise MetalValidationError(f"{where}: MTLStorageModePrivate is not for host memory")
        data = bytes_of(where, pointer, length)
        if not data.flags.writeable:
            raise MetalValidationError(f"{where}: {type(pointer).__name__} is read-only memory")
        address = data.ctypes.data
        if address % mmap.PAGESIZE or length % mmap.PAGESIZE:
            raise MetalValidationError(
                f"{where}: address {address:#x} and length {length} must be multiples of the page, "
                f"{mmap.PAGESIZE} B; mmap.mmap(-1, length) gives such memory"
            )
        buffer = MTLBuffer(self, self.memory.adopt(where, data, ""), options)
        if deallocator is not None:
            buffer.deallocator = partial(run_handler, deallocator, pointer, length)
        return buffer

    def newHeapWithDescriptor_(self, descriptor: MTLHeapDescriptor) -> MTLHeap:
        """A heap.

        Deviation: MetalOutOfMemoryError is raised where Metal returns nil.
        """
        where = call_of(self)
        return MTLHeap(self, expect(where, "the descriptor", descriptor, MTLHeapDescriptor))

    def newResidencySetWithDescriptor_error_(
        self, descriptor: MTLResidencySetDescriptor, _error: None
    ) -> tuple[MTLResidencySet, NSError | None]:
        """A set of buffers and heaps that kernels may reach through addresses in memory."""
        return new_residency_set(self, descriptor)

    def newIndirectCommandBufferWithDescriptor_maxCommandCount_options_(
        self, descriptor: MTLIndirectCommandBufferDescriptor, count: int, options: int
    ) -> MTLIndirectCommandBuffer:
        """Room for `count` commands that are encoded once and may run often."""
        return new_indirect_command_buffer(self, descriptor, count, options)

    def heapBufferSizeAndAlignWithLength_options_(
        self, length: int, options: int
    ) -> MTLSizeAndAlign:
        """Room that a buffer takes in a heap."""
        where = call_of(self)
        checked_options(where, options)
        length = as_integer(where, "the length", length)
        align = _LIMITS.heap_alignment
        return MTLSizeAndAlign(-(-length // align) * align, align)

    def _checked_length(self, where: str, length: int) -> int:
        length = as_integer(where, "the length", length)
        if not 0 < length <= self.memory.budget:
            raise MetalValidationError(
                f"{where}: length is {length} B; it must lie in 1..{self.memory.budget} "
                "(maxBufferLength)"
            )
        return length

    # Queues and synchronisation

    def newCommandQueue(self) -> MTLCommandQueue:
        """A queue with room for the usual number of unfinished command buffers."""
        return MTLCommandQueue(self, _LIMITS.command_buffers_per_queue)

    def newCommandQueueWithMaxCommandBufferCount_(self, most: int) -> MTLCommandQueue:
        """A queue with room for `most` unfinished command buffers."""
        where = call_of(self)
        most = as_integer(where, "the count", most)
        if most <= 0:
            raise MetalValidationError(f"{where}: the count is {most}; it must be positive")
        return MTLCommandQueue(self, most)

    def newLogStateWithDescriptor_error_(
        self, descriptor: MTLLogStateDescriptor, _error: None
    ) -> tuple[MTLLogState, None]:
        """Where messages of os_log go; give it to descriptors of queues or command buffers."""
        where = call_of(self)
        expect(where, "the descriptor", descriptor, MTLLogStateDescriptor)
        return MTLLogState(descriptor), None

    def newCommandQueueWithDescriptor_(
        self, descriptor: MTLCommandQueueDescriptor
    ) -> MTLCommandQueue:
        """A queue as `descriptor` says."""
        where = call_of(self)
        expect(where, "the descriptor", descriptor, MTLCommandQueueDescriptor)
        queue = self.newCommandQueueWithMaxCommandBufferCount_(descriptor.maxCommandBufferCount())
        if (state := descriptor.logState()) is not None:
            queue.log_state = expect(where, "the log state", state, MTLLogState)
        return queue

    def newEvent(self) -> MTLEvent:
        """An event between queues of this device."""
        return MTLEvent(self)

    def newSharedEvent(self) -> MTLSharedEvent:
        """An event between queues and the host."""
        return MTLSharedEvent(self)

    def newFence(self) -> MTLFence:
        """A fence between encoders."""
        return MTLFence(self)

    def __repr__(self) -> str:
        return f"<MTLDevice {self.name()} (emulated)>"
