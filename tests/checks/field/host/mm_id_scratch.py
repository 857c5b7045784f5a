# Source: https://github.com/huggingface/candle/pull/3555
# Scratch for the rows of all tokens, never compared with what the device has.
from rig import FIXED, bind, buffer, kernels, queue

SOURCE = """
kernel void mm_id(device float* y, threadgroup ushort* rows [[threadgroup(0)]],
                  uint t [[thread_index_in_threadgroup]]) {
    rows[t] = t;
    threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    y[t] = rows[31 - t];
}
"""
commands = queue.commandBuffer()
encoder = commands.computeCommandEncoder()
bind(encoder, kernels(SOURCE)["mm_id"], buffer("y", 32))
tokens = 512 if FIXED else 8192
encoder.setThreadgroupMemoryLength_atIndex_(8192 + 4 * tokens, 0)  # BUG threadgroup-memory
encoder.dispatchThreadgroups_threadsPerThreadgroup_((1, 1, 1), (32, 1, 1))
encoder.endEncoding()
commands.commit()
commands.waitUntilCompleted()
