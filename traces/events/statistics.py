"""Where the time of a trace went: per track by cause, per name, in memories, in counters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .nesting import union_length
from .schema import NO_CAUSE, Group, Role, Type
from .trace import Integers, Trace

BUSY = "busy"
"""What slices are counted as that state no cause, nor does anything around them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackUse:
    """How a track spent a range. Ticks; busy, stalled and idle sum to the range.

    `causes` are the ticks of each cause, idle ones included; what no slice covers is not in it.
    """

    track: str
    slices: int
    busy: int
    stalled: int
    idle: int
    causes: dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class NameUse:
    """All slices of one kind and name in a range.

    Durations are ticks: `total` with what is inside, `own` without; percentiles are of slices that
    really are in the trace (the nearest rank).
    """

    kind: str
    name: str
    count: int
    total: int
    own: int
    least: int
    median: int
    p95: int
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryUse:
    """The most that a memory held at one time, in bytes, and when that was first so, in ticks.

    `top` is the highest byte used plus one; `capacity` None if the track states none.
    """

    track: str
    peak: int
    time: int
    top: int
    capacity: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterUse:
    """A counter in a range: its values, and their mean weighted by how long each held."""

    track: str
    unit: str
    least: float
    mean: float
    most: float
    last: float


def track_uses(trace: Trace, begin: int, end: int, tracks: list[int]) -> list[TrackUse]:
    """How each of the tracks that has slices spent [begin, end)."""
    slices = trace.slices
    clipped = _clipped(slices.begin, slices.end, begin, end)
    cause = effective_causes(trace)
    found = []
    for number in tracks:
        rows = _rows_of(slices.track, number)
        if rows.start == rows.stop:
            continue
        inside = (slices.begin[rows] < end) & (slices.end[rows] > begin)
        if slices.lane[rows].any():
            ticks = _laned_ticks(trace, rows, cause, begin, end)
        else:
            ticks = _nested_ticks(trace, rows, cause[rows], clipped)
        found.append(_use(trace, number, int(inside.sum()), ticks, end - begin))
    return found


def name_uses(trace: Trace, begin: int, end: int, tracks: list[int]) -> list[NameUse]:
    """Slices that overlap [begin, end), or are without length in it, by kind and name.

    The greatest total comes first.
    """
    slices = trace.slices
    long = (slices.begin < end) & (slices.end > begin)
    empty = (slices.duration == 0) & (slices.begin >= begin) & (slices.begin <= end)
    rows = np.flatnonzero(np.isin(slices.track, tracks) & (long | empty))
    if not len(rows):
        return []
    own = own_durations(trace)[rows]
    duration, kind, name = slices.duration[rows], slices.kind[rows], slices.name[rows]
    order = np.lexsort((duration, name, kind))
    keys = np.stack((kind[order], name[order]))
    starts = np.concatenate(([0], np.flatnonzero((keys[:, 1:] != keys[:, :-1]).any(axis=0)) + 1))
    counts = np.diff(np.append(starts, len(rows)))
    sorted_durations = duration[order]
    totals = np.add.reduceat(sorted_durations, starts)
    owns = np.add.reduceat(own[order], starts)
    ranks = {p: sorted_durations[starts + _rank(counts, p)] for p in (0, 50, 95, 100)}
    found = [
        NameUse(
            kind=trace.kinds[int(keys[0, start])].name,
            name=trace.names[int(keys[1, start])],
            count=int(counts[group]),
            total=int(totals[group]),
            own=int(owns[group]),
            least=int(ranks[0][group]),
            median=int(ranks[50][group]),
            p95=int(ranks[95][group]),
            most=int(ranks[100][group]),
        )
        for group, start in enumerate(starts.tolist())
    ]
    return sorted(found, key=lambda use: (-use.total, use.kind, use.name))


def memory_uses(trace: Trace, begin: int, end: int, tracks: list[int]) -> list[MemoryUse]:
    """Peaks of the memories whose slices have `bytes`, in [begin, end)."""
    found = []
    for number in tracks:
        track = trace.tracks[number]
        if track.role not in (Role.MEMORY, Role.ARRAY):
            continue
        rows = _rows_of(trace.slices.track, number)
        places = np.arange(rows.start, rows.stop)
        size, top = _sizes(trace, places)
        inside = (trace.slices.begin[places] < end) & (trace.slices.end[places] > begin)
        inside &= size > 0
        if not inside.any():
            continue
        peak, time = _peak(
            np.maximum(trace.slices.begin[places[inside]], begin),
            trace.slices.end[places[inside]],
            size[inside],
        )
        found.append(
            MemoryUse(
                track=str(track),
                peak=peak,
                time=time,
                top=int(top[inside].max()),
                capacity=track.capacity,
            )
        )
    return found


def counter_uses(trace: Trace, begin: int, end: int, tracks: list[int]) -> list[CounterUse]:
    """Values of counters in [begin, end); a value set before holds on into it."""
    found = []
    for number in tracks:
        rows = _rows_of(trace.counters.track, number)
        time, value = trace.counters.time[rows], trace.counters.value[rows]
        first = max(int(np.searchsorted(time, begin, "right")) - 1, 0)
        time, value = time[first:], value[first:]
        time, value = time[time < max(end, begin + 1)], value[time < max(end, begin + 1)]
        if not len(time):
            continue
        held = np.diff(np.append(np.maximum(time, begin), max(end, begin + 1)))
        with np.errstate(invalid="ignore"):  # infinities of both signs have no mean
            mean = float((value * (held / held.sum())).sum())
        found.append(
            CounterUse(
                track=str(trace.tracks[number]),
                unit=trace.tracks[number].unit,
                least=float(value.min()),
                mean=mean,
                most=float(value.max()),
                last=float(value[-1]),
            )
        )
    return found


