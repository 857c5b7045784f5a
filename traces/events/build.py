"""Makes a trace of what was gathered: checks it, orders it, finds lanes, depths and parents."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np

from .content import REFERENCE_SHIFT, Content
from .errors import TraceError
from .nesting import depths, first_crossing, first_fit, parents
from .schema import NO_CAUSE, Form, Kind, Role, Track, Type
from .trace import Column, Counters, Flows, Instants, Integers, Slices, Trace

_LATEST = 2**62
"""Times below this can be added without leaving 64 bits."""


def build(content: Content) -> Trace:
    """The trace of a content.

    Raises TraceError if it contradicts itself: slices that cross on a track on which they must
    nest, children that leave gaps in a kind that is tiled, negative times, unknown numbers.
    """
    tracks, moved = _ordered_tracks(content)
    _check_texts(content)
    events = _Events(content, moved)
    slices, places = _slices(content, events, tracks)
    if content.complete:
        _check_tiling(slices, content, tracks)
    return Trace(
        title=content.title,
        clock=content.clock,
        tracks=tracks,
        kinds=tuple(content.kinds),
        causes=tuple(content.causes),
        names=tuple(content.names),
        slices=slices,
        instants=_instants(events, tracks),
        counters=_counters(events, tracks),
        flows=_flows(content, events, places),
        arguments=tuple(
            {argument.name: columns[argument.name] for argument in kind.arguments}
            for kind, columns in zip(content.kinds, content.columns, strict=True)
        ),
        complete=content.complete,
        notes=tuple(content.notes),
    )


def _check_texts(content: Content) -> None:
    """Raises TraceError if an argument is a text that is not among the names."""
    for kind, columns in zip(content.kinds, content.columns, strict=True):
        for argument in kind.arguments:
            if argument.type is not Type.TEXT:
                continue
            numbers = columns[argument.name]
            right = (numbers >= -1) & (numbers < len(content.names))
            if not right.all():
                row = int(np.argmin(right))
                raise TraceError(
                    f"event {row} of kind {kind.name}: {argument.name} is text "
                    f"{int(numbers[row])}; there are {len(content.names)}"
                )


def _ordered_tracks(content: Content) -> tuple[tuple[Track, ...], Integers]:
    """The tracks in the order of display, and for each number in the content its position."""
    children: dict[int, list[int]] = {}
    for number, track in enumerate(content.tracks):
        children.setdefault(track.parent, []).append(number)
    found: list[Track] = []
    moved = np.full(len(content.tracks), -1, np.int64)
    pending = [(number, -1) for number in _shown(content, children.get(-1, []))]
    while pending:
        number, parent = pending.pop()
        definition = content.tracks[number]
        moved[number] = len(found)
        pending += [(child, len(found)) for child in _shown(content, children.get(number, []))]
        outer = found[parent].path if parent >= 0 else ()
        found.append(
            Track(
                name=definition.name,
                path=(*outer, definition.name),
                parent=parent,
                role=definition.role,
                unit=definition.unit,
                capacity=definition.capacity,
            )
        )
    return tuple(found), moved


def _shown(content: Content, siblings: list[int]) -> list[int]:
    """Siblings in the order in which a stack takes them: last first."""
    return sorted(siblings, key=lambda number: (content.tracks[number].order, number))[::-1]


class _Events:
    """Columns of all kinds of one form, one after the other."""

    def __init__(self, content: Content, moved: Integers) -> None:
        self._content = content
        self._moved = moved

    def kinds(self, form: Form) -> list[int]:
        """Numbers of the kinds of a form."""
        return [n for n, kind in enumerate(self._content.kinds) if kind.form is form]

    def column(self, form: Form, name: str) -> Integers:
        """An integer column."""
        return self._joined(form, lambda columns, _: columns[name])

    def kind(self, form: Form) -> Integers:
        """The kind of each event."""
        kinds = self._content.kinds
        return self._joined(form, lambda c, n: np.full(_length(kinds[n], c), n, np.int64))

    def payload(self, form: Form) -> Integers:
        """The row of each event among those of its kind."""
        kinds = self._content.kinds
        return self._joined(form, lambda c, n: np.arange(_length(kinds[n], c), dtype=np.int64))

    def track(self, form: Form) -> Integers:
        """The position of each event's track. Raises TraceError if there is no such track."""
        numbers = self.column(form, "track")
        self._check(form, numbers, (numbers >= 0) & (numbers < len(self._moved)), "track")
        return self._moved[numbers] if len(numbers) else numbers

    def name(self, form: Form) -> Integers:
        """The number of each event's name. Raises TraceError if there is no such name."""
        numbers = self.column(form, "name")
        self._check(form, numbers, (numbers >= 0) & (numbers < len(self._content.names)), "name")
        return numbers

    def cause(self) -> Integers:
        """The number of each slice's cause. Raises TraceError if it is unknown or missing."""
        numbers = self.column(Form.SLICE, "cause")
        right = (numbers >= NO_CAUSE) & (numbers < len(self._content.causes))
        self._check(Form.SLICE, numbers, right, "cause")
        need = np.array([kind.caused for kind in self._content.kinds], bool)
        stated = (numbers != NO_CAUSE) | ~need[self.kind(Form.SLICE)]
        if not stated.all():
            number = int(self.kind(Form.SLICE)[np.argmin(stated)])
            name = self._content.kinds[number].name
            raise TraceError(f"a slice of kind {name} states no cause; the kind asks for one")
        return numbers

    def time(self, form: Form, name: str) -> Integers:
        """A column of times. Raises TraceError if one is negative or beyond 2**62."""
        times = self.column(form, name)
        self._check(form, times, (times >= 0) & (times < _LATEST), name)
        return times

    def _joined(self, form: Form, of: Callable[[dict[str, Column], int], Column]) -> Integers:
        parts = [of(self._content.columns[number], number) for number in self.kinds(form)]
        joined: Integers = np.concatenate([np.empty(0, np.int64), *parts])
        return joined

    def _check(self, form: Form, values: Integers, right: np.ndarray, what: str) -> None:
        if not right.all():
            at = int(np.argmin(right))
            kind = self._content.kinds[int(self.kind(form)[at])].name
            row = int(self.payload(form)[at])
            raise TraceError(
                f"event {row} of kind {kind}: {what} {int(values[at])} is out of range"
            )


