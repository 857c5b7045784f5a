"""Textures of the emulated device for tests: made from arrays, read back, passed to kernels."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from assay.hal.metal import emulated as Metal
from assay.hal.metal.emulated import (
    MTLBuffer,
    MTLDevice,
    MTLSamplerState,
    MTLTexture,
    MTLTextureDescriptor,
)

HEAD = "#include <metal_stdlib>\nusing namespace metal;\n"
READ_WRITE = Metal.MTLTextureUsageShaderRead | Metal.MTLTextureUsageShaderWrite
Bytes = NDArray[Any]


def descriptor(
    format: int, size: Sequence[int], kind: int = Metal.MTLTextureType2D, **facts: int
) -> MTLTextureDescriptor:
    """A descriptor of `size` texels (width, height, depth); `facts` are setters' names."""
    found = MTLTextureDescriptor.new()
    found.setTextureType_(kind)
    found.setPixelFormat_(format)
    width, height, depth = (*size, 1, 1)[:3]
    found.setWidth_(width)
    found.setHeight_(height)
    found.setDepth_(depth)
    found.setUsage_(READ_WRITE | Metal.MTLTextureUsagePixelFormatView)
    for name, value in facts.items():
        getattr(found, f"set{name[0].upper()}{name[1:]}_")(value)
    return found


def put(texture: MTLTexture, data: Bytes, level: int = 0, slice: int = 0) -> None:
    """Fill a level of a slice; the last axes of `data` are rows and bytes or channels."""
    width = max(texture.width() >> level, 1)
    height = max(texture.height() >> level, 1)
    depth = max(texture.depth() >> level, 1)
    row = data.nbytes // (height * depth)
    texture.replaceRegion_mipmapLevel_slice_withBytes_bytesPerRow_bytesPerImage_(
        Metal.MTLRegionMake3D(0, 0, 0, width, height, depth),
        level,
        slice,
        np.ascontiguousarray(data),
        row,
        row * height,
    )


def get(texture: MTLTexture, dtype: DTypeLike, level: int = 0, slice: int = 0) -> Bytes:
    """A level of a slice as (depth, height, width, channels)."""
    width = max(texture.width() >> level, 1)
    height = max(texture.height() >> level, 1)
    depth = max(texture.depth() >> level, 1)
    row = width * texture.layout.format.size
    data = np.zeros(row * height * depth, np.uint8)
    texture.getBytes_bytesPerRow_bytesPerImage_fromRegion_mipmapLevel_slice_(
        data,
        row,
        row * height,
        Metal.MTLRegionMake3D(0, 0, 0, width, height, depth),
        level,
        slice,
    )
    return data.view(np.dtype(dtype)).reshape(depth, height, width, -1)


def pipeline(device: MTLDevice, source: str, name: str) -> Metal.MTLComputePipelineState:
    """The kernel `name` of MSL `source`, which needs no header lines."""
    library, error = device.newLibraryWithSource_options_error_(HEAD + source, None, None)
    assert library is not None, error
    function = library.newFunctionWithName_(name)
    assert function is not None
    state, error = device.newComputePipelineStateWithFunction_error_(function, None)
    assert state is not None, error
    return state


def run(
    device: MTLDevice,
    state: Metal.MTLComputePipelineState,
    threads: Sequence[int],
    *,
    textures: Sequence[MTLTexture | None] = (),
    samplers: Sequence[MTLSamplerState] = (),
    buffers: Mapping[int, MTLBuffer] | None = None,
    uses: Sequence[MTLTexture | MTLBuffer] = (),
) -> None:
    """Run the kernel over a grid and wait; an error of the command buffer is raised.

    `uses` are resources that it reaches through argument buffers.
    """
    command_buffer = device.newCommandQueue().commandBuffer()
    encoder = command_buffer.computeCommandEncoder()
    encoder.setComputePipelineState_(state)
    encoder.setTextures_withRange_(textures, (0, len(textures)))
    encoder.setSamplerStates_withRange_(samplers, (0, len(samplers)))
    for index, buffer in (buffers or {}).items():
        encoder.setBuffer_offset_atIndex_(buffer, 0, index)
    for resource in uses:
        encoder.useResource_usage_(
            resource, Metal.MTLResourceUsageRead | Metal.MTLResourceUsageWrite
        )
    width, height, depth = (*threads, 1, 1)[:3]
    encoder.dispatchThreads_threadsPerThreadgroup_((width, height, depth), (8, 4, 1))
    encoder.endEncoding()
    command_buffer.commit()
    command_buffer.waitUntilCompleted()
    assert command_buffer.error() is None, command_buffer.error()


def buffer_of(device: MTLDevice, data: Bytes) -> MTLBuffer:
    """A shared buffer with the bytes of an array."""
    return device.newBufferWithBytes_length_options_(np.ascontiguousarray(data), data.nbytes, 0)


def contents(buffer: MTLBuffer, dtype: DTypeLike) -> Bytes:
    """A buffer's elements."""
    found = np.frombuffer(buffer.contents().as_buffer(buffer.length()), np.uint8)
    return found.view(np.dtype(dtype))
