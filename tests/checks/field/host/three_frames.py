# Source: written from memory of the class: two buffers for three frames in flight
# The third frame's data replace those of the first one, which nobody has waited for.
import numpy as np
from rig import FIXED, bind, buffer, kernels, queue, view

SOURCE = """
kernel void blend(device const float* from, device float* to, uint i [[thread_position_in_grid]]) {
    to[i] = 0.5f * (to[i] + from[i]);
}
"""
blend = kernels(SOURCE)["blend"]
slots = [buffer(f"slot {n}") for n in range(3 if FIXED else 2)]
image = buffer("image")
for turn in range(3):
    slot = slots[turn % len(slots)]
    view(slot)[:] = np.arange(64) + turn  # BUG host-write-in-flight
    commands = queue.commandBuffer()
    encoder = commands.computeCommandEncoder()
    bind(encoder, blend, slot, image)
    encoder.dispatchThreads_threadsPerThreadgroup_((64, 1, 1), (64, 1, 1))  # WITH
    encoder.endEncoding()
    commands.commit()
commands.waitUntilCompleted()
