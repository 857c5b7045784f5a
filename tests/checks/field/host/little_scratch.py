# Source: https://github.com/JuliaGPU/Metal.jl/pull/828
# Threadgroup memory is given for half of the threads.
from rig import FIXED, bind, buffer, kernels, queue

SOURCE = """
kernel void turn(device float* x, threadgroup float* s [[threadgroup(0)]],
                 uint t [[thread_index_in_threadgroup]]) {
    s[t] = x[t];  // BUG out-of-bounds-write
    threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    x[t] = s[63 - t];
}
"""
commands = queue.commandBuffer()
encoder = commands.computeCommandEncoder()
bind(encoder, kernels(SOURCE)["turn"], buffer("x"))
encoder.setThreadgroupMemoryLength_atIndex_(256 if FIXED else 128, 0)
encoder.dispatchThreads_threadsPerThreadgroup_((64, 1, 1), (64, 1, 1))
encoder.endEncoding()
commands.commit()
commands.waitUntilCompleted()
