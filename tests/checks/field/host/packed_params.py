# Source: https://github.com/duanebester/gooey/pull/63
# The host packs a vector of three floats into 12 bytes; the kernel's float3 takes 16.
import struct

import numpy as np
from rig import FIXED, bind, buffer, kernels, queue

SOURCE = """
struct Light { float3 place; float power; uint kind; };
kernel void shade(device float* y, device const Light* lights, uint i [[thread_position_in_grid]]) {
    y[i] = lights[i].place.x * lights[i].power;  // BUG out-of-bounds-read
}
"""
layout = "3f4xfI8x" if FIXED else "3ffI"
lights = b"".join(struct.pack(layout, n, 2, 3, 0.5, 1) for n in range(8))
commands = queue.commandBuffer()
encoder = commands.computeCommandEncoder()
bind(
    encoder,
    kernels(SOURCE)["shade"],
    buffer("y"),
    buffer("lights", np.frombuffer(lights, np.uint8)),
)
encoder.dispatchThreads_threadsPerThreadgroup_((8, 1, 1), (8, 1, 1))
encoder.endEncoding()
commands.commit()
commands.waitUntilCompleted()
