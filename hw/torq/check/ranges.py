"""Byte ranges: (start, stop) pairs, apart and in order of their starts."""

from collections.abc import Iterable

Ranges = tuple[tuple[int, int], ...]


def ordered(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Ranges by their starts, those that touch joined."""
    found: list[tuple[int, int]] = []
    for start, stop in sorted(ranges):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(stop, found[-1][1]))
        else:
            found.append((start, stop))
    return tuple(found)


def overlap(one: Ranges, other: Ranges) -> Ranges:
    """The bytes that both have."""
    found = []
    i = j = 0
    while i < len(one) and j < len(other):
        start, stop = max(one[i][0], other[j][0]), min(one[i][1], other[j][1])
        if start < stop:
            found.append((start, stop))
        if one[i][1] < other[j][1]:
            i += 1
        else:
            j += 1
    return tuple(found)


def without(one: Ranges, other: Ranges) -> Ranges:
    """The bytes of one that the other has not."""
    found = []
    for start, stop in one:
        for first, last in overlap(((start, stop),), other):
            if start < first:
                found.append((start, first))
            start = last
        if start < stop:
            found.append((start, stop))
    return tuple(found)


def size(ranges: Ranges) -> int:
    """How many bytes."""
    return sum(stop - start for start, stop in ranges)
