# Source: https://github.com/kvark/blade/pull/332
# The barrier is for textures, and what is shared is a buffer.
import Metal
from rig import CONCURRENT, FIXED, bind, buffer, kernels, queue

SOURCE = """
kernel void fill(device uint* x, uint i [[thread_position_in_grid]]) { x[i] = i + 1; }
kernel void next(device uint* x, uint i [[thread_position_in_grid]]) { x[i] = x[i ^ 1] * 2; }
"""
ops = kernels(SOURCE)
x = buffer("x")
commands = queue.commandBuffer()
encoder = commands.computeCommandEncoderWithDispatchType_(CONCURRENT)
bind(encoder, ops["fill"], x)
encoder.dispatchThreads_threadsPerThreadgroup_((64, 1, 1), (64, 1, 1))  # WITH
scope = Metal.MTLBarrierScopeBuffers if FIXED else Metal.MTLBarrierScopeTextures
encoder.memoryBarrierWithScope_(scope)
encoder.setComputePipelineState_(ops["next"])
dispatch = encoder.dispatchThreadgroups_threadsPerThreadgroup_
dispatch((2, 1, 1), (32, 1, 1))  # BUG unordered-dispatches
encoder.endEncoding()
commands.commit()
commands.waitUntilCompleted()
