# Source: https://github.com/Roenbaeck/tubeist/issues/52
# Commands of an indirect command buffer run in any order unless one has a barrier.
import Metal
from rig import FIXED, buffer, device, queue

SOURCE = """
kernel void one(device float* x, uint i [[thread_position_in_grid]]) { x[i] = i; }
kernel void two(device float* x, uint i [[thread_position_in_grid]]) { x[i] = x[i] * 2 + 1; }
"""
library, error = device.newLibraryWithSource_options_error_(SOURCE, None, None)
x = buffer("x")
descriptor = Metal.MTLIndirectCommandBufferDescriptor.alloc().init()
descriptor.setCommandTypes_(Metal.MTLIndirectCommandTypeConcurrentDispatchThreads)
descriptor.setInheritPipelineState_(False)
descriptor.setInheritBuffers_(False)
descriptor.setMaxKernelBufferBindCount_(1)
make = device.newIndirectCommandBufferWithDescriptor_maxCommandCount_options_
listed = make(descriptor, 2, 0)
for index, name in enumerate(("one", "two")):
    pipeline = Metal.MTLComputePipelineDescriptor.alloc().init()
    pipeline.setComputeFunction_(library.newFunctionWithName_(name))
    pipeline.setSupportIndirectCommandBuffers_(True)
    state, _, error = device.newComputePipelineStateWithDescriptor_options_reflection_error_(
        pipeline, 0, None, None
    )
    command = listed.indirectComputeCommandAtIndex_(index)
    command.setComputePipelineState_(state)
    command.setKernelBuffer_offset_atIndex_(x, 0, 0)
    if FIXED and index == 1:
        command.setBarrier()
    dispatch = command.concurrentDispatchThreads_threadsPerThreadgroup_
    dispatch((64, 1, 1), (64, 1, 1))  # MAYBE unordered-dispatches
commands = queue.commandBuffer()
encoder = commands.computeCommandEncoder()
encoder.useResource_usage_(x, Metal.MTLResourceUsageRead | Metal.MTLResourceUsageWrite)
encoder.executeCommandsInBuffer_withRange_(listed, (0, 2))  # BUG unordered-dispatches
encoder.endEncoding()
commands.commit()
commands.waitUntilCompleted()
