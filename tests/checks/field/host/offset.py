# Source: https://github.com/metal-by-example/sample-code/issues/12
# The offset counts elements of the row, and setBuffer wants bytes of the right row.
from rig import FIXED, bind, buffer, kernels, queue

SOURCE = """
kernel void row(device const float* x, device float* y, uint i [[thread_position_in_grid]]) {
    y[i] = x[i];  // BUG out-of-bounds-read
}
"""
x, y = buffer("x", 96), buffer("y", 32)
commands = queue.commandBuffer()
encoder = commands.computeCommandEncoder()
bind(encoder, kernels(SOURCE)["row"], x, y)
encoder.setBuffer_offset_atIndex_(x, 64 * 4 if FIXED else 64 * 5, 0)
encoder.dispatchThreads_threadsPerThreadgroup_((32, 1, 1), (32, 1, 1))
encoder.endEncoding()
commands.commit()
commands.waitUntilCompleted()
