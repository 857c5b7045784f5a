# Source: https://github.com/ml-explore/mlx/pull/3630
# The cotangent is summed up by one dispatch and overwritten in place by the next one.
import Metal
from rig import CONCURRENT, FIXED, bind, buffer, kernels, queue

SOURCE = """
kernel void bias(device const float* g, device float* b, uint i [[thread_position_in_grid]]) {
    b[i] = g[i] + g[i + 32];  // WITH
}
kernel void vjp(device float* g, device const float* w, uint i [[thread_position_in_grid]]) {
    g[i] *= w[i];  // BUG unordered-dispatches
}
"""
states = kernels(SOURCE)
g, w, b = buffer("g"), buffer("w"), buffer("b", 32)
commands = queue.commandBuffer()
encoder = commands.computeCommandEncoderWithDispatchType_(CONCURRENT)
bind(encoder, states["bias"], g, b)
encoder.dispatchThreads_threadsPerThreadgroup_((32, 1, 1), (32, 1, 1))
if FIXED:
    encoder.memoryBarrierWithScope_(Metal.MTLBarrierScopeBuffers)
bind(encoder, states["vjp"], g, w)
encoder.dispatchThreads_threadsPerThreadgroup_((64, 1, 1), (32, 1, 1))
encoder.endEncoding()
commands.commit()
commands.waitUntilCompleted()
