"""Metal's small structs: sizes, origins, ranges. Plain tuples are accepted in their place."""

from collections.abc import Sequence
from operator import index
from typing import NamedTuple, SupportsIndex, TypeVar

from .errors import MetalValidationError

Number = SupportsIndex | float
T = TypeVar("T")


class MTLSize(NamedTuple):
    """Extent of a grid or threadgroup."""

    width: int = 0
    height: int = 0
    depth: int = 0


class MTLOrigin(NamedTuple):
    """Position in a grid."""

    x: int = 0
    y: int = 0
    z: int = 0


class MTLRegion(NamedTuple):
    """A box of texels."""

    origin: MTLOrigin = MTLOrigin()
    size: MTLSize = MTLSize()


class MTLTextureSwizzleChannels(NamedTuple):
    """What a texture view reads as red, green, blue and alpha: an MTLTextureSwizzle each."""

    red: int = 2
    green: int = 3
    blue: int = 4
    alpha: int = 5


class MTLResourceID:
    """What an argument buffer holds of a texture, sampler or function table: eight bytes."""

    __slots__ = ("_impl",)

    def __init__(self, value: int):
        self._impl = value

    def __index__(self) -> int:
        return self._impl

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MTLResourceID) and other._impl == self._impl

    def __hash__(self) -> int:
        return hash(self._impl)

    def __repr__(self) -> str:
        return f"MTLResourceID({self._impl:#x})"


class NSRange(NamedTuple):
    """`length` items from `location` on."""

    location: int = 0
    length: int = 0


class MTLSizeAndAlign(NamedTuple):
    """Bytes that a resource takes in a heap, and the alignment of its offset."""

    size: int = 0
    align: int = 0


def MTLSizeMake(width: int, height: int, depth: int) -> MTLSize:
    """The size of these three extents."""
    return MTLSize(width, height, depth)


def MTLOriginMake(x: int, y: int, z: int) -> MTLOrigin:
    """The origin at these three coordinates."""
    return MTLOrigin(x, y, z)


def MTLRegionMake1D(x: int, width: int) -> MTLRegion:
    """The region of `width` texels from `x` on."""
    return MTLRegion(MTLOrigin(x, 0, 0), MTLSize(width, 1, 1))


def MTLRegionMake2D(x: int, y: int, width: int, height: int) -> MTLRegion:
    """The region of `width` times `height` texels from (x, y) on."""
    return MTLRegion(MTLOrigin(x, y, 0), MTLSize(width, height, 1))


def MTLRegionMake3D(x: int, y: int, z: int, width: int, height: int, depth: int) -> MTLRegion:
    """The region of `width` times `height` times `depth` texels from (x, y, z) on."""
    return MTLRegion(MTLOrigin(x, y, z), MTLSize(width, height, depth))


def MTLTextureSwizzleChannelsMake(
    red: int, green: int, blue: int, alpha: int
) -> MTLTextureSwizzleChannels:
    """These four MTLTextureSwizzle."""
    return MTLTextureSwizzleChannels(red, green, blue, alpha)


def NSMakeRange(location: int, length: int) -> NSRange:
    """The range of `length` items from `location` on."""
    return NSRange(location, length)


def integer(value: Number) -> int:
    """`value` as a Python int; a float must be whole. Raises TypeError.

    PyObjC drops the fraction of a float; programs write MTLSizeMake(1024 / 32, 1, 1).
    """
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return index(value)  # type: ignore[arg-type]


def as_integer(where: str, what: str, value: Number) -> int:
    """`value` as a Python int. Raises MetalValidationError for fractions and other things."""
    if value.__class__ is int:
        return value  # the usual case, on the path that counts
    try:
        return integer(value)
    except TypeError:
        raise MetalValidationError(f"{where}: {what} is {value!r}; it must be an integer") from None


def as_number(where: str, what: str, value: float) -> float:
    """`value` as a float. Raises MetalValidationError."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise MetalValidationError(f"{where}: {what} is {value!r}; it must be a number") from None


def as_list(where: str, what: str, values: Sequence[T], count: Number) -> Sequence[T]:
    """The first `count` of `values`. Raises MetalValidationError."""
    number = as_integer(where, "the count", count)
    if not isinstance(values, Sequence) or not 0 <= number <= len(values):
        raise MetalValidationError(
            f"{where}: {what} are {values!r:.80}; give a list or tuple of {number} or more"
        )
    return values[:number]


def as_size(where: str, what: str, value: Sequence[Number]) -> tuple[int, int, int]:
    """`value` as three non-negative integers. Raises MetalValidationError."""
    try:
        width, height, depth = value
        if width.__class__ is height.__class__ is depth.__class__ is int:
            size = width, height, depth  # the usual case, on the path that counts
        else:
            size = integer(width), integer(height), integer(depth)
    except (TypeError, ValueError):
        raise MetalValidationError(
            f"{where}: {what} is {value!r}; give an MTLSize or (width, height, depth) of integers"
        ) from None
    if min(size) < 0 or max(size) >= 1 << 32:
        raise MetalValidationError(f"{where}: {what} is {size}; each extent must lie in 0..2**32-1")
    return size


def as_range(where: str, value: Sequence[Number]) -> tuple[int, int]:
    """`value` as location and length. Raises MetalValidationError."""
    try:
        first, second = value
        location, length = integer(first), integer(second)
    except (TypeError, ValueError):
        raise MetalValidationError(
            f"{where}: the range is {value!r}; give an NSRange or (location, length) of integers"
        ) from None
    if location < 0 or length < 0:
        raise MetalValidationError(f"{where}: the range {(location, length)} is negative")
    return location, length


def threadgroups_of(threads: tuple[int, int, int], size: tuple[int, int, int]) -> MTLSize:
    """How many threadgroups of `size` a grid of `threads` takes; `size` has no zeros."""
    width, height, depth = (-(-n // step) for n, step in zip(threads, size, strict=True))
    return MTLSize(width, height, depth)
