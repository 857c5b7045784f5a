# Source: https://github.com/ggml-org/ggml/issues/1532
# The kernel for large kernels is chosen by one rule, its grid by another one.
from rig import FIXED, bind, buffer, kernels, queue

SOURCE = """
kernel void im2col_ext(device const float* x, device float* y, constant uint& taps,
                       uint3 group [[threadgroup_position_in_grid]],
                       uint3 groups [[threadgroups_per_grid]],
                       uint3 t [[thread_position_in_threadgroup]],
                       uint3 n [[threads_per_threadgroup]]) {
    const uint tap = group.z * n.x + t.x;
    if (tap < taps) y[group.x * taps + tap] = x[group.x + tap];  // BUG out-of-bounds-write
}
"""
commands = queue.commandBuffer()
encoder = commands.computeCommandEncoder()
bind(encoder, kernels(SOURCE)["im2col_ext"], buffer("x", 96), buffer("y", 4 * 48))
encoder.setBytes_length_atIndex_((48).to_bytes(4, "little"), 4, 2)
groups = (4, 1, 2) if FIXED else (48, 1, 2)
encoder.dispatchThreadgroups_threadsPerThreadgroup_(groups, (32, 1, 1))
encoder.endEncoding()
commands.commit()
commands.waitUntilCompleted()
