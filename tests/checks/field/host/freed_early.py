# Source: https://github.com/ggml-org/llama.cpp/pull/2757
# An allocator gives the place of a tensor that is still read to the next operation's result.
import Metal
from rig import CONCURRENT, FIXED, buffer, kernels, queue

SOURCE = """
kernel void scale(device const float* from, device float* to, uint i [[thread_position_in_grid]]) {
    to[i] = from[i] * 2 + 1;
}
"""
scale = kernels(SOURCE)["scale"]
arena = buffer("arena", 256)
commands = queue.commandBuffer()
encoder = commands.computeCommandEncoderWithDispatchType_(CONCURRENT)
encoder.setComputePipelineState_(scale)
encoder.setBuffer_offset_atIndex_(arena, 0, 0)
encoder.setBuffer_offset_atIndex_(arena, 256, 1)
encoder.dispatchThreads_threadsPerThreadgroup_((64, 1, 1), (64, 1, 1))  # WITH
if FIXED:
    encoder.memoryBarrierWithScope_(Metal.MTLBarrierScopeBuffers)
encoder.setBuffer_offset_atIndex_(arena, 512, 0)
encoder.setBuffer_offset_atIndex_(arena, 0, 1)
encoder.dispatchThreads_threadsPerThreadgroup_((64, 1, 1), (64, 1, 1))  # BUG unordered-dispatches
encoder.endEncoding()
commands.commit()
commands.waitUntilCompleted()
