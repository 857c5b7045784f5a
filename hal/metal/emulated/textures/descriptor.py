"""MTLTextureDescriptor: what a texture is to be."""

from typing import Self

from assay.hw.apple.facts.limits import limits

from ..constants import MTLStorageModeShared
from ..errors import MetalValidationError
from ..objects import call_of
from ..resources.resource import OptionsDescriptor
from ..structs import MTLTextureSwizzleChannels, as_integer
from ..texture_constants import (
    MTLPixelFormatRGBA8Unorm,
    MTLTextureType1D,
    MTLTextureType1DArray,
    MTLTextureType2D,
    MTLTextureType2DArray,
    MTLTextureType2DMultisample,
    MTLTextureType2DMultisampleArray,
    MTLTextureType3D,
    MTLTextureTypeCube,
    MTLTextureTypeCubeArray,
    MTLTextureTypeTextureBuffer,
    MTLTextureUsageShaderRead,
)
from .formats import pixel_format
from .layout import Layout, Swizzle, layout_of

_LIMITS = limits()
_ARRAYS = (
    MTLTextureType1DArray,
    MTLTextureType2DArray,
    MTLTextureTypeCubeArray,
    MTLTextureType2DMultisampleArray,
)
_MULTISAMPLED = (MTLTextureType2DMultisample, MTLTextureType2DMultisampleArray)
_CUBES = (MTLTextureTypeCube, MTLTextureTypeCubeArray)
_SAMPLE_COUNTS = (2, 4, 8)


