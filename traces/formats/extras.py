"""What our files in other people's formats say beside the events, so that they read back whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..events.clock import Clock
from ..events.content import TrackDefinition
from ..events.content_of import track_definitions
from ..events.errors import TraceError
from ..events.schema import Cause, Kind
from ..events.trace import Integers, Trace
from ..record.container import (
    cause_of,
    clock_of,
    head_json,
    kind_json,
    kind_of,
    track_json,
    track_of,
)

VERSION = 1
CAUSE = "cause"
"""The argument that states the cause of a slice."""
_MOST_LANES = 1 << 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Title, clock, and definitions of a trace; `lanes[t]` is how many lanes track t has."""

    title: str
    clock: Clock
    causes: tuple[Cause, ...]
    kinds: tuple[Kind, ...]
    tracks: tuple[TrackDefinition, ...]
    lanes: tuple[int, ...]
    complete: bool


def lanes_of(trace: Trace) -> Integers:
    """How many lanes each track has, at least one."""
    lanes = np.ones(len(trace.tracks), np.int64)
    np.maximum.at(lanes, trace.slices.track, trace.slices.lane + 1)
    return lanes


def facts_json(trace: Trace) -> dict[str, Any]:
    """The facts about a trace."""
    return {
        "version": VERSION,
        **head_json(trace.title, trace.clock, list(trace.causes)),
        "kinds": [kind_json(kind) for kind in trace.kinds],
        "tracks": [track_json(track) for track in track_definitions(trace)],
        "lanes": lanes_of(trace).tolist(),
        "complete": trace.complete,
    }


def facts_of(value: Any) -> Facts:
    """The facts that a file states. Raises TraceError if they are malformed."""
    try:
        if value["version"] != VERSION:
            raise TraceError(f"version {value['version']} of the facts; this Assay reads {VERSION}")
        facts = Facts(
            title=str(value["title"]),
            clock=clock_of(value["clock"]),
            causes=tuple(cause_of(item) for item in value["causes"]),
            kinds=tuple(kind_of(item) for item in value["kinds"]),
            tracks=tuple(track_of(item) for item in value["tracks"]),
            lanes=tuple(int(item) for item in value["lanes"]),
            complete=bool(value["complete"]),
        )
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        if isinstance(error, TraceError):
            raise
        what = f"no {error} in it" if isinstance(error, KeyError) else str(error)
        raise TraceError(f"what the trace says of itself is malformed: {what}") from None
    if len(facts.lanes) != len(facts.tracks):
        raise TraceError(f"lanes of {len(facts.lanes)} tracks, but there are {len(facts.tracks)}")
    if any(lanes < 1 for lanes in facts.lanes) or sum(facts.lanes) > _MOST_LANES:
        raise TraceError(f"lanes of tracks are {facts.lanes[:9]}...; each track has one or more")
    return facts
