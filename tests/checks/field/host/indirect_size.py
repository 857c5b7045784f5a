# Source: https://github.com/gfx-rs/wgpu/issues/6409
# The grid of an indirect dispatch is computed by a kernel of the same concurrent encoder.
import Metal
import numpy as np
from rig import CONCURRENT, FIXED, bind, buffer, kernels, queue

SOURCE = """
kernel void count(device uint* grid) { grid[0] = 2; grid[1] = 1; grid[2] = 1; }
kernel void work(device float* x, uint i [[thread_position_in_grid]]) { x[i] = i; }
"""
ops = kernels(SOURCE)
grid, x = buffer("grid", np.ones(3, np.uint32)), buffer("x")
commands = queue.commandBuffer()
encoder = commands.computeCommandEncoderWithDispatchType_(CONCURRENT)
bind(encoder, ops["count"], grid)
encoder.dispatchThreads_threadsPerThreadgroup_((1, 1, 1), (1, 1, 1))  # WITH
if FIXED:
    encoder.memoryBarrierWithScope_(Metal.MTLBarrierScopeBuffers)
bind(encoder, ops["work"], x)
size = (32, 1, 1)
indirect = (
    encoder.dispatchThreadgroupsWithIndirectBuffer_indirectBufferOffset_threadsPerThreadgroup_
)
indirect(grid, 0, size)  # BUG unordered-dispatches
encoder.endEncoding()
commands.commit()
commands.waitUntilCompleted()
