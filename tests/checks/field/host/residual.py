# Source: https://github.com/antonellof/ferrox/pull/150
# Deferred residuals: both branches add to the stream, with nothing between them.
import Metal
from rig import CONCURRENT, FIXED, bind, buffer, kernels, queue

SOURCE = """
kernel void add(device float* stream, device const float* branch,
                uint i [[thread_position_in_grid]]) {
    stream[i] += branch[i] + 1;
}
"""
add = kernels(SOURCE)["add"]
stream, attention, mlp = buffer("stream"), buffer("attention"), buffer("mlp")
commands = queue.commandBuffer()
encoder = commands.computeCommandEncoderWithDispatchType_(CONCURRENT)
for branch in (attention, mlp):
    bind(encoder, add, stream, branch)
    dispatch = encoder.dispatchThreads_threadsPerThreadgroup_
    dispatch((64, 1, 1), (32, 1, 1))  # BUG unordered-dispatches
    if FIXED:
        encoder.memoryBarrierWithScope_(Metal.MTLBarrierScopeBuffers)
encoder.endEncoding()
commands.commit()
commands.waitUntilCompleted()
