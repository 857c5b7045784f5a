# Source: https://github.com/pytorch/pytorch/issues/189690
# A staging buffer is filled with the next tensor before the copy of the last one has run.
import numpy as np
from rig import FIXED, bind, buffer, kernels, queue, view

SOURCE = """
kernel void halve(device float* x, uint i [[thread_position_in_grid]]) { x[i] *= 0.5f; }
"""
halve = kernels(SOURCE)["halve"]
staging, target = buffer("staging"), buffer("target", 192)
for part in range(3):
    view(staging)[:] = np.full(64, part, np.float32)  # BUG host-write-in-flight
    commands = queue.commandBuffer()
    blit = commands.blitCommandEncoder()
    blit.copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size_(
        staging, 0, target, part * 256, 256
    )
    blit.endEncoding()
    encoder = commands.computeCommandEncoder()
    bind(encoder, halve, target)
    encoder.dispatchThreads_threadsPerThreadgroup_((192, 1, 1), (32, 1, 1))
    encoder.endEncoding()
    commands.commit()
    if FIXED:
        commands.waitUntilCompleted()
commands.waitUntilCompleted()
