"""What a trace says on one page, for people and as JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from typing import Any

from .errors import TraceError
from .path import critical_path
from .statistics import (
    CounterUse,
    MemoryUse,
    NameUse,
    TrackUse,
    counter_uses,
    memory_uses,
    name_uses,
    track_uses,
)
from .trace import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class PathUse:
    """All links of the critical path with one track and name; times in ticks."""

    track: str
    name: str
    links: int
    ticks: int
    wait: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A trace, or a range of it, in figures; times in ticks.

    `slices`, `instants`, `values` and `flows` count the whole trace, all else [begin, end).
    """

    title: str
    clock: str
    hz: int
    unit: str
    complete: bool
    notes: tuple[str, ...]
    slices: int
    instants: int
    values: int
    flows: int
    begin: int
    end: int
    tracks: list[TrackUse]
    names: list[NameUse]
    memories: list[MemoryUse]
    counters: list[CounterUse]
    path: list[PathUse]

    def json(self) -> dict[str, Any]:
        """Everything, as JSON takes it."""
        return asdict(self)


def summarise(
    trace: Trace,
    *,
    begin: int | None = None,
    end: int | None = None,
    track: str | None = None,
) -> Summary:
    """The figures of a trace between two ticks, and of the tracks that match a pattern.

    Raises TraceError if the range is empty the wrong way round, or no track matches.
    """
    first, last = trace.span
    begin, end = first if begin is None else begin, last if end is None else end
    if end < begin:
        raise TraceError(f"the range ends at {end}, before it begins at {begin}")
    chosen = matching_tracks(trace, track)
    return Summary(
        title=trace.title,
        clock=str(trace.clock),
        hz=trace.clock.hz,
        unit=trace.clock.unit,
        complete=trace.complete,
        notes=trace.notes,
        slices=len(trace.slices),
        instants=len(trace.instants),
        values=len(trace.counters),
        flows=len(trace.flows),
        begin=begin,
        end=end,
        tracks=track_uses(trace, begin, end, chosen),
        names=name_uses(trace, begin, end, chosen),
        memories=memory_uses(trace, begin, end, chosen),
        counters=counter_uses(trace, begin, end, chosen),
        path=_path_uses(trace, begin, end) if track is None else [],
    )


def matching_tracks(trace: Trace, pattern: str | None) -> list[int]:
    """Tracks whose path is the pattern, begins with it, or matches it with `*` and `?`.

    Raises TraceError that names some tracks if there is none.
    """
    everything = list(range(len(trace.tracks)))
    if pattern is None:
        return everything
    found = [number for number in everything if _matches(str(trace.tracks[number]), pattern)]
    if not found:
        some = ", ".join(str(track) for track in trace.tracks[:6])
        more = "" if len(trace.tracks) <= 6 else f" and {len(trace.tracks) - 6} more"
        raise TraceError(f"no track matches {pattern!r}; there are {some or 'none'}{more}")
    return found


def _matches(path: str, pattern: str) -> bool:
    # Brackets are part of names here, and no sets of characters.
    escaped = pattern.replace("[", "[[]")
    return path == pattern or path.startswith(f"{pattern}.") or fnmatchcase(path, escaped)


def _path_uses(trace: Trace, begin: int, end: int) -> list[PathUse]:
    slices = trace.slices
    sums: dict[tuple[str, str], list[int]] = {}
    for link in critical_path(trace, begin, end):
        track = str(trace.tracks[int(slices.track[link.slice])])
        name = trace.names[int(slices.name[link.slice])]
        entry = sums.setdefault((track, name), [0, 0, 0])
        entry[0] += 1
        entry[1] += link.ticks
        entry[2] += link.wait
    found = [
        PathUse(track=track, name=name, links=links, ticks=ticks, wait=wait)
        for (track, name), (links, ticks, wait) in sums.items()
    ]
    return sorted(found, key=lambda use: -(use.ticks + use.wait))
