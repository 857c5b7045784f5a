"""Where the texels of a texture lie, and the description of that which kernels read."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from ..resources.memory import Bytes
from ..texture_constants import (
    MTLTextureType1D,
    MTLTextureType1DArray,
    MTLTextureType3D,
    MTLTextureTypeCube,
    MTLTextureTypeCubeArray,
    MTLTextureTypeTextureBuffer,
)
from .formats import PixelFormat

Swizzle = tuple[int, int, int, int]
IDENTITY: Final[Swizzle] = (2, 3, 4, 5)
# `__texture_data` in compiler/msl/include/assay/texture_data.h.
_HEAD: Final = struct.Struct("<Q8I4III")
_LEVEL: Final = struct.Struct("<QQII")
MOST_LEVELS: Final = 15
DESCRIPTION_SIZE: Final = _HEAD.size + MOST_LEVELS * _LEVEL.size
# Levels begin where vectors of the host are aligned.
_ALIGNMENT: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """A mipmap level: its extent in texels, its first byte, bytes of a row and of an image."""

    width: int
    height: int
    depth: int
    offset: int
    row: int
    image: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A texture's type, format, extents, and levels. An image is a slice, face, sample or plane."""

    format: PixelFormat
    type: int
    array_length: int
    samples: int
    levels: tuple[Level, ...]
    swizzle: Swizzle = IDENTITY

    @property
    def faces(self) -> int:
        """6 for cubes, otherwise 1."""
        return 6 if self.type in (MTLTextureTypeCube, MTLTextureTypeCubeArray) else 1

    @property
    def slices(self) -> int:
        """How many images a level has that are no planes, samples not counted."""
        return self.array_length * self.faces

    @property
    def size(self) -> int:
        """Bytes from the first texel to the end."""
        last = self.levels[-1]
        return last.offset + last.image * self.images(len(self.levels) - 1)

    def images(self, level: int) -> int:
        """How many images a level has."""
        return max(self.levels[level].depth, self.slices * self.samples)

    @property
    def has_rows(self) -> bool:
        """Whether there is a second dimension."""
        return self.type not in (
            MTLTextureType1D,
            MTLTextureType1DArray,
            MTLTextureTypeTextureBuffer,
        )

    def part(self, first: int, count: int, first_slice: int, slices: int, kind: int) -> "Layout":
        """The layout of a view of some levels and slices as another type."""
        shift = first_slice
        levels = tuple(
            replace(level, offset=level.offset + shift * level.image)
            for level in self.levels[first : first + count]
        )
        faces = 6 if kind in (MTLTextureTypeCube, MTLTextureTypeCubeArray) else 1
        return replace(self, type=kind, array_length=slices // faces, levels=levels)


def layout_of(
    format: PixelFormat,
    kind: int,
    size: tuple[int, int, int],
    *,
    array_length: int = 1,
    samples: int = 1,
    levels: int = 1,
    swizzle: Swizzle = IDENTITY,
) -> Layout:
    """The layout of a texture with memory of its own: level after level, without gaps in rows."""
    plain = Layout(
        format=format,
        type=kind,
        array_length=array_length,
        samples=samples,
        levels=(),
        swizzle=swizzle,
    )
    found: list[Level] = []
    offset = 0
    width, height, depth = size
    for number in range(levels):
        row = max(width >> number, 1) * format.size
        level = Level(
            width=max(width >> number, 1),
            height=max(height >> number, 1),
            depth=max(depth >> number, 1),
            offset=offset,
            row=row,
            image=row * max(height >> number, 1),
        )
        found.append(level)
        images = max(level.depth, plain.slices * samples)
        offset += -(-level.image * images // _ALIGNMENT) * _ALIGNMENT
    return replace(plain, levels=tuple(found))


def linear_layout(format: PixelFormat, kind: int, width: int, height: int, row: int) -> Layout:
    """The layout of a texture in a buffer, with `row` bytes from row to row."""
    level = Level(width=width, height=height, depth=1, offset=0, row=row, image=row * height)
    return Layout(format=format, type=kind, array_length=1, samples=1, levels=(level,))


def description(layout: Layout, texels: int) -> bytes:
    """What kernels read of a texture whose first texel is at the GPU address `texels`."""
    first = layout.levels[0]
    depth = first.depth if layout.type == MTLTextureType3D else 1
    swizzle = sum(component << 8 * place for place, component in enumerate(layout.swizzle))
    head = _HEAD.pack(
        texels,
        first.width,
        first.height,
        depth,
        layout.array_length,
        len(layout.levels),
        layout.samples,
        layout.format.size,
        layout.format.kind,
        *[channel.first | channel.width << 8 for channel in layout.format.channels],
        swizzle,
        layout.faces,
    )
    levels = b"".join(
        _LEVEL.pack(level.offset, level.image, level.row, 0) for level in layout.levels
    )
    return (head + levels).ljust(DESCRIPTION_SIZE, b"\0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Rows of bytes in memory: `planes` times `rows` times `width` bytes, and the steps between."""

    offset: int
    width: int
    rows: int
    planes: int
    row: int
    image: int

    @property
    def size(self) -> int:
        """Bytes from the first to the end of the last row."""
        if not (self.width and self.rows and self.planes):
            return 0
        return (self.planes - 1) * self.image + (self.rows - 1) * self.row + self.width

    def view(self, data: Bytes) -> Bytes:
        """The bytes of `data` as planes, rows and columns."""
        return np.lib.stride_tricks.as_strided(
            data[self.offset : self.offset + self.size],
            shape=(self.planes, self.rows, self.width),
            strides=(self.image, self.row, 1),
        )


def blocks(
    layout: Layout,
    level: int,
    first_slice: int,
    origin: tuple[int, int, int],
    extent: tuple[int, int, int],
    slices: int = 1,
) -> Iterator[Block]:
    """The bytes of a region, slice by slice."""
    at = layout.levels[level]
    for number in range(first_slice, first_slice + slices):
        yield Block(
            offset=at.offset
            + (number + origin[2]) * at.image
            + origin[1] * at.row
            + origin[0] * layout.format.size,
            width=extent[0] * layout.format.size,
            rows=extent[1],
            planes=extent[2],
            row=at.row,
            image=at.image,
        )
