# Source: written from memory of the class: placement heaps whose resources overlap
# Two transient buffers share their bytes, and no fence lies between the passes that use them.
import Metal
from rig import FIXED, SHARED, bind, buffer, device, kernels, queue

SOURCE = """
kernel void first(device float* a, device float* y, uint i [[thread_position_in_grid]]) {
    a[i] = i;
    y[i] = a[i] + 1;
}
kernel void second(device float* b, uint i [[thread_position_in_grid]]) { b[i] = 100 + i; }
"""
ops = kernels(SOURCE)
descriptor = Metal.MTLHeapDescriptor.alloc().init()
descriptor.setSize_(1 << 16)
descriptor.setType_(Metal.MTLHeapTypePlacement)
descriptor.setStorageMode_(Metal.MTLStorageModeShared)
heap = device.newHeapWithDescriptor_(descriptor)
a = heap.newBufferWithLength_options_offset_(256, SHARED, 0)
b = heap.newBufferWithLength_options_offset_(256, SHARED, 0)
fence = device.newFence()
commands = queue.commandBuffer()
encoder = commands.computeCommandEncoder()
bind(encoder, ops["first"], a, buffer("y"))
encoder.dispatchThreads_threadsPerThreadgroup_((64, 1, 1), (64, 1, 1))  # WITH
encoder.updateFence_(fence)
encoder.endEncoding()
encoder = commands.computeCommandEncoder()
if FIXED:
    encoder.waitForFence_(fence)
bind(encoder, ops["second"], b)
encoder.dispatchThreads_threadsPerThreadgroup_((64, 1, 1), (64, 1, 1))  # BUG unordered-passes
encoder.endEncoding()
commands.commit()
commands.waitUntilCompleted()
