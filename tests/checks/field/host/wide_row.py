# Source: https://github.com/huggingface/candle/pull/3704
# One thread for each padded column, and more columns than a threadgroup may have threads.
from rig import FIXED, bind, buffer, kernels, queue

SOURCE = """
kernel void sort(device float* x, constant uint& columns, uint t [[thread_index_in_threadgroup]],
                 uint n [[threads_per_threadgroup]]) {
    for (uint c = t; c < columns; c += n) x[c] = -x[c];
}
"""
commands = queue.commandBuffer()
encoder = commands.computeCommandEncoder()
bind(encoder, kernels(SOURCE)["sort"], buffer("x", 2048))
encoder.setBytes_length_atIndex_((2048).to_bytes(4, "little"), 4, 1)
size = (1024 if FIXED else 2048, 1, 1)
encoder.dispatchThreadgroups_threadsPerThreadgroup_((1, 1, 1), size)  # BUG grid-limits
encoder.endEncoding()
commands.commit()
commands.waitUntilCompleted()
