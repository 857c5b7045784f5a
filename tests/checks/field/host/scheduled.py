# Source: https://github.com/wcandillon/react-native-webgpu/pull/55
# That commands are scheduled does not say that they have run.
import numpy as np
from rig import FIXED, bind, buffer, kernels, queue, view

SOURCE = """
kernel void square(device int* x, uint i [[thread_position_in_grid]]) { x[i] *= x[i]; }
"""
x = buffer("x", np.arange(96, dtype=np.int32))
commands = queue.commandBuffer()
encoder = commands.computeCommandEncoder()
bind(encoder, kernels(SOURCE)["square"], x)
encoder.dispatchThreads_threadsPerThreadgroup_((96, 1, 1), (32, 1, 1))
encoder.endEncoding()
commands.commit()
if FIXED:
    commands.waitUntilCompleted()
else:
    commands.waitUntilScheduled()
assert view(x, np.int32)[3] >= 3  # BUG host-read-early
commands.waitUntilCompleted()