class MTLTextureDescriptor(OptionsDescriptor):
    """How a texture is to be."""

    _type = MTLTextureType2D
    _format = MTLPixelFormatRGBA8Unorm
    _width = 1
    _height = 1
    _depth = 1
    _levels = 1
    _samples = 1
    _array_length = 1
    _usage = MTLTextureUsageShaderRead
    _optimized = True
    _swizzle: tuple[int, int, int, int] = MTLTextureSwizzleChannels()

    @classmethod
    def texture2DDescriptorWithPixelFormat_width_height_mipmapped_(
        cls, format: int, width: int, height: int, mipmapped: bool
    ) -> Self:
        """A 2D texture, with all levels when `mipmapped`."""
        found = cls()
        found.setPixelFormat_(format)
        found.setWidth_(width)
        found.setHeight_(height)
        if mipmapped:
            found._levels = max(found._width, found._height, 1).bit_length()
        return found

    @classmethod
    def textureCubeDescriptorWithPixelFormat_size_mipmapped_(
        cls, format: int, size: int, mipmapped: bool
    ) -> Self:
        """A cube of six faces of `size` times `size` texels."""
        found = cls.texture2DDescriptorWithPixelFormat_width_height_mipmapped_(
            format, size, size, mipmapped
        )
        found._type = MTLTextureTypeCube
        return found

    @classmethod
    def textureBufferDescriptorWithPixelFormat_width_resourceOptions_usage_(
        cls, format: int, width: int, options: int, usage: int
    ) -> Self:
        """A texture buffer of `width` texels."""
        found = cls()
        found.setPixelFormat_(format)
        found.setWidth_(width)
        found.setResourceOptions_(options)
        found.setUsage_(usage)
        found._type = MTLTextureTypeTextureBuffer
        return found

    def textureType(self) -> int:
        """The MTLTextureType."""
        return self._type

    def setTextureType_(self, kind: int) -> None:
        """Set the MTLTextureType."""
        self._type = as_integer(call_of(self), "the value", kind)

    def pixelFormat(self) -> int:
        """The MTLPixelFormat."""
        return self._format

    def setPixelFormat_(self, format: int) -> None:
        """Set the MTLPixelFormat."""
        self._format = as_integer(call_of(self), "the value", format)

    def width(self) -> int:
        """Texels in a row."""
        return self._width

    def setWidth_(self, width: int) -> None:
        """Set the texels in a row."""
        self._width = as_integer(call_of(self), "the value", width)

    def height(self) -> int:
        """Rows."""
        return self._height

    def setHeight_(self, height: int) -> None:
        """Set the number of rows."""
        self._height = as_integer(call_of(self), "the value", height)

    def depth(self) -> int:
        """Planes of a 3D texture."""
        return self._depth

    def setDepth_(self, depth: int) -> None:
        """Set the planes of a 3D texture."""
        self._depth = as_integer(call_of(self), "the value", depth)

    def mipmapLevelCount(self) -> int:
        """Mipmap levels, the full size included."""
        return self._levels

    def setMipmapLevelCount_(self, count: int) -> None:
        """Set the number of mipmap levels."""
        self._levels = as_integer(call_of(self), "the value", count)

    def sampleCount(self) -> int:
        """Samples of a texel."""
        return self._samples

    def setSampleCount_(self, count: int) -> None:
        """Set the samples of a texel, for multisampled types."""
        self._samples = as_integer(call_of(self), "the value", count)

    def arrayLength(self) -> int:
        """Slices of an array; a cube is one slice."""
        return self._array_length

    def setArrayLength_(self, length: int) -> None:
        """Set the slices of an array."""
        self._array_length = as_integer(call_of(self), "the value", length)

    def usage(self) -> int:
        """What kernels may do with the texture: MTLTextureUsage."""
        return self._usage

    def setUsage_(self, usage: int) -> None:
        """Set the MTLTextureUsage; dispatches are checked against it."""
        self._usage = as_integer(call_of(self), "the value", usage)

    def allowGPUOptimizedContents(self) -> bool:
        """Whether the device may choose its own layout, which shows nowhere."""
        return self._optimized

    def setAllowGPUOptimizedContents_(self, allowed: bool) -> None:
        """Accepted: the layout shows nowhere."""
        self._optimized = bool(allowed)

    def swizzle(self) -> MTLTextureSwizzleChannels:
        """What reads give as red, green, blue and alpha."""
        return MTLTextureSwizzleChannels(*self._swizzle)

    def setSwizzle_(self, channels: tuple[int, int, int, int]) -> None:
        """Set what reads give as red, green, blue and alpha."""
        self._swizzle = checked_swizzle(call_of(self), channels)

    def checked_layout(self, where: str) -> Layout:
        """The layout of such a texture. Raises MetalValidationError."""
        format = pixel_format(where, self._format)
        self._check_type(where)
        self._check_extents(where)
        most = max(self._width, self._height, self._depth).bit_length()
        if self._type in _MULTISAMPLED:
            most = 1
        if not 1 <= self._levels <= most:
            raise MetalValidationError(
                f"{where}: mipmapLevelCount is {self._levels}; a texture of this type and size has "
                f"1..{most}"
            )
        return layout_of(
            format,
            self._type,
            (self._width, self._height, self._depth),
            array_length=self._array_length,
            samples=self._samples,
            levels=self._levels,
            swizzle=checked_swizzle(where, self._swizzle),
        )

    def _check_type(self, where: str) -> None:
        if not MTLTextureType1D <= self._type <= MTLTextureTypeTextureBuffer:
            raise MetalValidationError(f"{where}: {self._type} is no MTLTextureType")
        counts = _SAMPLE_COUNTS if self._type in _MULTISAMPLED else (1,)
        if self._samples not in counts:
            raise MetalValidationError(
                f"{where}: sampleCount is {self._samples}; a texture of this type has one of "
                f"{counts}"
            )
        if self._type in _MULTISAMPLED and self.storageMode() == MTLStorageModeShared:
            raise MetalValidationError(
                f"{where}: multisampled textures are of MTLStorageModePrivate; call setStorageMode_"
            )

    def _check_extents(self, where: str) -> None:
        lines = self._type in (MTLTextureType1D, MTLTextureType1DArray)
        is_buffer = self._type == MTLTextureTypeTextureBuffer
        is_3d = self._type == MTLTextureType3D
        edge = _LIMITS.texture_3d_extent if is_3d else _LIMITS.texture_extent
        most = {
            "width": _LIMITS.texture_buffer_width if is_buffer else edge,
            "height": 1 if lines or is_buffer else edge,
            "depth": edge if is_3d else 1,
            "arrayLength": _LIMITS.texture_slices if self._type in _ARRAYS else 1,
        }
        given = (self._width, self._height, self._depth, self._array_length)
        for value, (what, limit) in zip(given, most.items(), strict=True):
            if not 1 <= value <= limit:
                raise MetalValidationError(
                    f"{where}: {what} is {value}; for a texture of this type it must lie in "
                    f"1..{limit}"
                )
        if self._type in _CUBES and self._width != self._height:
            raise MetalValidationError(
                f"{where}: the faces of a cube are squares; width is {self._width}, height "
                f"{self._height}"
            )


def checked_swizzle(where: str, channels: tuple[int, int, int, int]) -> Swizzle:
    """`channels` as four MTLTextureSwizzle. Raises MetalValidationError."""
    try:
        red, green, blue, alpha = (as_integer(where, "a swizzle", value) for value in channels)
    except (TypeError, ValueError):
        raise MetalValidationError(
            f"{where}: the swizzle is {channels!r}; give four MTLTextureSwizzle"
        ) from None
    if not all(0 <= value <= 5 for value in (red, green, blue, alpha)):
        raise MetalValidationError(
            f"{where}: the swizzle is {channels!r}; each must be an MTLTextureSwizzle, 0..5"
        )
    return red, green, blue, alpha
