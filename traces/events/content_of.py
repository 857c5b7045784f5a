"""Takes a finished trace apart again: the inverse of `build`, for writers of whole contents."""

from __future__ import annotations

import numpy as np

from .content import REFERENCE_SHIFT, Content, TrackDefinition
from .schema import Form, Kind
from .trace import Column, Trace


def content_of(trace: Trace) -> Content:
    """A content that `build` makes the same trace of."""
    return Content(
        clock=trace.clock,
        title=trace.title,
        tracks=track_definitions(trace),
        kinds=list(trace.kinds),
        causes=list(trace.causes),
        names=list(trace.names),
        columns=[_columns(trace, number, kind) for number, kind in enumerate(trace.kinds)],
        complete=trace.complete,
        notes=list(trace.notes),
    )


def track_definitions(trace: Trace) -> list[TrackDefinition]:
    """The tracks as they would be declared, in the order of display."""
    return [
        TrackDefinition(
            name=track.name,
            parent=track.parent,
            role=track.role,
            unit=track.unit,
            capacity=track.capacity,
        )
        for track in trace.tracks
    ]


def _columns(trace: Trace, number: int, kind: Kind) -> dict[str, Column]:
    slices, instants, counters = trace.slices, trace.instants, trace.counters
    if kind.form is Form.COUNTER:
        # Counters do not say of which kind they are: all are given to the first.
        first = next(n for n, other in enumerate(trace.kinds) if other.form is Form.COUNTER)
        rows = slice(None) if number == first else slice(0)
        return {
            "track": counters.track[rows],
            "time": counters.time[rows],
            "value": counters.value[rows],
        }
    if kind.form is Form.FLOW:
        flows = np.flatnonzero(trace.flows.kind == number)
        references = (slices.kind << REFERENCE_SHIFT) + slices.payload
        return {
            "source": references[trace.flows.source[flows]],
            "destination": references[trace.flows.destination[flows]],
        }
    table = slices if kind.form is Form.SLICE else instants
    columns = {"track": table.track, "name": table.name}
    if kind.form is Form.SLICE:
        columns |= {"begin": slices.begin, "duration": slices.duration, "cause": slices.cause}
    else:
        columns["time"] = instants.time
    mine = np.flatnonzero(table.kind == number)
    found: dict[str, Column] = {}
    for name, column in columns.items():
        # In the order in which they were recorded, as arguments are.
        restored = np.empty(len(mine), np.int64)
        restored[table.payload[mine]] = column[mine]
        found[name] = restored
    return found | trace.arguments[number]
