"""Textures and samplers for kernels that nobody gave any: as large as the grid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from assay.hal.metal import emulated as metal
from assay.hal.metal.emulated import MTLDevice, MTLSamplerState, MTLTexture

from .contents import random_array
from .inputs import Size

if TYPE_CHECKING:
    from assay.compiler.msl import Argument

_DEEP = 4  # slices of an array, or depth where the grid has none
_CUBE = 16  # texels along the edge of a cube
_CHANNELS = 4
# MTLDataType of what a kernel reads: the format with four such channels, and their type.
_FORMATS: dict[int, tuple[int, np.dtype[Any]]] = {
    metal.MTLDataTypeFloat: (metal.MTLPixelFormatRGBA32Float, np.dtype(np.float32)),
    metal.MTLDataTypeHalf: (metal.MTLPixelFormatRGBA16Float, np.dtype(np.float16)),
    metal.MTLDataTypeInt: (metal.MTLPixelFormatRGBA32Sint, np.dtype(np.int32)),
    metal.MTLDataTypeUInt: (metal.MTLPixelFormatRGBA32Uint, np.dtype(np.uint32)),
    metal.MTLDataTypeShort: (metal.MTLPixelFormatRGBA16Sint, np.dtype(np.int16)),
    metal.MTLDataTypeUShort: (metal.MTLPixelFormatRGBA16Uint, np.dtype(np.uint16)),
}
_FLAT = (metal.MTLTextureType1D, metal.MTLTextureType1DArray)
_ARRAYS = (
    metal.MTLTextureType1DArray,
    metal.MTLTextureType2DArray,
    metal.MTLTextureTypeCubeArray,
)
_CUBES = (metal.MTLTextureTypeCube, metal.MTLTextureTypeCubeArray)
_KNOWN = (
    *_FLAT,
    *_CUBES,
    metal.MTLTextureType2D,
    metal.MTLTextureType2DArray,
    metal.MTLTextureType3D,
)


def can_assume(argument: Argument) -> bool:
    """Whether a texture or sampler can be made up for the argument."""
    if argument.kind == "sampler":
        return True
    return (
        argument.kind == "texture"
        and argument.texture_type in _KNOWN
        and argument.data_type in _FORMATS
    )


def texture_size(argument: Argument, elements: Size) -> Size:
    """Width, height and depth of an assumed texture, for a grid made for so many elements."""
    width, height, depth = elements
    if argument.texture_type in _CUBES:
        return _CUBE, _CUBE, 1
    if argument.texture_type in _FLAT:
        return width, 1, 1
    if argument.texture_type == metal.MTLTextureType3D:
        return width, height, max(depth, _DEEP)
    return width, height, 1


def assumed_texture(device: MTLDevice, argument: Argument, elements: Size, seed: int) -> MTLTexture:
    """A texture of random texels, for an argument that `can_assume` allows."""
    width, height, depth = texture_size(argument, elements)
    is_array = argument.texture_type in _ARRAYS
    format_, dtype = _FORMATS[argument.data_type]
    channels = _CHANNELS
    if argument.is_depth:
        format_, dtype, channels = metal.MTLPixelFormatDepth32Float, np.dtype(np.float32), 1
    descriptor = metal.MTLTextureDescriptor.new()
    descriptor.setTextureType_(argument.texture_type)
    descriptor.setPixelFormat_(format_)
    descriptor.setWidth_(width)
    descriptor.setHeight_(height)
    descriptor.setDepth_(depth)
    descriptor.setArrayLength_(_DEEP if is_array else 1)
    usage = metal.MTLTextureUsageShaderRead
    if argument.access != "read":
        usage |= metal.MTLTextureUsageShaderWrite
    descriptor.setUsage_(usage)
    texture = device.newTextureWithDescriptor_(descriptor)
    texture.setLabel_(argument.name)
    data = random_array(dtype, width * height * depth * channels, seed)
    row = width * channels * dtype.itemsize
    for slice_ in range(_slices(argument)):
        texture.replaceRegion_mipmapLevel_slice_withBytes_bytesPerRow_bytesPerImage_(
            metal.MTLRegionMake3D(0, 0, 0, width, height, depth),
            0,
            slice_,
            data,
            row,
            row * height,
        )
    return texture


def assumed_sampler(device: MTLDevice) -> MTLSamplerState:
    """A sampler with Metal's own defaults."""
    return device.newSamplerStateWithDescriptor_(metal.MTLSamplerDescriptor.new())


def _slices(argument: Argument) -> int:
    """2D images that the texture has beside each other."""
    faces = 6 if argument.texture_type in _CUBES else 1
    return faces * (_DEEP if argument.texture_type in _ARRAYS else 1)
