# Source: https://github.com/shader-slang/slang-rhi/pull/713
# The wait is for a value that the event had reached one submission before.
from rig import FIXED, bind, buffer, device, kernels, queue

SOURCE = """
kernel void bump(device int* x, uint i [[thread_position_in_grid]]) { x[i] += 1; }
kernel void take(device const int* x, device int* y, uint i [[thread_position_in_grid]]) {
    y[i] = x[i];
}
"""
ops = kernels(SOURCE)
x, y = buffer("x"), buffer("y")
event = device.newSharedEvent()
for turn in (1, 2):
    commands = queue.commandBuffer()
    encoder = commands.computeCommandEncoder()
    bind(encoder, ops["bump"], x)
    encoder.dispatchThreads_threadsPerThreadgroup_((64, 1, 1), (64, 1, 1))  # WITH
    encoder.endEncoding()
    commands.encodeSignalEvent_value_(event, turn)
    commands.commit()
reader = device.newCommandQueue().commandBuffer()
reader.encodeWaitForEvent_value_(event, 2 if FIXED else 1)
encoder = reader.computeCommandEncoder()
bind(encoder, ops["take"], x, y)
encoder.dispatchThreads_threadsPerThreadgroup_((64, 1, 1), (64, 1, 1))  # BUG unordered-queues
encoder.endEncoding()
reader.commit()
commands.waitUntilCompleted()
reader.waitUntilCompleted()
