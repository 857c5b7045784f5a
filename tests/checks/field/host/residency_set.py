# Source: https://github.com/KhronosGroup/MoltenVK/pull/2799
# A residency set makes buffers resident, but nobody tracks what kernels do to them.
import Metal
import numpy as np
from rig import FIXED, bind, buffer, device, kernels, queue

SOURCE = """
struct Args { device float* x; };
kernel void one(device const Args& args, uint i [[thread_position_in_grid]]) { args.x[i] = i; }
kernel void two(device const Args& args, uint i [[thread_position_in_grid]]) {
    args.x[i] = args.x[i] * 2 + 1;
}
"""
ops = kernels(SOURCE)
x = buffer("x")
args = buffer("args", np.array([x.gpuAddress()], np.uint64))
descriptor = Metal.MTLResidencySetDescriptor.alloc().init()
resident, error = device.newResidencySetWithDescriptor_error_(descriptor, None)
resident.addAllocation_(x)
resident.commit()
queue.addResidencySet_(resident)
commands = queue.commandBuffer()
usage = Metal.MTLResourceUsageRead | Metal.MTLResourceUsageWrite
encoder = commands.computeCommandEncoder()
bind(encoder, ops["one"], args)
if FIXED:
    encoder.useResource_usage_(x, usage)
encoder.dispatchThreads_threadsPerThreadgroup_((64, 1, 1), (64, 1, 1))  # WITH
encoder.endEncoding()
encoder = commands.computeCommandEncoder()
bind(encoder, ops["two"], args)
if FIXED:
    encoder.useResource_usage_(x, usage)
encoder.dispatchThreads_threadsPerThreadgroup_((64, 1, 1), (64, 1, 1))  # BUG unordered-passes
encoder.endEncoding()
commands.commit()
commands.waitUntilCompleted()
