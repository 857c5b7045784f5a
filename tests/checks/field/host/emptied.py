# Source: written from memory of the class: purgeable memory that is emptied in use
# The cache entry is given up while its address is still in an argument buffer.
import Metal
import numpy as np
from rig import FIXED, bind, buffer, kernels, queue

SOURCE = """
struct Entry { device const float* data; };
kernel void fetch(device const Entry& entry, device float* y, uint i [[thread_position_in_grid]]) {
    y[i] = entry.data[i];  // BUG use-after-free
}
"""
data = buffer("data")
entry = buffer("entry", np.array([data.gpuAddress()], np.uint64))
if not FIXED:
    data.setPurgeableState_(Metal.MTLPurgeableStateEmpty)
commands = queue.commandBuffer()
encoder = commands.computeCommandEncoder()
bind(encoder, kernels(SOURCE)["fetch"], entry, buffer("y"))
encoder.useResource_usage_(data, Metal.MTLResourceUsageRead)
encoder.dispatchThreads_threadsPerThreadgroup_((64, 1, 1), (64, 1, 1))
encoder.endEncoding()
commands.commit()
commands.waitUntilCompleted()
