"""Which slices lie beside each other, which inside, and which cross; on columns of one track.

All functions take slices sorted by begin, and at one begin the longer before the shorter.
"""

from __future__ import annotations

import heapq

import numpy as np

from .trace import Integers


def first_fit(begin: Integers, end: Integers) -> Integers:
    """The lane of each slice: the lowest in which all earlier ones have ended."""
    lanes = np.zeros(len(begin), np.int64)
    if len(begin) < 2 or (begin[1:] >= np.maximum.accumulate(end)[:-1]).all():
        return lanes
    busy: list[tuple[int, int]] = []
    free: list[int] = []
    taken = []
    for first, last in zip(begin.tolist(), end.tolist(), strict=True):
        while busy and busy[0][0] <= first:
            heapq.heappush(free, heapq.heappop(busy)[1])
        lane = heapq.heappop(free) if free else len(busy)
        taken.append(lane)
        heapq.heappush(busy, (last, lane))
    lanes[:] = taken
    return lanes


def depths(begin: Integers, end: Integers) -> Integers:
    """How many slices are open when each begins, itself not counted.

    A slice that ends when another begins is not open. A slice without length is inside what begins
    at its time, and holds nothing.
    """
    count = np.arange(len(begin), dtype=np.int64)
    over = np.searchsorted(np.sort(end), begin, side="right")
    # Slices without length count as over at their own begin, though they come later in the order.
    empty = np.concatenate(([0], np.cumsum(begin == end)))
    last = np.searchsorted(begin, begin, side="right")
    depth: Integers = count - over + (empty[last] - empty[count])
    return depth


def parents(depth: Integers) -> Integers:
    """The position of the slice right around each, -1 for the outermost."""
    found = np.full(len(depth), -1, np.int64)
    if not len(depth):
        return found
    outer = np.flatnonzero(depth == 0)
    for level in range(1, int(depth.max()) + 1):
        inner = np.flatnonzero(depth == level)
        found[inner] = outer[np.searchsorted(outer, inner) - 1]
        outer = inner
    return found


def first_crossing(begin: Integers, end: Integers, parent: Integers) -> tuple[int, int] | None:
    """The first slice that ends after the one it began in, and that one; None if all nest."""
    inside = np.flatnonzero(parent >= 0)
    late = inside[end[inside] > end[parent[inside]]]
    if not len(late):
        return None
    return int(late[0]), int(parent[late[0]])


def union_length(begin: Integers, end: Integers) -> int:
    """How many ticks lie in any of the intervals, in any order."""
    if not len(begin):
        return 0
    order = np.argsort(begin, kind="stable")
    first, last = begin[order], np.maximum.accumulate(end[order])
    before = np.concatenate((first[:1], last[:-1]))
    return int(np.maximum(last - np.maximum(first, before), 0).sum())
