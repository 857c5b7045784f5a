"""The chain of slices that the length of a run hangs on."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .schema import Group, Role
from .statistics import effective_causes, group_masks, own_durations
from .trace import Integers, Trace

_BESIDE = (Role.MEMORY, Role.ARRAY, Role.COUNTER)
"""Tracks whose slices say what lies in a memory, not what is done."""
_LONGEST = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A slice of the chain. Ticks: how much of the chain it is, and the wait before it.

    `slice` is its position in `Trace.slices`.
    """

    slice: int
    ticks: int
    wait: int


def critical_path(trace: Trace, begin: int, end: int) -> list[Link]:
    """The chain that ends with the last slice to end in [begin, end], the first link first.

    What comes before a slice is, of those that flows name and the one before it on its lane, the
    one that ends last. Links are the outermost slices of kinds that do not stand around others, as
    far as they do work; a flow from an inner slice is one from the link around it, and a flow to a
    slice that stands around others is one to what is in it.
    """
    graph = _Graph(trace, begin, end)
    at = graph.last()
    if at is None:
        return []
    chain: list[Link] = []
    until = min(graph.end(at), end)
    while len(chain) < _LONGEST:
        first = max(graph.begin(at), begin)
        # Each link begins before the last, so that flows in a circle end; what is under way when
        # the range begins is the first link.
        candidates = [
            s
            for s in (graph.before(at, first) if graph.begin(at) > begin else ())
            if graph.begin(s) < first and graph.end(s) > begin
        ]
        if not candidates:
            chain.append(Link(slice=at, ticks=until - first, wait=first - begin))
            break
        before = max(candidates, key=lambda s: (min(graph.end(s), until), -s))
        reached = min(graph.end(before), until)
        start = max(first, reached)
        chain.append(Link(slice=at, ticks=until - start, wait=start - reached))
        at, until = before, reached
    return chain[::-1]


class _Graph:
    """Which slices are links, and what may come before each."""

    def __init__(self, trace: Trace, begin: int, end: int) -> None:
        slices = trace.slices
        self._begin, self._end = slices.begin, slices.end
        around = np.array([kind.around for kind in trace.kinds], bool)[slices.kind]
        self._link = _links(trace, around)
        beside = np.array([track.role in _BESIDE for track in trace.tracks], bool)
        chosen = (self._link == np.arange(len(slices))) & ~around & ~beside[slices.track]
        chosen &= (self._begin < end) & (self._end > begin) & _works(trace, self._link)
        self._chosen, self._until = chosen, end
        self._previous = _previous(trace, chosen)
        self._sources: dict[int, list[int]] = {}
        self._add_flows(trace)
        self._around = sorted(
            (int(self._begin[s]), s) for s in self._sources if around[s] and not chosen[s]
        )

    def last(self) -> int | None:
        """The link that ends last, None if there is none."""
        if not self._chosen.any():
            return None
        return int(np.argmax(np.where(self._chosen, np.minimum(self._end, self._until), -1)))

    def begin(self, at: int) -> int:
        """The begin of a slice."""
        return int(self._begin[at])

    def end(self, at: int) -> int:
        """The end of a slice."""
        return int(self._end[at])

    def before(self, at: int, first: int) -> list[int]:
        """Links that may come before one that begins at `first`."""
        found = list(self._sources.get(at, ()))
        if self._previous[at] >= 0:
            found.append(int(self._previous[at]))
        position = bisect_right(self._around, (first, len(self._begin))) - 1
        if position >= 0:
            outer = self._around[position][1]
            if self.end(outer) > first:
                found += self._sources[outer]
        return found

    def _add_flows(self, trace: Trace) -> None:
        flows = trace.flows
        sources, ends = self._link[flows.source], self._link[flows.destination]
        for source, destination in zip(sources.tolist(), ends.tolist(), strict=True):
            if source != destination and self._chosen[source]:
                self._sources.setdefault(destination, []).append(source)


def _links(trace: Trace, around: NDArray[np.bool_]) -> Integers:
    """For each slice the outermost one around it that does not itself stand around others."""
    slices = trace.slices
    link = np.arange(len(slices))
    for depth in range(1, int(slices.depth.max()) + 1 if len(slices) else 0):
        rows = np.flatnonzero(slices.depth == depth)
        outer = link[slices.parent[rows]]
        link[rows] = np.where(around[outer], rows, outer)
    return link


def _works(trace: Trace, link: Integers) -> NDArray[np.bool_]:
    """Which links have work in them, or no length; a wait is no reason for the length of a run."""
    works = np.zeros(len(link), np.int64)
    busy = group_masks(trace)[Group.BUSY][effective_causes(trace)]
    np.add.at(works, link[busy], own_durations(trace)[busy])
    found: NDArray[np.bool_] = (works > 0) | (trace.slices.duration == 0)
    return found


def _previous(trace: Trace, chosen: NDArray[np.bool_]) -> Integers:
    """For each chosen slice the one before it on its lane, -1 if there is none."""
    slices = trace.slices
    rows = np.flatnonzero(chosen)
    found = np.full(len(slices), -1, np.int64)
    same = (slices.track[rows[1:]] == slices.track[rows[:-1]]) & (
        slices.lane[rows[1:]] == slices.lane[rows[:-1]]
    )
    found[rows[1:][same]] = rows[:-1][same]
    return found
