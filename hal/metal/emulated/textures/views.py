"""Views of textures: which formats and types may look at the same texels."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ..errors import MetalValidationError
from ..structs import as_integer, as_range
from ..texture_constants import (
    MTLTextureType1D,
    MTLTextureType1DArray,
    MTLTextureType2D,
    MTLTextureType2DArray,
    MTLTextureType2DMultisample,
    MTLTextureType2DMultisampleArray,
    MTLTextureTypeCube,
    MTLTextureTypeCubeArray,
)
from .descriptor import checked_swizzle
from .formats import PixelFormat
from .layout import Layout, Swizzle

_FLAT: Final = (
    MTLTextureType2D,
    MTLTextureType2DArray,
    MTLTextureTypeCube,
    MTLTextureTypeCubeArray,
)
# Types whose texels lie alike; the others are only viewed as themselves.
_ALIKE: Final = (
    _FLAT,
    (MTLTextureType1D, MTLTextureType1DArray),
    (MTLTextureType2DMultisample, MTLTextureType2DMultisampleArray),
)
_SINGLE: Final = (MTLTextureType1D, MTLTextureType2D, MTLTextureType2DMultisample)


def view_layout(
    where: str,
    layout: Layout,
    format: PixelFormat,
    kind: int,
    levels: Sequence[int],
    slices: Sequence[int],
    swizzle: Swizzle,
) -> tuple[Layout, tuple[int, int]]:
    """The layout of a view, its first level and slice. Raises MetalValidationError."""
    kind = as_integer(where, "the texture type", kind)
    first, count = as_range(where, levels)
    first_slice, slice_count = as_range(where, slices)
    _check_format(where, layout, format)
    if kind != layout.type and not any(kind in alike and layout.type in alike for alike in _ALIKE):
        raise MetalValidationError(
            f"{where}: a texture of MTLTextureType {layout.type} cannot be viewed as {kind}"
        )
    if not count or first + count > len(layout.levels):
        raise MetalValidationError(
            f"{where}: levels {first}..{first + count} of a texture of {len(layout.levels)} levels"
        )
    if not slice_count or first_slice + slice_count > layout.slices:
        raise MetalValidationError(
            f"{where}: slices {first_slice}..{first_slice + slice_count} of a texture of "
            f"{layout.slices} slices"
        )
    whole = 6 if kind in (MTLTextureTypeCube, MTLTextureTypeCubeArray) else 1
    wanted = whole if kind in (*_SINGLE, MTLTextureTypeCube) else 0
    if slice_count % whole or (wanted and slice_count != wanted):
        raise MetalValidationError(
            f"{where}: a view of MTLTextureType {kind} takes "
            f"{wanted or f'a multiple of {whole}'} slices, and {slice_count} are given"
        )
    found = layout.part(first, count, first_slice * layout.samples, slice_count, kind)
    chosen = checked_swizzle(where, swizzle)
    composed = tuple(value if value < 2 else layout.swizzle[value - 2] for value in chosen)
    return (
        replace(found, format=format, swizzle=(composed[0], composed[1], composed[2], composed[3])),
        (first, first_slice),
    )


def _check_format(where: str, layout: Layout, format: PixelFormat) -> None:
    if format.size != layout.format.size or format.is_depth != layout.format.is_depth:
        raise MetalValidationError(
            f"{where}: {format.name} cannot view {layout.format.name}: texels of {format.size} B "
            f"and {layout.format.size} B, and depth only as depth"
        )
