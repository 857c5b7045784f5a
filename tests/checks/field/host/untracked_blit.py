# Source: https://github.com/gfx-rs/wgpu/issues/3110
# A buffer without hazard tracking is copied while the kernel that fills it may still run.
from rig import FIXED, UNTRACKED, bind, buffer, device, kernels, queue

SOURCE = """
kernel void fill(device float* x, uint i [[thread_position_in_grid]]) { x[i] = i; }
"""
x, out = buffer("x", 64, UNTRACKED), buffer("out")
fence = device.newFence()
commands = queue.commandBuffer()
encoder = commands.computeCommandEncoder()
bind(encoder, kernels(SOURCE)["fill"], x)
encoder.dispatchThreads_threadsPerThreadgroup_((64, 1, 1), (64, 1, 1))  # WITH
if FIXED:
    encoder.updateFence_(fence)
encoder.endEncoding()
blit = commands.blitCommandEncoder()
if FIXED:
    blit.waitForFence_(fence)
copy = blit.copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size_
copy(x, 0, out, 0, 256)  # BUG unordered-passes
blit.endEncoding()
commands.commit()
commands.waitUntilCompleted()