def _length(kind: Kind, columns: dict[str, Column]) -> int:
    return len(columns["source" if kind.form is Form.FLOW else "track"])


def _slices(
    content: Content, events: _Events, tracks: tuple[Track, ...]
) -> tuple[Slices, Integers]:
    """The slices, and for each in the order of recording its position among them."""
    form = Form.SLICE
    kind, track = events.kind(form), events.track(form)
    _check_counters(tracks, track, counters=False)
    begin, duration = events.time(form, "begin"), events.time(form, "duration")
    # Of equal intervals the tiled kind is outside, the one with a cause inside, else the earlier.
    inner = np.array([2 * (not k.tiled) + k.caused for k in content.kinds], np.int64)
    order = np.lexsort((inner[kind], -duration, begin, track))
    lane = np.zeros(len(order), np.int64)
    for part in _runs(track[order]):
        lane[part] = _lanes(content, kind[order[part]], begin[order[part]], duration[order[part]])
    again = np.lexsort((lane, track[order]))
    order, lane = order[again], lane[again]
    begin, duration, track, kind = begin[order], duration[order], track[order], kind[order]
    depth, parent = _nest(content, tracks, events.name(form)[order], track, lane, begin, duration)
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    slices = Slices(
        track=track,
        lane=lane,
        depth=depth,
        parent=parent,
        begin=begin,
        duration=duration,
        name=events.name(form)[order],
        kind=kind,
        cause=events.cause()[order],
        payload=events.payload(form)[order],
    )
    return slices, places


def _runs(keys: Integers) -> list[slice]:
    """The ranges of equal values in a column."""
    cuts = [0, *(np.flatnonzero(np.diff(keys)) + 1).tolist(), len(keys)]
    return [slice(a, b) for a, b in itertools.pairwise(cuts) if a < b]


def _lanes(content: Content, kind: Integers, begin: Integers, duration: Integers) -> Integers:
    """Lanes of the slices of one track: one for those that nest, before those that overlap."""
    overlapping = np.array([k.overlapping for k in content.kinds], bool)[kind]
    lanes = np.zeros(len(kind), np.int64)
    if overlapping.any():
        fitted = first_fit(begin[overlapping], (begin + duration)[overlapping])
        lanes[overlapping] = fitted + (not overlapping.all())
    return lanes


