"""How devices and buffers make textures and samplers."""

from typing import TYPE_CHECKING, cast

from assay.hw.apple.facts.limits import limits

from ..constants import MTLStorageModeMemoryless
from ..errors import MetalValidationError
from ..objects import MetalObject, call_of, expect
from ..resources.buffer import checked_options
from ..structs import MTLSizeAndAlign, as_integer
from ..texture_constants import (
    MTLReadWriteTextureTier2,
    MTLTextureType2D,
    MTLTextureTypeTextureBuffer,
)
from .descriptor import MTLTextureDescriptor
from .formats import pixel_format
from .layout import Layout, linear_layout
from .sampler import MTLSamplerDescriptor, MTLSamplerState
from .texture import MTLTexture

if TYPE_CHECKING:
    from ..device import MTLDevice
    from ..resources.buffer import MTLBuffer

_LIMITS = limits()


class TextureMaker(MetalObject):
    """The part of MTLDevice that makes textures and samplers."""

    def newTextureWithDescriptor_(self, descriptor: MTLTextureDescriptor) -> MTLTexture:
        """A texture of zeros.

        Deviation: MetalOutOfMemoryError is raised where Metal returns nil.
        """
        where = call_of(self)
        expect(where, "the descriptor", descriptor, MTLTextureDescriptor)
        layout = descriptor.checked_layout(where)
        device = cast("MTLDevice", self)
        storage = device.memory.allocate(where, layout.size, "texture")
        options = _texture_options(where, descriptor.resourceOptions())
        return MTLTexture(device, layout, storage, options=options, usage=descriptor.usage())

    def newSamplerStateWithDescriptor_(self, descriptor: MTLSamplerDescriptor) -> MTLSamplerState:
        """A sampler."""
        where = call_of(self)
        expect(where, "the descriptor", descriptor, MTLSamplerDescriptor)
        return MTLSamplerState(cast("MTLDevice", self), descriptor)

    def minimumLinearTextureAlignmentForPixelFormat_(self, format: int) -> int:
        """Bytes that offset and bytesPerRow of a texture in a buffer are multiples of."""
        pixel_format(call_of(self), format)
        return _LIMITS.linear_texture_alignment

    def minimumTextureBufferAlignmentForPixelFormat_(self, format: int) -> int:
        """Bytes that the offset of a texture buffer is a multiple of."""
        pixel_format(call_of(self), format)
        return _LIMITS.linear_texture_alignment

    def readWriteTextureSupport(self) -> int:
        """Always MTLReadWriteTextureTier2. Deviation: every format can be read and written."""
        return MTLReadWriteTextureTier2

    def supportsTextureSampleCount_(self, count: int) -> bool:
        """Whether textures may have so many samples."""
        return count in (1, 2, 4, 8)

    def heapTextureSizeAndAlignWithDescriptor_(
        self, descriptor: MTLTextureDescriptor
    ) -> MTLSizeAndAlign:
        """Room that a texture takes."""
        where = call_of(self)
        expect(where, "the descriptor", descriptor, MTLTextureDescriptor)
        align = _LIMITS.heap_alignment
        return MTLSizeAndAlign(-(-descriptor.checked_layout(where).size // align) * align, align)


def _texture_options(where: str, options: int) -> int:
    """`options`; memoryless textures, which compute kernels cannot reach, are refused."""
    if options >> 4 & 0xF == MTLStorageModeMemoryless:
        raise MetalValidationError(
            f"{where}: MTLStorageModeMemoryless is for render passes alone; use "
            "MTLStorageModePrivate"
        )
    return checked_options(where, options)


def layout_in_heap(where: str, descriptor: MTLTextureDescriptor) -> Layout:
    """The layout of a texture that is to lie in a heap. Raises MetalValidationError."""
    expect(where, "the descriptor", descriptor, MTLTextureDescriptor)
    _texture_options(where, descriptor.resourceOptions())
    return descriptor.checked_layout(where)


def texture_in_buffer(
    buffer: "MTLBuffer", descriptor: MTLTextureDescriptor, offset: int, row: int
) -> MTLTexture:
    """A 2D texture or texture buffer whose texels are those of `buffer` from `offset` on."""
    where = "MTLBuffer.newTextureWithDescriptor_offset_bytesPerRow_"
    expect(where, "the descriptor", descriptor, MTLTextureDescriptor)
    made = descriptor.checked_layout(where)
    offset = as_integer(where, "the offset", offset)
    row = as_integer(where, "bytesPerRow", row)
    if made.type not in (MTLTextureType2D, MTLTextureTypeTextureBuffer) or len(made.levels) > 1:
        raise MetalValidationError(
            f"{where}: only 2D textures of one level and texture buffers lie in buffers"
        )
    if descriptor.storageMode() != buffer.storageMode():
        raise MetalValidationError(
            f"{where}: storage mode {descriptor.storageMode()} in a buffer of storage mode "
            f"{buffer.storageMode()}; they must be the same, call setStorageMode_"
        )
    level = made.levels[0]
    align = _LIMITS.linear_texture_alignment
    rows_align = align if level.height > 1 else made.format.size
    if offset < 0 or offset % align or row % rows_align or row < level.row:
        raise MetalValidationError(
            f"{where}: offset is {offset} and bytesPerRow {row}; both must be multiples of "
            f"{align} (minimumLinearTextureAlignmentForPixelFormat_), and a row takes {level.row} B"
        )
    layout = linear_layout(made.format, made.type, level.width, level.height, row)
    buffer.check_range(where, offset, row * (level.height - 1) + level.row)
    return MTLTexture(
        buffer.device(),
        layout,
        buffer.allocation,
        options=buffer.resourceOptions(),
        usage=descriptor.usage(),
        start=offset,
        buffer=buffer,
    )
