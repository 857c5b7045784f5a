# Source: https://github.com/1bit-MONSTER/1bit-MONSTER/issues/648
# The host adds up the product before the command buffer has been waited for.
from rig import FIXED, bind, buffer, kernels, queue, view

SOURCE = """
kernel void gemv(device const float* a, device float* y, uint i [[thread_position_in_grid]]) {
    y[i] = a[i] * 2;
}
"""
a, y = buffer("a"), buffer("y")
commands = queue.commandBuffer()
encoder = commands.computeCommandEncoder()
bind(encoder, kernels(SOURCE)["gemv"], a, y)
encoder.dispatchThreads_threadsPerThreadgroup_((64, 1, 1), (32, 1, 1))
encoder.endEncoding()
commands.commit()
if FIXED:
    commands.waitUntilCompleted()
total = view(y).sum()  # BUG host-read-early
commands.waitUntilCompleted()
