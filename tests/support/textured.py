"""Programs that are recorded and use textures and samplers."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.support.recorded import SIZE, floats

SOURCE = """
#include <metal_stdlib>
using namespace metal;
kernel void read(texture2d<float> t [[texture(0)]], device float* y [[buffer(0)]],
                 uint i [[thread_position_in_grid]]) { y[i] = t.read(uint2(i, 0)).x; }
kernel void sample(texture2d<float> t [[texture(0)]], sampler s [[sampler(0)]],
                   device float* y [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    y[i] = t.sample(s, float2((float(i) - 1.0f) / 4.0f, 0.6f), level(1.0f)).x;
}
kernel void write(texture2d_array<half, access::write> t [[texture(0)]],
                  uint i [[thread_position_in_grid]]) {
    t.write(half4(i, 2, 3, 4), ushort2(i % 4, i / 4), 1, 1);
}
struct Both { texture2d<float> t [[id(0)]]; sampler s [[id(1)]]; device float* y [[id(2)]]; };
kernel void encoded(constant Both& both [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    both.y[i] = both.t.sample(both.s, float2(float(i) / 4.0f, 0.5f)).x;
}
"""


def texture(metal: Any, device: Any, options: int = 0) -> Any:
    """A texture of 4 x 2 floats with two levels; numbers from 1 on if the host can see it."""
    make = "texture2DDescriptorWithPixelFormat_width_height_mipmapped_"
    described = getattr(metal.MTLTextureDescriptor, make)(metal.MTLPixelFormatR32Float, 4, 2, True)
    described.setMipmapLevelCount_(2)
    described.setResourceOptions_(options)
    described.setUsage_(metal.MTLTextureUsageShaderRead | metal.MTLTextureUsagePixelFormatView)
    made = device.newTextureWithDescriptor_(described)
    if not options:
        for level, width, height in ((0, 4, 2), (1, 2, 1)):
            values = np.arange(1, 1 + width * height, dtype=np.float32)
            made.replaceRegion_mipmapLevel_withBytes_bytesPerRow_(
                ((0, 0, 0), (width, height, 1)), level, values, 4 * width
            )
    return made


def sampler(metal: Any, device: Any) -> Any:
    """A sampler between texels, with zeros around."""
    described = metal.MTLSamplerDescriptor.new()
    described.setMinFilter_(metal.MTLSamplerMinMagFilterLinear)
    described.setMagFilter_(metal.MTLSamplerMinMagFilterLinear)
    described.setMipFilter_(metal.MTLSamplerMipFilterNearest)
    described.setSAddressMode_(metal.MTLSamplerAddressModeClampToZero)
    described.setSupportArgumentBuffers_(True)
    return device.newSamplerStateWithDescriptor_(described)


class Dispatch:
    """One dispatch of eight threads of a kernel of `SOURCE`, and what it writes to `y`."""

    def __init__(self, metal: Any, device: Any, kernel: str) -> None:
        library, error = device.newLibraryWithSource_options_error_(SOURCE, None, None)
        assert library is not None, error
        self.function = library.newFunctionWithName_(kernel)
        state, error = device.newComputePipelineStateWithFunction_error_(self.function, None)
        assert state is not None, error
        self.y = floats(device, np.zeros(8))
        self._commands = device.newCommandQueue().commandBuffer()
        self.encoder = self._commands.computeCommandEncoder()
        self.encoder.setComputePipelineState_(state)
        self.encoder.setBuffer_offset_atIndex_(self.y, 0, 0)

    def run(self) -> None:
        """Run it to its end."""
        self.encoder.dispatchThreads_threadsPerThreadgroup_(SIZE, SIZE)
        self.encoder.endEncoding()
        self._commands.commit()
        self._commands.waitUntilCompleted()
        assert self._commands.error() is None
