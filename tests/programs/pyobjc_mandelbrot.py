# ruff: noqa: F403, F405
"""Escape times of the Mandelbrot set: a 2D grid, parameters in a struct, macros, one big import."""

import struct
import sys

import numpy as np
from Cocoa import *
from Metal import *

SOURCE = """
#include <metal_stdlib>
using namespace metal;

struct View { float2 centre; float scale; uint width; };

kernel void escape(device ushort* times [[buffer(0)]],
                   constant View& view [[buffer(1)]],
                   uint2 pixel [[thread_position_in_grid]],
                   uint2 size [[threads_per_grid]]) {
    const float2 c = view.centre + (float2(pixel) / float2(size) - 0.5f) * view.scale;
    float2 z = 0;
    ushort steps = 0;
    while (steps < STEPS && dot(z, z) < 4) {
        z = float2(z.x * z.x - z.y * z.y, 2 * z.x * z.y) + c;
        ++steps;
    }
    times[pixel.y * view.width + pixel.x] = steps;
}
"""


def main(width, height, steps):
    device = MTLCreateSystemDefaultDevice()
    options = MTLCompileOptions.alloc().init()
    options.setPreprocessorMacros_(NSDictionary.dictionaryWithObject_forKey_(str(steps), "STEPS"))
    library, error = device.newLibraryWithSource_options_error_(SOURCE, options, None)
    assert error is None, error
    function = library.newFunctionWithName_("escape")
    state, error = device.newComputePipelineStateWithFunction_error_(function, None)
    assert error is None, error

    times = device.newBufferWithLength_options_(width * height * 2, MTLResourceStorageModeShared)
    view = struct.pack("fffI", -0.5, 0.0, 3.0, width)
    queue = device.newCommandQueue()
    commands = queue.commandBuffer()
    encoder = commands.computeCommandEncoder()
    encoder.setComputePipelineState_(state)
    encoder.setBuffer_offset_atIndex_(times, 0, 0)
    encoder.setBytes_length_atIndex_(view, len(view), 1)
    wide = state.threadExecutionWidth()
    high = state.maxTotalThreadsPerThreadgroup() / wide
    encoder.dispatchThreads_threadsPerThreadgroup_(
        MTLSizeMake(width, height, 1), MTLSizeMake(wide, high, 1)
    )
    encoder.endEncoding()
    commands.commit()
    commands.waitUntilCompleted()
    assert commands.error() is None, commands.error()
    image = np.frombuffer(times.contents().as_buffer(times.length()), np.uint16)
    return image.reshape(height, width)


def expected(width, height, steps):
    x = (np.arange(width, dtype=np.float32) / np.float32(width) - 0.5) * np.float32(3) - 0.5
    y = (np.arange(height, dtype=np.float32) / np.float32(height) - 0.5) * np.float32(3)
    c = x + 1j * y[:, None]
    z, times = np.zeros_like(c), np.zeros(c.shape, int)
    for _ in range(steps):
        inside = np.abs(z) < 2
        times[inside] += 1
        z[inside] = z[inside] ** 2 + c[inside]
    return times


if __name__ == "__main__":
    width, height, steps = map(int, sys.argv[1:4])
    got = main(width, height, steps)
    same = (got == expected(width, height, steps)).mean()
    print(f"{width}x{height}: {'as expected' if same > 0.99 else f'only {same:.0%} right'}")
    print("inside:", int((got[height // 2] == steps).sum()) > 0)
