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
