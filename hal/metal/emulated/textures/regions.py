"""Regions of textures, checked."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..errors import MetalValidationError
from ..structs import as_size
from .layout import Layout

if TYPE_CHECKING:
    from .texture import MTLTexture

Extent = tuple[int, int, int]


def as_region(where: str, region: Sequence[Sequence[int]]) -> tuple[Extent, Extent]:
    """Origin and size of an MTLRegion. Raises MetalValidationError."""
    try:
        origin, size = region
    except (TypeError, ValueError):
        raise MetalValidationError(
            f"{where}: the region is {region!r}; give an MTLRegion or (origin, size)"
        ) from None
    return as_size(where, "the region's origin", origin), as_size(where, "its size", size)


def check_region(
    where: str, texture: "MTLTexture", level: int, first_slice: int, origin: Extent, extent: Extent
) -> None:
    """Raise MetalValidationError unless the region lies in this level and slice."""
    layout: Layout = texture.layout
    if not 0 <= level < len(layout.levels):
        raise MetalValidationError(
            f"{where}: level {level} of {texture!r}, which has levels 0..{len(layout.levels) - 1}"
        )
    if not 0 <= first_slice < layout.slices:
        raise MetalValidationError(
            f"{where}: slice {first_slice} of {texture!r}, which has slices 0..{layout.slices - 1}"
        )
    at = layout.levels[level]
    limits = (at.width, at.height, at.depth)
    if any(first + size > most for first, size, most in zip(origin, extent, limits, strict=True)):
        raise MetalValidationError(
            f"{where}: the region at {origin} of size {extent} reaches out of level {level} of "
            f"{texture!r}, which is {limits}"
        )
    if 0 in extent:
        raise MetalValidationError(f"{where}: the region of size {extent} is empty")
