# Source: https://github.com/ml-explore/mlx/issues/4534
# Threads are handed over where threadgroups are counted.
from rig import FIXED, bind, buffer, kernels, queue

SOURCE = """
kernel void twice(device float* x, uint i [[thread_position_in_grid]]) {
    x[i] *= 2;  // BUG out-of-bounds-read|out-of-bounds-write
}
"""
commands = queue.commandBuffer()
encoder = commands.computeCommandEncoder()
bind(encoder, kernels(SOURCE)["twice"], buffer("x", 128))
grid = (128 // 32 if FIXED else 128, 1, 1)
encoder.dispatchThreadgroups_threadsPerThreadgroup_(grid, (32, 1, 1))
encoder.endEncoding()
commands.commit()
commands.waitUntilCompleted()
