"""Byte ranges: `intervals` as tuples, which findings and what is remembered of a run can hold."""

from collections.abc import Iterable

from ..intervals import common, length, union
from ..intervals import without as _without

Ranges = tuple[tuple[int, int], ...]


def ordered(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Ranges by their starts, those that touch joined."""
    return tuple(union(ranges))


def overlap(one: Ranges, other: Ranges) -> Ranges:
    """The bytes that both have."""
    return tuple(common(one, other))


def without(one: Ranges, other: Ranges) -> Ranges:
    """The bytes of one that the other has not."""
    return tuple(_without(one, other))


def size(ranges: Ranges) -> int:
    """How many bytes."""
    return length(ranges)
