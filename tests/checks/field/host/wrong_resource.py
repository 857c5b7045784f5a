# Source: https://github.com/huggingface/candle/pull/2037
# The barrier names the input of the next operation's neighbour, not its own.
from rig import CONCURRENT, FIXED, bind, buffer, kernels, queue

SOURCE = """
kernel void relu(device float* x, uint i [[thread_position_in_grid]]) {
    x[i] = metal::max(x[i], 1.0f);
}
kernel void add(device const float* a, device const float* b, device float* c,
                uint i [[thread_position_in_grid]]) {
    c[i] = a[i] + b[i];
}
"""
ops = kernels(SOURCE)
a, b, c = buffer("a"), buffer("b"), buffer("c")
commands = queue.commandBuffer()
encoder = commands.computeCommandEncoderWithDispatchType_(CONCURRENT)
bind(encoder, ops["relu"], a)
encoder.dispatchThreads_threadsPerThreadgroup_((64, 1, 1), (32, 1, 1))  # WITH
encoder.memoryBarrierWithResources_count_([a if FIXED else b], 1)
bind(encoder, ops["add"], a, b, c)
encoder.dispatchThreads_threadsPerThreadgroup_((64, 1, 1), (32, 1, 1))  # BUG unordered-dispatches
encoder.endEncoding()
commands.commit()
commands.waitUntilCompleted()
