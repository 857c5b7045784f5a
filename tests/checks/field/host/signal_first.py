# Source: https://github.com/ml-explore/mlx/pull/3144
# The event is signalled before the encoder whose work it announces.
from rig import FIXED, bind, buffer, device, kernels, queue

SOURCE = """
kernel void put(device float* x, uint i [[thread_position_in_grid]]) { x[i] = i * 3; }
"""
x, out = buffer("x"), buffer("out")
event = device.newEvent()
first = queue.commandBuffer()
if not FIXED:
    first.encodeSignalEvent_value_(event, 1)
encoder = first.computeCommandEncoder()
bind(encoder, kernels(SOURCE)["put"], x)
encoder.dispatchThreads_threadsPerThreadgroup_((64, 1, 1), (64, 1, 1))  # WITH
encoder.endEncoding()
if FIXED:
    first.encodeSignalEvent_value_(event, 1)
second = device.newCommandQueue().commandBuffer()
second.encodeWaitForEvent_value_(event, 1)
blit = second.blitCommandEncoder()
copy = blit.copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size_
copy(x, 0, out, 0, 128)  # BUG unordered-queues
blit.endEncoding()
first.commit()
second.commit()
first.waitUntilCompleted()
second.waitUntilCompleted()
