"""Makes a trace of events that a file holds one by one, with arguments of any shape.

Readers of formats that others write too use it. Events of one category become one kind, its
arguments those that any of them has; a file of our own brings the kinds with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..events.kinds import KINDS
from ..events.nesting import depths, first_crossing, parents
from ..events.schema import ABSENT, Argument, Form, Kind, Type
from .recorder import Recorder

_TAKEN = ("name", "track", "begin", "duration", "time", "cause", "source", "destination", "value")


@dataclass(slots=True)
class Event:
    """One slice or instant of a file; `overlapping` where the format says that it may."""

    form: Form
    track: int
    name: str
    begin: int
    duration: int
    category: str
    arguments: Mapping[str, Any]
    cause: str = ""
    overlapping: bool = False
    reference: int = -1


@dataclass(slots=True, kw_only=True)
class Gatherer:
    """Events of a file on their way into a recorder.

    Attributes:
        recorder: takes tracks and counters at once, the events at the end.
        known: kinds that the file itself declares, by name.
        events: slices and instants; each has a reference after `emit`.
        notes: what the reader had to leave out or to guess.
    """

    recorder: Recorder
    known: Mapping[str, Kind] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def emit(self) -> None:
        """Hand the events to the recorder, kind by kind."""
        crossing = self._crossing_tracks()
        groups: dict[tuple[Form, str, bool], list[Event]] = {}
        for event in self.events:
            apart = event.overlapping or event.track in crossing
            key = (event.form, event.category, apart and event.category not in self.known)
            groups.setdefault(key, []).append(event)
        for (form, category, overlapping), events in groups.items():
            kind = self.known.get(category)
            if kind is None or kind.form is not form:
                kind = _kind(form, category, overlapping, events)
            self._emit(kind, events)

    def _crossing_tracks(self) -> set[int]:
        """Tracks whose slices do not nest, although the format says they should."""
        by_track: dict[int, list[tuple[int, int]]] = {}
        for event in self.events:
            known = self.known.get(event.category)
            apart = event.overlapping or (known is not None and known.overlapping)
            if event.form is Form.SLICE and not apart:
                by_track.setdefault(event.track, []).append((event.begin, -event.duration))
        found = set()
        for track, intervals in by_track.items():
            columns = np.array(sorted(intervals), np.int64).T
            begin, end = columns[0], columns[0] - columns[1]
            if first_crossing(begin, end, parents(depths(begin, end))) is not None:
                found.add(track)
        if found:
            self.notes.append(f"{len(found)} tracks have slices that cross; they are put in lanes")
        return found

    def _emit(self, kind: Kind, events: Sequence[Event]) -> None:
        given: dict[str, Any] = {
            argument.name: [_value(argument, event.arguments) for event in events]
            for argument in kind.arguments
        }
        given["track"] = np.array([event.track for event in events], np.int64)
        given["name"] = [event.name for event in events]
        begin = np.array([event.begin for event in events], np.int64)
        if kind.form is Form.INSTANT:
            self.recorder.instants(kind).extend(time=begin, **given)
            return
        given["duration"] = np.array([event.duration for event in events], np.int64)
        given["cause"] = [event.cause for event in events]
        references = self.recorder.slices(kind).extend(begin=begin, **given)
        for event, reference in zip(events, references.tolist(), strict=True):
            event.reference = reference


def flat(arguments: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Arguments without nesting: those of inner objects get the path as their name."""
    found: dict[str, Any] = {}
    for key, value in arguments.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            found |= flat(value, f"{name}.")
        elif isinstance(value, list | tuple):
            found[name] = ", ".join(str(item) for item in value)
        elif value is not None:
            found[name] = value
    return found


def _kind(form: Form, category: str, overlapping: bool, events: Sequence[Event]) -> Kind:
    """The kind of events that nobody has declared."""
    types: dict[str, Type] = {}
    for event in events:
        for name, value in event.arguments.items():
            found, before = _type(value), types.get(name)
            if before is None or before is found:
                types[name] = found
            else:
                types[name] = Type.TEXT if Type.TEXT in (before, found) else Type.REAL
    name = category or "event"
    if form is Form.INSTANT:
        name += " (instant)"
    elif overlapping:
        name += " (overlapping)"
    elif name in KINDS:
        name += " (foreign)"
    return Kind(
        name=name,
        form=form,
        category="foreign",
        text="An event of a recording that Assay did not make.",
        arguments=tuple(
            Argument(f"{name}_" if name in _TAKEN else name, "", type=type)
            for name, type in types.items()
        ),
        overlapping=overlapping,
    )


def _type(value: object) -> Type:
    if isinstance(value, int) and ABSENT < value < -ABSENT:
        return Type.INTEGER
    return Type.REAL if isinstance(value, int | float) else Type.TEXT


def _value(argument: Argument, given: Mapping[str, Any]) -> Any:
    value = given.get(argument.name)
    if value is None and argument.name.endswith("_"):
        value = given.get(argument.name[:-1])
    if argument.type is Type.TEXT:
        return "" if value is None else str(value)
    if argument.type is Type.REAL:
        return float(value) if isinstance(value, int | float) else float("nan")
    if isinstance(value, float) and value.is_integer() and abs(value) < -ABSENT:
        return int(value)
    return int(value) if isinstance(value, int) else ABSENT
