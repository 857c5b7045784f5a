"""A core's timeline as columns in whole cycles, with what the places of the source stand for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.hw.apple.core.result import CAUSES, CoreTimeline, PartitionSlices
from assay.sim.site import Site

from ..sites import own_places

Integers = NDArray[np.int64]
BARRIER = CAUSES.index("barrier")
_LAUNCH = CAUSES.index("launch")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rows:
    """Slices of one dispatch, sorted by simdgroup and begin; columns of one length.

    Attributes:
        per_group: simdgroups of a threadgroup.
        stream: threadgroup times `per_group` plus the simdgroup's number in it.
        begin, end: cycles; slices of one stream follow each other without gap.
        cause: index into `SIMDGROUP_CAUSES`.
        phase: index into `names`: the function below the kernel that the time belongs to, the
            kernel itself, "barrier" or "launch".
        line: of the user's source, 0 if unknown.
        file: index into `names`.
        met: barriers that the simdgroup had come to at `begin`.
        awaited: who came last to the barrier that it waits at, or -1.
        names: texts.
    """

    per_group: int
    stream: Integers
    begin: Integers
    end: Integers
    cause: Integers
    phase: Integers
    line: Integers
    file: Integers
    met: Integers
    awaited: Integers
    names: tuple[str, ...]

    @property
    def group(self) -> Integers:
        """The threadgroup of each row."""
        return self.stream // self.per_group

    def runs(self, *keys: Integers) -> tuple[Integers, Integers]:
        """(first row, last row) of each run in which a stream's `keys` stay the same."""
        count = len(self.begin)
        starts = np.ones(count, bool)
        if count:
            same = self.stream[1:] == self.stream[:-1]
            for key in keys:
                same &= key[1:] == key[:-1]
            starts[1:] = ~same
        first = np.flatnonzero(starts)
        return first, np.append(first[1:], count) - 1 if count else first


def cut(timeline: CoreTimeline, most: int) -> tuple[CoreTimeline, float | None]:
    """The timeline up to a cycle by which at most `most` slices have begun; None if that is all."""
    if len(timeline.begin) <= most:
        return timeline, None
    until = float(np.partition(timeline.begin, most)[most])
    kept = timeline.begin < until
    columns = (
        "partition",
        "threadgroup",
        "simdgroup",
        "begin",
        "end",
        "cause",
        "site",
        "awaited",
        "met",
    )
    shown = {name: getattr(timeline, name)[kept] for name in columns}
    shown["end"] = np.minimum(shown["end"], until)
    flights = timeline.flights[timeline.flights[:, 0] < until]
    partitions = _cut_partitions(timeline.partitions, until)
    return CoreTimeline(
        **shown, sites=timeline.sites, partitions=partitions, flights=flights
    ), until


def _cut_partitions(slices: PartitionSlices, until: float) -> PartitionSlices:
    kept = slices.begin < until
    return PartitionSlices(
        partition=slices.partition[kept],
        begin=slices.begin[kept],
        end=np.minimum(slices.end[kept], until),
        cause=slices.cause[kept],
    )


def rows_of(
    timeline: CoreTimeline, *, kernel: str, sources: Mapping[str, str], per_group: int, at: int
) -> Rows:
    """The rows of a timeline whose cycle 0 is cycle `at`.

    Every boundary is rounded by itself, so that what follows without gap still does; what is
    shorter than the rounding vanishes.
    """
    stream = timeline.threadgroup.astype(np.int64) * per_group + timeline.simdgroup
    order = np.lexsort((timeline.begin, stream))
    begin = np.rint(timeline.begin[order]).astype(np.int64) + at
    end = np.rint(timeline.end[order]).astype(np.int64) + at
    kept = order[end > begin]
    begin, end = begin[end > begin], end[end > begin]
    cause = timeline.cause[kept].astype(np.int64)
    names = _Names()
    described = [_describe(site, kernel, sources, names) for site in timeline.sites]
    described.append((names["launch"], 0, names[""]))  # of site -1
    table = np.array(described, np.int64)
    phase, line, file = table[timeline.site[kept]].T
    phase = np.where(cause == BARRIER, names["barrier"], phase)
    phase = np.where(cause == _LAUNCH, names["launch"], phase)
    return Rows(
        per_group=per_group,
        stream=stream[kept],
        begin=begin,
        end=end,
        cause=cause,
        phase=phase,
        line=line.copy(),
        file=file.copy(),
        met=timeline.met[kept].astype(np.int64),
        awaited=timeline.awaited[kept].astype(np.int64),
        names=tuple(names),
    )


class _Names(dict[str, int]):
    """Texts by number, in the order in which they were first asked for."""

    def __missing__(self, text: str) -> int:
        self[text] = number = len(self)
        return number


def _describe(
    site: Site, kernel: str, sources: Mapping[str, str], names: _Names
) -> tuple[int, int, int]:
    """(phase, line, file) of a place: its line, in the function that the kernel itself calls."""
    places = own_places(site, sources)
    if not places:
        return names[kernel], 0, names[""]
    phase = places[-2].function if len(places) > 1 else kernel
    return names[phase or kernel], places[0].line, names[places[0].file]
