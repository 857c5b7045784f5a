# Source: https://github.com/ggml-org/llama.cpp/pull/19567
# Operations of a graph are encoded concurrently, and a barrier between two of them is missing.
import Metal
from rig import CONCURRENT, FIXED, bind, buffer, kernels, queue

SOURCE = """
kernel void norm(device const float* x, device float* y, uint i [[thread_position_in_grid]]) {
    y[i] = x[i] * 0.5f + 1;
}
kernel void mul(device const float* y, device float* z, uint i [[thread_position_in_grid]]) {
    z[i] = y[63 - i] * 3;
}
"""
ops = kernels(SOURCE)
x, y, z = buffer("x"), buffer("y"), buffer("z")
commands = queue.commandBuffer()
encoder = commands.computeCommandEncoderWithDispatchType_(CONCURRENT)
bind(encoder, ops["norm"], x, y)
encoder.dispatchThreads_threadsPerThreadgroup_((64, 1, 1), (64, 1, 1))  # WITH
if FIXED:
    encoder.memoryBarrierWithScope_(Metal.MTLBarrierScopeBuffers)
bind(encoder, ops["mul"], y, z)
encoder.dispatchThreads_threadsPerThreadgroup_((64, 1, 1), (64, 1, 1))  # BUG unordered-dispatches
encoder.endEncoding()
commands.commit()
commands.waitUntilCompleted()