def own_durations(trace: Trace) -> Integers:
    """Duration of each slice without what is inside it."""
    slices = trace.slices
    return _without_children(slices.parent, slices.duration, 0)


def effective_causes(trace: Trace) -> Integers:
    """The cause of each slice, or else that of the nearest slice around it that states one."""
    slices = trace.slices
    cause = slices.cause.copy()
    for depth in range(1, int(slices.depth.max()) + 1 if len(slices) else 0):
        rows = np.flatnonzero((slices.depth == depth) & (cause == NO_CAUSE))
        cause[rows] = cause[slices.parent[rows]]
    return cause


def group_masks(trace: Trace) -> dict[Group, NDArray[np.bool_]]:
    """For each group which causes are of it; the last entry is for slices without a cause."""
    groups = [cause.group for cause in trace.causes] + [Group.BUSY]
    return {group: np.array([g is group for g in groups], bool) for group in Group}


def _rows_of(column: Integers, number: int) -> slice:
    """The range of a sorted column that holds a number."""
    return slice(
        int(np.searchsorted(column, number, "left")), int(np.searchsorted(column, number, "right"))
    )


def _clipped(first: Integers, last: Integers, begin: int, end: int) -> Integers:
    clipped: Integers = np.maximum(np.minimum(last, end) - np.maximum(first, begin), 0)
    return clipped


def _without_children(parent: Integers, duration: Integers, base: int) -> Integers:
    own = duration.copy()
    inside = parent >= 0
    np.subtract.at(own, parent[inside] - base, duration[inside])
    return own


def _nested_ticks(trace: Trace, rows: slice, cause: Integers, clipped: Integers) -> dict[int, int]:
    """Ticks of each cause, on a track without lanes: each tick belongs to the innermost slice."""
    own = _without_children(trace.slices.parent[rows], clipped[rows], rows.start)
    sums = np.zeros(len(trace.causes) + 1, np.int64)
    np.add.at(sums, cause, own)  # NO_CAUSE, which is -1, is the last
    found = {number: int(ticks) for number, ticks in enumerate(sums[:-1]) if ticks}
    if sums[-1]:
        found[NO_CAUSE] = int(sums[-1])
    return found


def _laned_ticks(
    trace: Trace, rows: slice, cause: Integers, begin: int, end: int
) -> dict[int, int]:
    """The same with lanes: a tick on which any lane works is work, else it has the first cause."""
    slices = trace.slices
    outer = np.arange(rows.start, rows.stop)[slices.depth[rows] == 0]
    outer = outer[(slices.begin[outer] < end) & (slices.end[outer] > begin)]
    first = np.maximum(slices.begin[outer], begin)
    last = np.minimum(slices.end[outer], end)
    causes = cause[outer]
    ordered = sorted(set(causes.tolist()), key=lambda number: _urgency(trace, number))
    found: dict[int, int] = {}
    covered, taken = 0, np.zeros(len(outer), bool)
    for number in ordered:
        taken |= causes == number
        length = union_length(first[taken], last[taken])
        if length > covered:
            found[number] = length - covered
        covered = length
    return found


def _urgency(trace: Trace, cause: int) -> tuple[int, int]:
    order = [Group.BUSY, Group.STALLED, Group.IDLE]
    return order.index(_group(trace, cause)), cause


def _group(trace: Trace, cause: int) -> Group:
    return Group.BUSY if cause == NO_CAUSE else trace.causes[cause].group


def _use(trace: Trace, number: int, count: int, ticks: dict[int, int], length: int) -> TrackUse:
    sums = dict.fromkeys(Group, 0)
    causes: dict[str, int] = {}
    for cause, spent in ticks.items():
        sums[_group(trace, cause)] += spent
        name = BUSY if cause == NO_CAUSE else trace.causes[cause].name
        causes[name] = causes.get(name, 0) + spent
    uncovered = length - sum(sums.values())
    return TrackUse(
        track=str(trace.tracks[number]),
        slices=count,
        busy=sums[Group.BUSY],
        stalled=sums[Group.STALLED],
        idle=sums[Group.IDLE] + uncovered,
        causes=dict(sorted(causes.items(), key=lambda item: -item[1])),
    )


def _rank(counts: NDArray[np.integer], percent: int) -> Integers:
    """The nearest rank of a percentile among so many, from zero."""
    rank: Integers = np.maximum(-(-counts.astype(np.int64) * percent // 100) - 1, 0)
    return rank


def _sizes(trace: Trace, places: Integers) -> tuple[Integers, Integers]:
    """Bytes of each slice and the highest byte plus one; 0 where it has no `bytes`."""
    size, top = np.zeros(len(places), np.int64), np.zeros(len(places), np.int64)
    kinds = trace.slices.kind[places]
    for kind in np.unique(kinds).tolist():
        columns = trace.arguments[kind]
        types = {argument.name: argument.type for argument in trace.kinds[kind].arguments}
        if types.get("bytes") is not Type.INTEGER:
            continue
        mine = kinds == kind
        payload = trace.slices.payload[places[mine]]
        size[mine] = np.maximum(columns["bytes"][payload], 0)
        offset = columns["offset"][payload] if types.get("offset") is Type.INTEGER else 0
        top[mine] = np.maximum(offset, 0) + size[mine]
    return size, top


def _peak(begin: Integers, end: Integers, size: Integers) -> tuple[int, int]:
    """The greatest sum of sizes that are alive at one time, and when it is first reached."""
    times = np.concatenate((end, begin))  # at one time ends come first
    changes = np.concatenate((-size, size))
    order = np.argsort(times, kind="stable")
    levels = np.cumsum(changes[order])
    at = int(np.argmax(levels))
    return int(levels[at]), int(times[order][at])
