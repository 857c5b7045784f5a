"""Lists of intervals of time: (begin, end), ascending, none touching the next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Interval = tuple[int, int]


def union(intervals: Iterable[Interval]) -> list[Interval]:
    """What any of the intervals covers; they may come in any order."""
    merged: list[Interval] = []
    for begin, end in sorted(intervals):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        elif end > begin:
            merged.append((begin, end))
    return merged


def common(a: Sequence[Interval], b: Sequence[Interval]) -> list[Interval]:
    """What both lists cover."""
    shared: list[Interval] = []
    i = j = 0
    while i < len(a) and j < len(b):
        begin, end = max(a[i][0], b[j][0]), min(a[i][1], b[j][1])
        if begin < end:
            shared.append((begin, end))
        if a[i][1] <= b[j][1]:
            i += 1
        else:
            j += 1
    return shared


def without(a: Sequence[Interval], b: Sequence[Interval]) -> list[Interval]:
    """What the first list covers and the second does not."""
    left: list[Interval] = []
    j = 0
    for begin, end in a:
        at = begin
        while j < len(b) and b[j][1] <= at:
            j += 1
        k = j
        while k < len(b) and b[k][0] < end:
            if b[k][0] > at:
                left.append((at, b[k][0]))
            at = max(at, b[k][1])
            k += 1
        if at < end:
            left.append((at, end))
    return left


def length(intervals: Iterable[Interval]) -> int:
    """How long they are together."""
    return sum(end - begin for begin, end in intervals)
