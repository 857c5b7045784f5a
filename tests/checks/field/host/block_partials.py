# Source: https://github.com/trymirai/uzu/issues/523
# One block's count is written, those of all blocks are added up: memory of a heap is not cleared.
import Metal
from rig import FIXED, SHARED, bind, buffer, device, kernels, queue

SOURCE = """
kernel void count(device uint* partials, uint block [[threadgroup_position_in_grid]]) {
    partials[block] = 7;
}
kernel void offsets(device const uint* partials, device uint* y) {
    uint sum = 0;
    for (int k = 0; k < 4; ++k) sum += partials[k];
    y[0] = sum;  // BUG uninitialised-read
}
"""
states = kernels(SOURCE)
descriptor = Metal.MTLHeapDescriptor.new()
descriptor.setSize_(4096)
descriptor.setStorageMode_(Metal.MTLStorageModeShared)
descriptor.setHazardTrackingMode_(Metal.MTLHazardTrackingModeTracked)
heap = device.newHeapWithDescriptor_(descriptor)
partials = heap.newBufferWithLength_options_(16, SHARED)
partials.setLabel_("partials")
commands = queue.commandBuffer()
encoder = commands.computeCommandEncoder()
bind(encoder, states["count"], partials)
blocks = (4, 1, 1) if FIXED else (1, 1, 1)
encoder.dispatchThreadgroups_threadsPerThreadgroup_(blocks, (1, 1, 1))
bind(encoder, states["offsets"], partials, buffer("y", 1))
encoder.dispatchThreadgroups_threadsPerThreadgroup_((1, 1, 1), (1, 1, 1))
encoder.endEncoding()
commands.commit()
commands.waitUntilCompleted()
