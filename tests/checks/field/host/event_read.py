# Source: https://github.com/shader-slang/slang-rhi/issues/640
# The host waits for the value of an earlier submission and reads what the later one writes.
from rig import FIXED, bind, buffer, device, kernels, queue, view

SOURCE = """
kernel void bump(device float* x, uint i [[thread_position_in_grid]]) { x[i] += 1; }
"""
bump = kernels(SOURCE)["bump"]
x = buffer("x")
event = device.newSharedEvent()
for turn in (1, 2):
    commands = queue.commandBuffer()
    encoder = commands.computeCommandEncoder()
    bind(encoder, bump, x)
    encoder.dispatchThreads_threadsPerThreadgroup_((64, 1, 1), (64, 1, 1))  # WITH
    encoder.endEncoding()
    commands.encodeSignalEvent_value_(event, turn)
    commands.commit()
event.waitUntilSignaledValue_timeoutMS_(2 if FIXED else 1, 10_000)
print(view(x).max())  # BUG host-read-early
commands.waitUntilCompleted()
