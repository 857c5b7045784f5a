# Source: https://github.com/shader-slang/slang-rhi/pull/727
# A buffer is reached through an address in another one, and nobody has made it resident.
import Metal
import numpy as np
from rig import FIXED, bind, buffer, kernels, queue

SOURCE = """
struct Args { device float* x; };
kernel void through(device const Args& args, uint i [[thread_position_in_grid]]) {
    args.x[i] = i;  // BUG not-resident
}
"""
x = buffer("x")
args = buffer("args", np.array([x.gpuAddress()], np.uint64))
commands = queue.commandBuffer()
encoder = commands.computeCommandEncoder()
bind(encoder, kernels(SOURCE)["through"], args)
if FIXED:
    encoder.useResource_usage_(x, Metal.MTLResourceUsageWrite)
encoder.dispatchThreads_threadsPerThreadgroup_((64, 1, 1), (64, 1, 1))
encoder.endEncoding()
commands.commit()
commands.waitUntilCompleted()
