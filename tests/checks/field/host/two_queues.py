# Source: https://github.com/gfx-rs/gfx/issues/2094
# Command buffers of a pool of queues: the later commit is taken to run later.
from rig import FIXED, bind, buffer, device, kernels, queue

SOURCE = """
kernel void produce(device int* x, uint i [[thread_position_in_grid]]) { x[i] = i + 7; }
kernel void consume(device const int* x, device int* y, uint i [[thread_position_in_grid]]) {
    y[i] = x[i] * 2;
}
"""
ops = kernels(SOURCE)
x, y = buffer("x"), buffer("y")
event = device.newEvent()
first = queue.commandBuffer()
encoder = first.computeCommandEncoder()
bind(encoder, ops["produce"], x)
encoder.dispatchThreads_threadsPerThreadgroup_((64, 1, 1), (64, 1, 1))  # WITH
encoder.endEncoding()
if FIXED:
    first.encodeSignalEvent_value_(event, 1)
second = device.newCommandQueue().commandBuffer()
if FIXED:
    second.encodeWaitForEvent_value_(event, 1)
encoder = second.computeCommandEncoder()
bind(encoder, ops["consume"], x, y)
encoder.dispatchThreads_threadsPerThreadgroup_((64, 1, 1), (64, 1, 1))  # BUG unordered-queues
encoder.endEncoding()
first.commit()
second.commit()
first.waitUntilCompleted()
second.waitUntilCompleted()