def _nest(
    content: Content,
    tracks: tuple[Track, ...],
    name: Integers,
    track: Integers,
    lane: Integers,
    begin: Integers,
    duration: Integers,
) -> tuple[Integers, Integers]:
    """Depths and parents. Raises TraceError if slices cross."""
    end = begin + duration
    depth = np.zeros(len(begin), np.int64)
    parent = np.full(len(begin), -1, np.int64)
    for of_track in _runs(track):
        for run in _runs(lane[of_track]):
            part = slice(of_track.start + run.start, of_track.start + run.stop)
            depth[part] = depths(begin[part], end[part])
            local = parents(depth[part])
            crossing = first_crossing(begin[part], end[part], local)
            if crossing is not None:
                late, outer = (part.start + position for position in crossing)
                raise TraceError(
                    f"track {tracks[int(track[late])]}: "
                    f"{_interval(content, name, begin, end, late)} begins inside "
                    f"{_interval(content, name, begin, end, outer)} and ends after it; slices of a "
                    "track lie side by side or inside each other, unless their kind is declared "
                    "overlapping"
                )
            parent[part] = np.where(local >= 0, local + part.start, -1)
    return depth, parent


def _interval(
    content: Content, name: Integers, begin: Integers, end: Integers, position: int
) -> str:
    return f"{content.names[int(name[position])]!r} [{begin[position]}, {end[position]}]"


def _check_tiling(slices: Slices, content: Content, tracks: tuple[Track, ...]) -> None:
    inside = slices.parent >= 0
    covered = np.zeros(len(slices), np.int64)
    np.add.at(covered, slices.parent[inside], slices.duration[inside])
    holds = np.zeros(len(slices), bool)
    holds[slices.parent[inside]] = True
    tiled = np.array([kind.tiled for kind in content.kinds], bool)
    gaps = holds & (covered != slices.duration)
    if len(tiled):
        gaps &= tiled[slices.kind]
    if gaps.any():
        at = int(np.argmax(gaps))
        raise TraceError(
            f"track {tracks[int(slices.track[at])]}: "
            f"{_interval(content, slices.name, slices.begin, slices.end, at)} lasts "
            f"{slices.duration[at]} ticks, but what is inside covers {covered[at]}; kind "
            f"{content.kinds[int(slices.kind[at])].name} is declared without gaps"
        )


def _instants(events: _Events, tracks: tuple[Track, ...]) -> Instants:
    form = Form.INSTANT
    track, time = events.track(form), events.time(form, "time")
    _check_counters(tracks, track, counters=False)
    order = np.lexsort((time, track))
    return Instants(
        track=track[order],
        time=time[order],
        name=events.name(form)[order],
        kind=events.kind(form)[order],
        payload=events.payload(form)[order],
    )


def _counters(events: _Events, tracks: tuple[Track, ...]) -> Counters:
    form = Form.COUNTER
    track, time = events.track(form), events.time(form, "time")
    _check_counters(tracks, track, counters=True)
    order = np.lexsort((time, track))
    value = events.column(form, "value").astype(np.float64)
    return Counters(track=track[order], time=time[order], value=value[order])


def _check_counters(tracks: tuple[Track, ...], used: Integers, *, counters: bool) -> None:
    """Raises TraceError if values lie on a track that is no counter, or others on one that is."""
    for number in np.unique(used).tolist():
        if (tracks[number].role is Role.COUNTER) != counters:
            what = "is no counter, but has values" if counters else "is a counter, but has events"
            raise TraceError(f"track {tracks[number]} {what}")


def _flows(content: Content, events: _Events, places: Integers) -> Flows:
    form = Form.FLOW
    starts = np.full(len(content.kinds), -1, np.int64)
    counts = np.zeros(len(content.kinds), np.int64)
    total = 0
    for number in events.kinds(Form.SLICE):
        starts[number], counts[number] = (
            total,
            _length(content.kinds[number], content.columns[number]),
        )
        total += int(counts[number])
    ends = {}
    for end in ("source", "destination"):
        references = events.column(form, end)
        kind, row = references >> REFERENCE_SHIFT, references & ((1 << REFERENCE_SHIFT) - 1)
        right = (kind >= 0) & (kind < len(starts))
        right[right] = row[right] < counts[kind[right]]
        if not right.all():
            wrong = int(references[np.argmin(right)])
            raise TraceError(f"a flow names slice {wrong} as its {end}, and there is no such slice")
        ends[end] = places[starts[kind] + row] if len(references) else references
    return Flows(source=ends["source"], destination=ends["destination"], kind=events.kind(form))
