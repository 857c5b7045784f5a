"""Traces side by side: the same tracks and names, what differs, and where it begins to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .kernels import KernelDifference, PairedKernels
from .schema import Role
from .statistics import effective_causes, own_durations
from .trace import Integers, Trace

_Key: TypeAlias = tuple[str, int]
"""A track's path, and which of the tracks of that path it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NameDifference:
    """Slices of one kind and name on one track in each trace; seconds, 0 where there is none."""

    track: str
    kind: str
    name: str
    counts: list[int]
    seconds: list[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Divergence:
    """Where a track of a trace first differs from that of the first trace.

    Attributes:
        trace: number of the trace, from 1 for the second one.
        track: its path.
        index: number of the slice among those of the track, in the order of time.
        what: "name", "begin", "duration", or "missing" if one of them has no further slice.
        seconds: begin of the slice, in the first trace if it is there.
        expected, found: the slice in the first trace and in the other, for people.
    """

    trace: int
    track: str
    index: int
    what: str
    seconds: float
    expected: str
    found: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Several traces against the first of them.

    Attributes:
        titles: of the traces.
        seconds: how long each is.
        slices: how many each has.
        kernels: of all traces, with how long they take: what traces are mostly compared for.
        causes: seconds with each cause in each trace, if they differ: of the partitions of cores,
            as text reports have them, or where not all traces have any, of all tracks.
        only: tracks that are not in all of them, with the numbers of the traces that have them.
        names: those that differ in count or total, the greatest difference first.
        divergences: for each track and trace the first difference in order, earliest first.
    """

    titles: list[str]
    seconds: list[float]
    slices: list[int]
    kernels: list[KernelDifference]
    causes: dict[str, list[float]]
    only: dict[str, list[int]]
    names: list[NameDifference]
    divergences: list[Divergence]

    @property
    def equal(self) -> bool:
        """Whether all have the same tracks with the same slices at the same times."""
        renamed = any(len(set(kernel.names)) > 1 for kernel in self.kernels)
        return not (self.only or self.names or self.divergences or renamed)

    def json(self) -> dict[str, Any]:
        """Everything, as JSON takes it."""
        return {"equal": self.equal, **asdict(self)}


def compare_traces(traces: Sequence[Trace]) -> Difference:
    """What differs between traces. Times of different clocks are compared in seconds.

    Slices are compared track by track; tracks by their paths. Kernels of other names that are
    dispatched at the same place of the order count as the same. Each trace counts from its own
    begin.
    """
    kernels = PairedKernels(traces)
    sides = [_Side(trace, number, kernels) for number, trace in enumerate(traces)]
    everywhere: dict[_Key, list[int]] = {}
    for number, side in enumerate(sides):
        for key in side.tracks:
            everywhere.setdefault(key, []).append(number)
    common = [key for key, numbers in everywhere.items() if len(numbers) == len(sides)]
    divergences = [
        found
        for key in common
        for number, side in enumerate(sides[1:], 1)
        if (found := _first_divergence(number, key, sides[0], side)) is not None
    ]
    return Difference(
        titles=[trace.title for trace in traces],
        seconds=[trace.clock.seconds(trace.span[1] - trace.span[0]) for trace in traces],
        slices=[len(trace.slices) for trace in traces],
        kernels=kernels.differences(),
        causes=_causes(sides),
        only={_text(key): n for key, n in everywhere.items() if len(n) < len(sides)},
        names=_names(sides),
        divergences=sorted(divergences, key=lambda found: (found.seconds, found.track)),
    )


class _Side:
    """One of the traces, with its slices by track in the order of time."""

    def __init__(self, trace: Trace, number: int, kernels: PairedKernels) -> None:
        self.trace = trace
        self.texts = [kernels.first_name(number, name) for name in trace.names]
        self.start = trace.span[0]
        self.tick = Fraction(1, trace.clock.hz)
        self.tracks: dict[_Key, int] = {}
        seen: dict[str, int] = {}
        for number, track in enumerate(trace.tracks):
            path = str(track)
            seen[path] = seen.get(path, 0) + 1
            self.tracks[path, seen[path]] = number
        slices = trace.slices
        self._order = np.lexsort((slices.lane, slices.depth, slices.begin, slices.track))
        self._track = slices.track[self._order]

    def slices(self, key: _Key) -> Integers:
        """The slices of a track in the order of time, outer before inner."""
        number = self.tracks[key]
        first, last = np.searchsorted(self._track, (number, number + 1))
        found: Integers = self._order[first:last]
        return found

    def names(self, slices: Integers) -> list[str]:
        """The names of slices; kernels are called as in the first trace."""
        return [self.texts[number] for number in self.trace.slices.name[slices].tolist()]

    def text(self, slices: Integers, index: int) -> str:
        """A slice for people; what there is instead when there is none."""
        if index >= len(slices):
            return "no further slice"
        at = int(slices[index])
        table, clock = self.trace.slices, self.trace.clock
        begin = clock.text(int(table.begin[at]) - self.start)
        name = self.trace.names[int(table.name[at])]
        return f"{name!r} at {begin} for {clock.text(int(table.duration[at]))}"


def _text(key: _Key) -> str:
    path, number = key
    return path if number == 1 else f"{path} ({number})"


def _first_divergence(number: int, key: _Key, one: _Side, other: _Side) -> Divergence | None:
    left, right = one.slices(key), other.slices(key)
    length = min(len(left), len(right))
    a, b = left[:length], right[:length]
    same_name = np.array(one.names(a), object) == np.array(other.names(b), object)
    scale = one.trace.clock.hz == other.trace.clock.hz
    begins = _equal_times(
        one,
        other,
        one.trace.slices.begin[a] - one.start,
        other.trace.slices.begin[b] - other.start,
        scale,
    )
    durations = _equal_times(
        one, other, one.trace.slices.duration[a], other.trace.slices.duration[b], scale
    )
    different = np.flatnonzero(~(np.asarray(same_name, bool) & begins & durations))
    if not len(different) and len(left) == len(right):
        return None
    index = int(different[0]) if len(different) else length
    what = "missing"
    if len(different):
        what = "name" if not same_name[index] else "begin" if not begins[index] else "duration"
    side, rows = (one, left) if index < len(left) else (other, right)
    begin = int(side.trace.slices.begin[rows[index]]) - side.start
    return Divergence(
        trace=number,
        track=_text(key),
        index=index,
        what=what,
        seconds=side.trace.clock.seconds(begin),
        expected=one.text(left, index),
        found=other.text(right, index),
    )


def _equal_times(
    one: _Side, other: _Side, a: Integers, b: Integers, same_clock: bool
) -> NDArray[np.bool_]:
    """Which times are equal; of different clocks, to less than a tick of the coarser one."""
    if same_clock:
        return np.equal(a, b)
    tick = float(max(one.tick, other.tick))
    apart = np.abs(a * float(one.tick) - b * float(other.tick))
    return np.less(apart, tick)


def _causes(sides: list[_Side]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    partitions = [
        np.array([track.role is Role.PARTITION for track in side.trace.tracks], bool)
        for side in sides
    ]
    alone = all(each.any() for each in partitions)
    for number, side in enumerate(sides):
        trace = side.trace
        causes, own = effective_causes(trace), own_durations(trace)
        if alone:
            own = np.where(partitions[number][trace.slices.track], own, 0)
        for position, cause in enumerate(trace.causes):
            seconds = trace.clock.seconds(int(own[causes == position].sum()))
            if seconds:
                found.setdefault(cause.name, [0.0] * len(sides))[number] = seconds
    different = {name: seconds for name, seconds in found.items() if not _close(seconds)}
    return dict(sorted(different.items(), key=lambda item: min(item[1]) - max(item[1])))


def _close(values: list[float]) -> bool:
    return max(values) - min(values) <= 1e-9 * max(values)


def _names(sides: list[_Side]) -> list[NameDifference]:
    totals = [_totals(side) for side in sides]
    keys = dict.fromkeys(key for side in totals for key in side)
    found = []
    for key in keys:
        values = [side.get(key, (0, 0.0)) for side in totals]
        counts, seconds = [v[0] for v in values], [v[1] for v in values]
        if len(set(counts)) > 1 or not _close(seconds):
            (track, kind, name) = key
            found.append(
                NameDifference(
                    track=_text(track), kind=kind, name=name, counts=counts, seconds=seconds
                )
            )
    return sorted(found, key=lambda d: -(max(d.seconds) - min(d.seconds)))


def _totals(side: _Side) -> dict[tuple[_Key, str, str], tuple[int, float]]:
    """Count and seconds of the slices of each track, kind and name."""
    slices, trace = side.trace.slices, side.trace
    columns = np.stack((slices.track, slices.kind, slices.name))
    keys, inverse, counts = np.unique(columns, axis=1, return_inverse=True, return_counts=True)
    sums = np.zeros(len(counts), np.int64)
    np.add.at(sums, inverse.reshape(-1), slices.duration)
    by_number = {number: key for key, number in side.tracks.items()}
    found: dict[tuple[_Key, str, str], tuple[int, float]] = {}
    for at, (track, kind, name) in enumerate(keys.T.tolist()):
        known = (by_number[track], trace.kinds[kind].name, side.texts[name])
        count, seconds = found.get(known, (0, 0.0))
        found[known] = (count + int(counts[at]), seconds + trace.clock.seconds(int(sums[at])))
    return found
