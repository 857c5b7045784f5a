# Source: https://github.com/ggml-org/llama.cpp/pull/19567
# A buffer of a pool is cleared on another queue while the kernel that uses it may run.
from rig import FIXED, bind, buffer, device, kernels, queue

SOURCE = """
kernel void accumulate(device float* x, uint i [[thread_position_in_grid]]) { x[i] += i; }
"""
x = buffer("x")
clearing = device.newCommandQueue().commandBuffer()
blit = clearing.blitCommandEncoder()
blit.fillBuffer_range_value_(x, (0, 256), 0)  # WITH
blit.endEncoding()
clearing.commit()
if FIXED:
    clearing.waitUntilCompleted()
commands = queue.commandBuffer()
encoder = commands.computeCommandEncoder()
bind(encoder, kernels(SOURCE)["accumulate"], x)
encoder.dispatchThreads_threadsPerThreadgroup_((64, 1, 1), (64, 1, 1))  # BUG unordered-queues
encoder.endEncoding()
commands.commit()
commands.waitUntilCompleted()
clearing.waitUntilCompleted()
