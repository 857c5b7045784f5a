"""How devices make what Metal 4 encodes with."""

from typing import TYPE_CHECKING, cast

from ..errors import NSError
from ..objects import MetalObject, call_of, expect
from .argument_table import MTL4ArgumentTable, MTL4ArgumentTableDescriptor
from .command_buffer import (
    MTL4CommandAllocator,
    MTL4CommandAllocatorDescriptor,
    MTL4CommandBuffer,
)
from .queue import MTL4CommandQueue, MTL4CommandQueueDescriptor

if TYPE_CHECKING:
    from ..device import MTLDevice


class Metal4Maker(MetalObject):
    """The part of MTLDevice that makes queues, command buffers and argument tables of Metal 4."""

    def newMTL4CommandQueue(self) -> MTL4CommandQueue:
        """A queue for command buffers of Metal 4."""
        return MTL4CommandQueue(cast("MTLDevice", self))

    def newMTL4CommandQueueWithDescriptor_error_(
        self, descriptor: MTL4CommandQueueDescriptor, _error: None
    ) -> tuple[MTL4CommandQueue, NSError | None]:
        """A queue with a label."""
        expect(call_of(self), "the descriptor", descriptor, MTL4CommandQueueDescriptor)
        return MTL4CommandQueue(cast("MTLDevice", self), descriptor.label()), None

    def newCommandAllocator(self) -> MTL4CommandAllocator:
        """Memory for commands."""
        return MTL4CommandAllocator(cast("MTLDevice", self))

    def newCommandAllocatorWithDescriptor_error_(
        self, descriptor: MTL4CommandAllocatorDescriptor, _error: None
    ) -> tuple[MTL4CommandAllocator, NSError | None]:
        """Memory for commands, with a label."""
        expect(call_of(self), "the descriptor", descriptor, MTL4CommandAllocatorDescriptor)
        return MTL4CommandAllocator(cast("MTLDevice", self), descriptor.label()), None

    def newCommandBuffer(self) -> MTL4CommandBuffer:
        """A command buffer of Metal 4, which may be used again."""
        return MTL4CommandBuffer(cast("MTLDevice", self))

    def newArgumentTableWithDescriptor_error_(
        self, descriptor: MTL4ArgumentTableDescriptor, _error: None
    ) -> tuple[MTL4ArgumentTable, NSError | None]:
        """What kernels are given, by index."""
        expect(call_of(self), "the descriptor", descriptor, MTL4ArgumentTableDescriptor)
        return MTL4ArgumentTable(cast("MTLDevice", self), descriptor), None
