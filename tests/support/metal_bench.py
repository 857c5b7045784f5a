"""A device with kernels of one source, and short ways to run them."""

from collections.abc import Callable, Sequence

import numpy as np

from assay.hal.metal import emulated as Metal
from assay.hal.metal.emulated import (
    DeviceOptions,
    MTLBuffer,
    MTLComputeCommandEncoder,
    MTLComputePipelineState,
    MTLDevice,
)

SHARED = Metal.MTLResourceStorageModeShared
ONE = (1, 1, 1)
HEAD = "#include <metal_stdlib>\nusing namespace metal;\n"


class Bench:
    """Kernels of `source`, whose first line is line 3 of what is compiled."""

    def __init__(self, source: str, *, fuel: int | None = None) -> None:
        self.device = MTLDevice(DeviceOptions(fuel=fuel))
        made, error = self.device.newLibraryWithSource_options_error_(HEAD + source, None, None)
        assert made is not None, error
        self.library = made
        self.queue = self.device.newCommandQueue()

    def function(self, name: str) -> Metal.MTLFunction:
        """The kernel called `name`."""
        found = self.library.newFunctionWithName_(name)
        assert found is not None
        return found

    def pipeline(self, name: str, *, in_indirect: bool = False) -> MTLComputePipelineState:
        """The kernel, ready to run."""
        descriptor = Metal.MTLComputePipelineDescriptor.alloc().init()
        descriptor.setComputeFunction_(self.function(name))
        descriptor.setSupportIndirectCommandBuffers_(in_indirect)
        make = self.device.newComputePipelineStateWithDescriptor_options_reflection_error_
        state, _, error = make(descriptor, 0, None, None)
        assert state is not None, error
        return state

    def buffer(self, data: Sequence[int] | np.ndarray, label: str | None = None) -> MTLBuffer:
        """A shared buffer of these 32-bit integers."""
        values = np.asarray(data)
        values = values.astype(np.int32) if values.dtype.kind in "iu" else values
        made = self.device.newBufferWithBytes_length_options_(values, values.nbytes, SHARED)
        if label is not None:
            made.setLabel_(label)
        return made

    def run(
        self, encode: Callable[[MTLComputeCommandEncoder], None], kind: int = 0
    ) -> Metal.MTLCommandBuffer:
        """Run what `encode` encodes into one encoder of dispatch type `kind`."""
        command_buffer = self.queue.commandBuffer()
        encoder = command_buffer.computeCommandEncoderWithDispatchType_(kind)
        encode(encoder)
        encoder.endEncoding()
        command_buffer.commit()
        command_buffer.waitUntilCompleted()
        return command_buffer

    def start(self, encoder: MTLComputeCommandEncoder, name: str, *buffers: MTLBuffer) -> None:
        """Set a kernel and its buffers."""
        encoder.setComputePipelineState_(self.pipeline(name))
        for index, bound in enumerate(buffers):
            encoder.setBuffer_offset_atIndex_(bound, 0, index)


def values_of(buffer: MTLBuffer) -> list[int]:
    """A buffer's 32-bit integers."""
    return np.frombuffer(buffer.contents().as_buffer(buffer.length()), np.int32).tolist()


def message_of(command_buffer: Metal.MTLCommandBuffer) -> str:
    """The error that stopped a command buffer; "" if none did."""
    error = command_buffer.error()
    return "" if error is None else error.localizedDescription()
