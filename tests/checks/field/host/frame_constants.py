# Source: written from memory of the class: per-frame constants in one buffer
# Constants of the next frame are written while the frame before may still read them.
import numpy as np
from rig import FIXED, bind, buffer, kernels, queue, view

SOURCE = """
kernel void frame(constant float& time, device float* x, uint i [[thread_position_in_grid]]) {
    x[i] += time;
}
"""
frame = kernels(SOURCE)["frame"]
time, x = buffer("time", 1), buffer("x")
clock = view(time)
for turn in range(3):
    clock[0] = np.float32(turn)  # BUG host-write-in-flight
    commands = queue.commandBuffer()
    encoder = commands.computeCommandEncoder()
    bind(encoder, frame, time, x)
    encoder.dispatchThreads_threadsPerThreadgroup_((64, 1, 1), (64, 1, 1))  # WITH
    encoder.endEncoding()
    commands.commit()
    if FIXED:
        commands.waitUntilCompleted()
commands.waitUntilCompleted()
