# Source: https://github.com/renderbag/plume/pull/99
# Buffers of a heap are not tracked unless the heap is.
import Metal
from rig import FIXED, SHARED, bind, buffer, device, kernels, queue

SOURCE = """
kernel void make(device float* x, uint i [[thread_position_in_grid]]) { x[i] = i * 0.5f; }
kernel void use(device const float* x, device float* y, uint i [[thread_position_in_grid]]) {
    y[i] = x[i] + 1;
}
"""
ops = kernels(SOURCE)
descriptor = Metal.MTLHeapDescriptor.alloc().init()
descriptor.setSize_(1 << 16)
descriptor.setStorageMode_(Metal.MTLStorageModeShared)
if FIXED:
    descriptor.setHazardTrackingMode_(Metal.MTLHazardTrackingModeTracked)
heap = device.newHeapWithDescriptor_(descriptor)
x, y = heap.newBufferWithLength_options_(256, SHARED), buffer("y")
commands = queue.commandBuffer()
encoder = commands.computeCommandEncoder()
bind(encoder, ops["make"], x)
encoder.dispatchThreads_threadsPerThreadgroup_((64, 1, 1), (64, 1, 1))  # WITH
encoder.endEncoding()
encoder = commands.computeCommandEncoder()
bind(encoder, ops["use"], x, y)
encoder.dispatchThreads_threadsPerThreadgroup_((64, 1, 1), (64, 1, 1))  # BUG unordered-passes
encoder.endEncoding()
commands.commit()
commands.waitUntilCompleted()
