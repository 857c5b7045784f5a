"""Intervals of time, or of addresses: (begin, end), ascending, none touching the next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

Interval = tuple[int, int]
ADDRESSES = 1 << 24
"""Addresses of LRAM that a descriptor can form."""
XRAM_ADDRESSES = 1 << 32
"""Addresses of XRAM that the NPU can form."""


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


def merged(
    starts: NDArray[np.int64], size: int, addresses: int = ADDRESSES
) -> tuple[Interval, ...]:
    """Byte ranges of pieces of one size, those that touch joined; they wrap, as in LRAM."""
    ordered = np.unique(starts % addresses)
    if not len(ordered) or size <= 0:
        return ()
    breaks = np.flatnonzero(np.diff(ordered) > size) + 1
    firsts = ordered[np.concatenate([[0], breaks])]
    lasts = ordered[np.concatenate([breaks - 1, [len(ordered) - 1]])] + size
    return tuple(zip(firsts.tolist(), lasts.tolist(), strict=True))
