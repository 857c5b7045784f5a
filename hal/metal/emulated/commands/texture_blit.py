"""The part of MTLBlitCommandEncoder that copies texels and makes mipmaps."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..errors import MetalValidationError
from ..objects import expect
from ..resources.buffer import MTLBuffer
from ..resources.memory import Bytes
from ..structs import as_integer, as_size
from ..textures.layout import Block, Layout, blocks
from ..textures.mipmaps import MipmapCommand
from ..textures.regions import check_region
from ..textures.texture import MTLTexture, host_block
from .encoder import MTLCommandEncoder

if TYPE_CHECKING:
    from ..device import MTLDevice

_BLIT = "MTLBlitCommandEncoder"
_TO_TEXTURE = (
    "copyFromBuffer_sourceOffset_sourceBytesPerRow_sourceBytesPerImage_sourceSize_toTexture_"
    "destinationSlice_destinationLevel_destinationOrigin_"
)
_TO_BUFFER = (
    "copyFromTexture_sourceSlice_sourceLevel_sourceOrigin_sourceSize_toBuffer_destinationOffset_"
    "destinationBytesPerRow_destinationBytesPerImage_"
)


@dataclass(slots=True)
class CopyBlockCommand:
    """Rows of bytes from one place to another; `owners` stay alive until it has run."""

    source: Bytes
    source_block: Block
    target: Bytes
    target_block: Block
    owners: tuple[object, ...]

    def run(self, device: "MTLDevice") -> None:
        """Copy."""
        self.target_block.view(self.target)[:] = self.source_block.view(self.source).copy()


class TextureBlits(MTLCommandEncoder):
    """Copies between buffers and textures."""

    def copyFromBuffer_sourceOffset_sourceBytesPerRow_sourceBytesPerImage_sourceSize_toTexture_destinationSlice_destinationLevel_destinationOrigin_(  # noqa: E501
        self,
        buffer: MTLBuffer,
        offset: int,
        bytes_per_row: int,
        bytes_per_image: int,
        size: Sequence[int],
        texture: MTLTexture,
        slice: int,
        level: int,
        origin: Sequence[int],
    ) -> None:
        """Copy rows of a buffer into a region of a texture."""
        where = self._begin(_TO_TEXTURE)
        texels = self._texels(where, texture, slice, level, origin, size)
        rows = self._rows(where, buffer, offset, bytes_per_row, bytes_per_image, size, texture)
        self._copy((buffer, buffer.data, rows), (texture, texture.texel_bytes(), texels))

    def copyFromBuffer_sourceOffset_sourceBytesPerRow_sourceBytesPerImage_sourceSize_toTexture_destinationSlice_destinationLevel_destinationOrigin_options_(  # noqa: E501
        self,
        buffer: MTLBuffer,
        offset: int,
        bytes_per_row: int,
        bytes_per_image: int,
        size: Sequence[int],
        texture: MTLTexture,
        slice: int,
        level: int,
        origin: Sequence[int],
        options: int,
    ) -> None:
        """Copy rows of a buffer into a region of a texture."""
        self._check_options(_TO_TEXTURE, options)
        getattr(self, _TO_TEXTURE)(
            buffer, offset, bytes_per_row, bytes_per_image, size, texture, slice, level, origin
        )

    def copyFromTexture_sourceSlice_sourceLevel_sourceOrigin_sourceSize_toBuffer_destinationOffset_destinationBytesPerRow_destinationBytesPerImage_(  # noqa: E501
        self,
        texture: MTLTexture,
        slice: int,
        level: int,
        origin: Sequence[int],
        size: Sequence[int],
        buffer: MTLBuffer,
        offset: int,
        bytes_per_row: int,
        bytes_per_image: int,
    ) -> None:
        """Copy a region of a texture into rows of a buffer."""
        where = self._begin(_TO_BUFFER)
        texels = self._texels(where, texture, slice, level, origin, size)
        rows = self._rows(where, buffer, offset, bytes_per_row, bytes_per_image, size, texture)
        self._copy((texture, texture.texel_bytes(), texels), (buffer, buffer.data, rows))

    def copyFromTexture_sourceSlice_sourceLevel_sourceOrigin_sourceSize_toBuffer_destinationOffset_destinationBytesPerRow_destinationBytesPerImage_options_(  # noqa: E501
        self,
        texture: MTLTexture,
        slice: int,
        level: int,
        origin: Sequence[int],
        size: Sequence[int],
        buffer: MTLBuffer,
        offset: int,
        bytes_per_row: int,
        bytes_per_image: int,
        options: int,
    ) -> None:
        """Copy a region of a texture into rows of a buffer."""
        self._check_options(_TO_BUFFER, options)
        getattr(self, _TO_BUFFER)(
            texture, slice, level, origin, size, buffer, offset, bytes_per_row, bytes_per_image
        )

    def copyFromTexture_sourceSlice_sourceLevel_sourceOrigin_sourceSize_toTexture_destinationSlice_destinationLevel_destinationOrigin_(  # noqa: E501
        self,
        source: MTLTexture,
        source_slice: int,
        source_level: int,
        source_origin: Sequence[int],
        size: Sequence[int],
        target: MTLTexture,
        target_slice: int,
        target_level: int,
        target_origin: Sequence[int],
    ) -> None:
        """Copy a region of one texture to another of the same texel size."""
        where = self._begin(
            "copyFromTexture_sourceSlice_sourceLevel_sourceOrigin_sourceSize_toTexture_"
            "destinationSlice_destinationLevel_destinationOrigin_"
        )
        first = self._texels(where, source, source_slice, source_level, source_origin, size)
        second = self._texels(where, target, target_slice, target_level, target_origin, size)
        _check_alike(where, source, target)
        self._copy((source, source.texel_bytes(), first), (target, target.texel_bytes(), second))

    def copyFromTexture_toTexture_(self, source: MTLTexture, target: MTLTexture) -> None:
        """Copy every slice and level that both textures have."""
        where = self._begin("copyFromTexture_toTexture_")
        expect(where, "the source", source, MTLTexture)
        expect(where, "the destination", target, MTLTexture)
        levels = min(len(source.layout.levels), len(target.layout.levels))
        slices = min(source.layout.slices, target.layout.slices)
        self._copy_whole(where, source, 0, 0, target, 0, 0, slices, levels)

    def copyFromTexture_sourceSlice_sourceLevel_toTexture_destinationSlice_destinationLevel_sliceCount_levelCount_(  # noqa: E501
        self,
        source: MTLTexture,
        source_slice: int,
        source_level: int,
        target: MTLTexture,
        target_slice: int,
        target_level: int,
        slices: int,
        levels: int,
    ) -> None:
        """Copy whole slices and levels."""
        where = self._begin(
            "copyFromTexture_sourceSlice_sourceLevel_toTexture_destinationSlice_destinationLevel_"
            "sliceCount_levelCount_"
        )
        self._copy_whole(
            where,
            source,
            source_slice,
            source_level,
            target,
            target_slice,
            target_level,
            slices,
            levels,
        )

    def generateMipmapsForTexture_(self, texture: MTLTexture) -> None:
        """Fill the smaller levels, each texel the linear mean of those it covers."""
        where = self._begin("generateMipmapsForTexture_")
        expect(where, "the texture", texture, MTLTexture)
        self._check_own(where, texture)
        if len(texture.layout.levels) < 2:
            raise MetalValidationError(f"{where}: {texture!r} has one level, so no more to make")
        if texture.layout.format.is_integer or texture.layout.format.is_depth:
            raise MetalValidationError(
                f"{where}: texels of {texture!r} cannot be averaged; colours of real numbers can"
            )
        self._append(MipmapCommand(texture))

    def synchronizeTexture_slice_level_(self, texture: MTLTexture, slice: int, level: int) -> None:
        """Accepted: host and device see one copy of a texture."""
        where = self._begin("synchronizeTexture_slice_level_")
        expect(where, "the texture", texture, MTLTexture)
        check_region(where, texture, level, slice, (0, 0, 0), (1, 1, 1))

    def optimizeContentsForGPUAccess_(self, texture: MTLTexture) -> None:
        """Accepted: the layout shows nowhere."""
        expect(self._begin("optimizeContentsForGPUAccess_"), "the texture", texture, MTLTexture)

    def optimizeContentsForCPUAccess_(self, texture: MTLTexture) -> None:
        """Accepted: the layout shows nowhere."""
        expect(self._begin("optimizeContentsForCPUAccess_"), "the texture", texture, MTLTexture)

    def _begin(self, call: str) -> str:
        self._check_open(call)
        return f"{_BLIT}.{call}"

    def _check_options(self, call: str, options: int) -> None:
        if as_integer(f"{_BLIT}.{call}options_", "options", options):
            raise MetalValidationError(
                f"{_BLIT}.{call}options_: options are {options}; only MTLBlitOptionNone is for "
                "formats without a stencil beside the depth"
            )

    def _texels(
        self,
        where: str,
        texture: MTLTexture,
        slice: int,
        level: int,
        origin: Sequence[int],
        size: Sequence[int],
    ) -> Block:
        expect(where, "the texture", texture, MTLTexture)
        self._check_own(where, texture)
        start = as_size(where, "the origin", origin)
        extent = as_size(where, "the size", size)
        slice = as_integer(where, "the slice", slice)
        level = as_integer(where, "the level", level)
        check_region(where, texture, level, slice, start, extent)
        return next(blocks(texture.layout, level, slice, start, extent))

    def _rows(
        self,
        where: str,
        buffer: MTLBuffer,
        offset: int,
        row: int,
        image: int,
        size: Sequence[int],
        texture: MTLTexture,
    ) -> Block:
        expect(where, "the buffer", buffer, MTLBuffer)
        self._check_own(where, buffer)
        offset = as_integer(where, "the offset", offset)
        texel = texture.layout.format.size
        if offset < 0 or offset % texel:
            raise MetalValidationError(
                f"{where}: the buffer's offset is {offset}; it must be a multiple of the texel's "
                f"{texel} B"
            )
        found = host_block(where, texture.layout, as_size(where, "the size", size), row, image)
        buffer.check_range(where, offset, found.size)
        return replace(found, offset=offset)

    def _copy_whole(
        self,
        where: str,
        source: MTLTexture,
        source_slice: int,
        source_level: int,
        target: MTLTexture,
        target_slice: int,
        target_level: int,
        slices: int,
        levels: int,
    ) -> None:
        expect(where, "the source", source, MTLTexture)
        expect(where, "the destination", target, MTLTexture)
        _check_alike(where, source, target)
        for level in range(as_integer(where, "the level count", levels)):
            extent = _extent(where, source, source_level + level)
            for number in range(as_integer(where, "the slice count", slices)):
                first = self._texels(
                    where, source, source_slice + number, source_level + level, (0, 0, 0), extent
                )
                second = self._texels(
                    where, target, target_slice + number, target_level + level, (0, 0, 0), extent
                )
                self._copy(
                    (source, source.texel_bytes(), first), (target, target.texel_bytes(), second)
                )

    def _copy(
        self,
        source: tuple[MTLBuffer | MTLTexture, Bytes, Block],
        target: tuple[MTLBuffer | MTLTexture, Bytes, Block],
    ) -> None:
        self._append(
            CopyBlockCommand(source[1], source[2], target[1], target[2], (source[0], target[0]))
        )


def _extent(where: str, texture: MTLTexture, level: int) -> tuple[int, int, int]:
    """Width, height and depth of a level. Raises MetalValidationError."""
    layout: Layout = texture.layout
    check_region(where, texture, level, 0, (0, 0, 0), (1, 1, 1))
    at = layout.levels[level]
    return at.width, at.height, at.depth


def _check_alike(where: str, source: MTLTexture, target: MTLTexture) -> None:
    if source.layout.format.size != target.layout.format.size:
        raise MetalValidationError(
            f"{where}: {source!r} and {target!r} have texels of different size; a copy changes no "
            "format"
        )
