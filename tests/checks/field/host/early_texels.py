# Source: https://github.com/flutter/flutter/issues/129379
# A screenshot takes the texels before the commands that draw them have run.
import Metal
import numpy as np
from rig import FIXED, device, kernels, queue

SOURCE = """
#include <metal_stdlib>
using namespace metal;
kernel void draw(texture2d<float, access::write> image [[texture(0)]],
                 uint2 p [[thread_position_in_grid]]) {
    image.write(float4(p.x, p.y, 0, 255) / 255, p);
}
"""
make = Metal.MTLTextureDescriptor.texture2DDescriptorWithPixelFormat_width_height_mipmapped_
descriptor = make(Metal.MTLPixelFormatRGBA8Unorm, 8, 8, False)
descriptor.setUsage_(Metal.MTLTextureUsageShaderWrite)
image = device.newTextureWithDescriptor_(descriptor)
commands = queue.commandBuffer()
encoder = commands.computeCommandEncoder()
encoder.setComputePipelineState_(kernels(SOURCE)["draw"])
encoder.setTexture_atIndex_(image, 0)
encoder.dispatchThreads_threadsPerThreadgroup_((8, 8, 1), (8, 8, 1))
encoder.endEncoding()
commands.commit()
if FIXED:
    commands.waitUntilCompleted()
shot = np.zeros((8, 8, 4), np.uint8)
area = Metal.MTLRegionMake2D(0, 0, 8, 8)
image.getBytes_bytesPerRow_fromRegion_mipmapLevel_(shot, 32, area, 0)  # BUG host-read-early
commands.waitUntilCompleted()
