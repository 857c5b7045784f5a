"""Lays traces side by side on one axis of time: a prediction above a recording, run above run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from ..events.build import build
from ..events.clock import Clock
from ..events.content import REFERENCE_SHIFT, Content, TrackDefinition
from ..events.content_of import content_of
from ..events.schema import Form, Kind, Role, Type
from ..events.trace import Column, Integers, Trace
from .recorder import Recorder

_ROW = (1 << REFERENCE_SHIFT) - 1
_HALF = 20
"""Bits that are multiplied at a time, so that products of times stay within 64 bits."""


def merged(traces: Sequence[Trace], names: Sequence[str]) -> Trace:
    """One trace in which each of `traces` has a root track, called as `names` says.

    Each begins at zero. On the same clock ticks stay as they are; else the result is in picoseconds
    and each begin and end is rounded once.
    """
    clock = _common_clock([trace.clock for trace in traces])
    causes = {cause.name: cause for trace in traces for cause in trace.causes}
    titles = [trace.title or name for trace, name in zip(traces, names, strict=True)]
    recorder = Recorder(clock, title=_joined(titles), causes=causes.values())
    taken: dict[str, Kind] = {}
    notes = []
    for trace, name in zip(traces, names, strict=True):
        _Copy(recorder, trace, name, taken).all()
        notes += [f"{name}: {note}" for note in trace.notes]
    content = recorder.content()
    content.notes = notes
    content.complete = all(trace.complete for trace in traces)
    return build(content)


def _joined(titles: Sequence[str]) -> str:
    """The titles one after the other; words that all end with stand once, at the end."""
    words = [title.split(" ") for title in titles]
    last = 0
    while last < min(map(len, words)) - 1 and len({each[-1 - last] for each in words}) == 1:
        last += 1
    ends = words[0][len(words[0]) - last :] if len(titles) > 1 else []
    heads = [" ".join(each[: len(each) - len(ends)]) for each in words]
    return " ".join([" | ".join(heads), *ends])


def rescaled(ticks: Integers, source: Clock, target: Clock) -> Integers:
    """Times on another clock, each rounded to the nearest tick."""
    ratio = Fraction(target.hz, source.hz)
    if ratio == 1:
        return ticks
    whole, rest = np.divmod(ticks, ratio.denominator)
    high, low = divmod(ratio.numerator, 1 << _HALF)
    quotient, left = np.divmod(rest * high, ratio.denominator)
    below = (left << _HALF) + rest * low + ratio.denominator // 2
    found: Integers = whole * ratio.numerator + (quotient << _HALF) + below // ratio.denominator
    return found


def _common_clock(clocks: Sequence[Clock]) -> Clock:
    first = clocks[0]
    if all((clock.unit, clock.hz) == (first.unit, first.hz) for clock in clocks):
        return first
    return Clock.picoseconds()


class _Copy:
    """Takes one trace over into a recorder."""

    def __init__(self, recorder: Recorder, trace: Trace, name: str, taken: dict[str, Kind]) -> None:
        self._recorder, self._name, self._taken = recorder, name, taken
        self._content: Content = content_of(trace)
        self._start, self._clock = trace.span[0], trace.clock
        self._texts = np.array([recorder.name(text) for text in trace.names] + [-1], np.int64)
        numbers = [recorder.cause(cause.name) for cause in trace.causes]
        self._causes = np.array([*numbers, -1], np.int64)
        self._tracks = self._define()
        self._references: dict[int, Integers] = {}

    def all(self) -> None:
        """Everything; flows last, as they name slices."""
        order = sorted(enumerate(self._content.kinds), key=lambda item: item[1].form is Form.FLOW)
        for number, kind in order:
            self._events(number, kind, self._content.columns[number])

    def _define(self) -> Integers:
        root = self._recorder.define(TrackDefinition(name=self._name, parent=-1, role=Role.RUN))
        made: list[int] = []
        for track in self._content.tracks:
            parent = root if track.parent < 0 else made[track.parent]
            made.append(self._recorder.define(replace(track, parent=parent)))
        return np.array(made, np.int64)

    def _kind(self, kind: Kind) -> Kind:
        """The kind; under another name if a trace before has a different one of its name."""
        name = kind.name
        while self._taken.setdefault(name, replace(kind, name=name)) != replace(kind, name=name):
            name += " (other)"
        return self._taken[name]

    def _time(self, ticks: Column) -> Integers:
        times = ticks.astype(np.int64, copy=False) - self._start
        return rescaled(times, self._clock, self._recorder.clock)

    def _events(self, number: int, kind: Kind, columns: dict[str, Column]) -> None:
        kind = self._kind(kind)
        given: dict[str, Any] = {
            argument.name: self._texts[columns[argument.name].astype(np.int64)]
            if argument.type is Type.TEXT
            else columns[argument.name]
            for argument in kind.arguments
        }
        if kind.form is Form.FLOW:
            source, destination = (self._moved(columns[end]) for end in ("source", "destination"))
            self._recorder.flows(kind).extend(source=source, destination=destination)
            return
        given["track"] = self._tracks[columns["track"].astype(np.int64)]
        if kind.form is Form.COUNTER:
            time = self._time(columns["time"])
            self._recorder.counters().extend(time=time, value=columns["value"], **given)
            return
        given["name"] = self._texts[columns["name"].astype(np.int64)]
        if kind.form is Form.INSTANT:
            self._recorder.instants(kind).extend(time=self._time(columns["time"]), **given)
            return
        begin = self._time(columns["begin"])
        given["duration"] = self._time(columns["begin"] + columns["duration"]) - begin
        given["cause"] = self._causes[columns["cause"].astype(np.int64)]
        self._references[number] = self._recorder.slices(kind).extend(begin=begin, **given)

    def _moved(self, references: Column) -> Integers:
        """References to slices in the new trace for those in the old one."""
        numbers = references.astype(np.int64, copy=False)
        kinds, found = numbers >> REFERENCE_SHIFT, numbers.copy()
        for kind, made in self._references.items():
            mine = kinds == kind
            found[mine] = made[numbers[mine] & _ROW]
        return found
