# Source: https://github.com/huggingface/candle/pull/3595
# The reader waits for the last command buffer that it knows, not for the one with its copy.
from rig import FIXED, bind, buffer, kernels, queue, view

SOURCE = """
kernel void step(device float* x, uint i [[thread_position_in_grid]]) { x[i] += 1; }
"""
step = kernels(SOURCE)["step"]
x, readback = buffer("x"), buffer("readback")
first = queue.commandBuffer()
encoder = first.computeCommandEncoder()
bind(encoder, step, x)
encoder.dispatchThreads_threadsPerThreadgroup_((64, 1, 1), (64, 1, 1))
encoder.endEncoding()
first.commit()
second = queue.commandBuffer()
blit = second.blitCommandEncoder()
blit.copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size_(x, 0, readback, 0, 256)
blit.endEncoding()
second.commit()
(second if FIXED else first).waitUntilCompleted()
print(view(readback)[5])  # BUG host-read-early
second.waitUntilCompleted()
