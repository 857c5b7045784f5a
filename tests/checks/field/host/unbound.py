# Source: written from memory of the class: a failed allocation that is bound
# The output was not allocated, and None is bound in its place.
from rig import FIXED, bind, buffer, kernels, queue

SOURCE = """
kernel void fma3(device const float* a [[buffer(0)]], device const float* b [[buffer(1)]],
                 device float* c [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    c[i] = a[i] * b[i] + 1;  // BUG null-write
}
"""
a, b, c = buffer("a"), buffer("b"), buffer("c")
commands = queue.commandBuffer()
encoder = commands.computeCommandEncoder()
bind(encoder, kernels(SOURCE)["fma3"], a, b, c if FIXED else None)
encoder.dispatchThreads_threadsPerThreadgroup_((64, 1, 1), (64, 1, 1))
encoder.endEncoding()
commands.commit()
commands.waitUntilCompleted()
