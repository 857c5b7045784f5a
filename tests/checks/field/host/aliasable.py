# Source: written from memory of the class: makeAliasable before the last use is encoded
# The transient buffer is given back, and then bound once more.
import Metal
from rig import FIXED, SHARED, bind, buffer, device, kernels, queue

SOURCE = """
kernel void write(device float* x, uint i [[thread_position_in_grid]]) { x[i] = i; }
kernel void read(device const float* x, device float* y, uint i [[thread_position_in_grid]]) {
    y[i] = x[i];
}
"""
ops = kernels(SOURCE)
descriptor = Metal.MTLHeapDescriptor.alloc().init()
descriptor.setSize_(1 << 16)
descriptor.setStorageMode_(Metal.MTLStorageModeShared)
heap = device.newHeapWithDescriptor_(descriptor)
x, y = heap.newBufferWithLength_options_(256, SHARED), buffer("y")
commands = queue.commandBuffer()
encoder = commands.computeCommandEncoder()
bind(encoder, ops["write"], x)
encoder.dispatchThreads_threadsPerThreadgroup_((64, 1, 1), (64, 1, 1))
if not FIXED:
    x.makeAliasable()  # WITH
bind(encoder, ops["read"], x, y)
encoder.dispatchThreads_threadsPerThreadgroup_((64, 1, 1), (64, 1, 1))  # BUG aliased-use
encoder.endEncoding()
if FIXED:
    x.makeAliasable()
commands.commit()
commands.waitUntilCompleted()
