"""What a memory held over time, and which unit read what another wrote, from a run's accesses."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..device.events import Access

_PIECES = 16
"""Ranges that one access is shown by; where it has more the closest are taken together."""


@dataclass(slots=True, kw_only=True)
class Life:
    """A range of bytes from its writing to its last use before it is written again, in cycles."""

    start: int
    stop: int
    begin: int
    end: int
    writer: Access


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryMap:
    """All lives, and for each reader the writers of what it read; both in the order of time."""

    lives: list[Life]
    reads: list[tuple[Access, Access]]


def memory_map(accesses: Sequence[Access], memory: str) -> MemoryMap:
    """The map of one memory. Of accesses that begin together reads come before writes."""
    lives: list[Life] = []
    reads: dict[tuple[int, int], tuple[Access, Access]] = {}
    live: list[Life] = []  # apart, ascending in start
    inside = [access for access in accesses if access.memory == memory]
    for access in sorted(inside, key=lambda access: (access.begin, access.writes)):
        for start, stop in _pieces(access.ranges):
            first, last = _touching(live, start, stop)
            touched = live[first:last]
            if not access.writes:
                for life in touched:
                    life.end = max(life.end, access.end)
                    reads[id(life.writer), id(access)] = (life.writer, access)
                continue
            lives += touched
            made = Life(start=start, stop=stop, begin=access.begin, end=access.end, writer=access)
            left = _cut(touched, start, stop)
            live[first:last] = sorted([*left, made], key=lambda life: life.start)
    lives += live
    shown = [life for life in lives if life.end > life.begin]
    return MemoryMap(
        lives=sorted(shown, key=lambda life: (life.begin, life.start)),
        reads=sorted(reads.values(), key=lambda pair: (pair[1].begin, pair[0].begin)),
    )


def _touching(live: list[Life], start: int, stop: int) -> tuple[int, int]:
    """The places of those that share bytes with a range."""
    first = bisect_left(live, start, key=lambda life: life.stop - 1)
    last = bisect_left(live, stop, lo=first, key=lambda life: life.start)
    return first, last


def _cut(touched: list[Life], start: int, stop: int) -> list[Life]:
    """Shorten lives to the bytes that are overwritten; returns what is left of them, alive."""
    left = []
    for life in touched:
        for first, last in ((life.start, start), (stop, life.stop)):
            if first < last:
                left.append(replace(life, start=first, stop=last))
        life.start, life.stop = max(life.start, start), min(life.stop, stop)
    return left


def _pieces(ranges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """At most so many ranges, the smallest gaps closed."""
    ordered = sorted(ranges)
    if len(ordered) <= _PIECES:
        return ordered
    gaps = [(ordered[n + 1][0] - ordered[n][1], n) for n in range(len(ordered) - 1)]
    cuts = sorted(n for _, n in sorted(gaps, reverse=True)[: _PIECES - 1])
    found, first = [], 0
    for cut in (*cuts, len(ordered) - 1):
        found.append((ordered[first][0], max(stop for _, stop in ordered[first : cut + 1])))
        first = cut + 1
    return found
