"""The packets of all events of a trace, in Perfetto's encoding and order."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...events.schema import ABSENT, NO_CAUSE, Argument, Type
from ...events.trace import Column, Integers, Slices, Trace
from ..extras import CAUSE
from . import format as form
from .wire import Bytes, Field, Fixed64, Mask, Nested, Unsigned, Varint

_EXACT = float(2**53)


class Packets:
    """Encodes the events of a trace. `first` are the numbers of the tracks' first lanes."""

    def __init__(self, trace: Trace, first: Integers, sequence: int) -> None:
        self._trace = trace
        self._first = first
        self._sequence = sequence
        self._arguments = {name: n + 1 for n, name in enumerate(argument_names(trace))}
        flows, count = trace.flows, len(trace.slices)
        numbers = ((flows.kind << form.FLOW_SHIFT) + np.arange(len(flows)) + 1).astype(np.uint64)
        late = _late(trace)
        self._outgoing = _Flows(flows.source, numbers, count)
        self._incoming = _Flows(flows.destination[~late], numbers[~late], count)
        self._incoming_late = _Flows(flows.destination[late], numbers[late], count)

    def blocks(self, size: int) -> Iterator[bytes]:
        """The encoded packets, some `size` at a time."""
        count = len(self._trace.slices)
        begins, ends = packet_order(self._trace.slices)
        packets = np.empty(2 * count, np.int64)  # slice of each packet; ends as complement
        packets[begins] = np.arange(count)
        packets[ends] = ~np.arange(count)
        for start in range(0, len(packets), size):
            yield self._slices(packets[start : start + size])
        for start in range(0, len(self._trace.instants), size):
            yield self._instants(start, min(start + size, len(self._trace.instants)))
        for start in range(0, len(self._trace.counters), size):
            yield self._counters(start, min(start + size, len(self._trace.counters)))

    def _slices(self, packets: Integers) -> bytes:
        places = np.flatnonzero(packets < 0)
        groups = [(places, self._ends(~packets[places]))]
        begun = np.flatnonzero(packets >= 0)
        kinds = self._trace.slices.kind[packets[begun]]
        for kind in np.unique(kinds).tolist():
            places = begun[kinds == kind]
            groups.append((places, self._begins(packets[places], kind)))
        return _encode(len(packets), groups)

    def _begins(self, slices: Integers, kind: int) -> Nested:
        columns = self._trace.slices
        event: list[Field] = [
            _same(form.CATEGORY, kind + 1, slices),
            *self._annotations(kind, columns.payload[slices]),
        ]
        cause = columns.cause[slices]
        if (cause != NO_CAUSE).any():
            text = cause + len(self._trace.names) + 1
            event.append(self._annotation(CAUSE, form.TEXT, text, cause != NO_CAUSE))
        event += self._named(form.BEGIN, self._track(slices), columns.name[slices])
        event += self._outgoing.fields(form.FLOW, slices)
        event += self._incoming.fields(form.FLOW_END, slices)
        return self._packet(columns.begin[slices], event)

    def _ends(self, slices: Integers) -> Nested:
        columns = self._trace.slices
        event: list[Field] = [
            _same(form.TYPE, form.END, slices),
            Varint(form.TRACK, self._track(slices)),
        ]
        event += self._incoming_late.fields(form.FLOW_END, slices)
        return self._packet(columns.begin[slices] + columns.duration[slices], event)

    def _instants(self, start: int, stop: int) -> bytes:
        columns = self._trace.instants
        kinds = columns.kind[start:stop]
        groups = []
        for kind in np.unique(kinds).tolist():
            places = np.flatnonzero(kinds == kind)
            rows = places + start
            event: list[Field] = [
                _same(form.CATEGORY, kind + 1, rows),
                *self._annotations(kind, columns.payload[rows]),
            ]
            track = self._first[columns.track[rows]]
            event += self._named(form.INSTANT, track, columns.name[rows])
            groups.append((places, self._packet(columns.time[rows], event)))
        return _encode(stop - start, groups)

    def _counters(self, start: int, stop: int) -> bytes:
        columns = self._trace.counters
        value, rows = columns.value[start:stop], np.arange(start, stop)
        whole = (np.abs(value) < _EXACT) & (value == np.trunc(value))
        integers = np.where(whole, value, 0).astype(np.int64)
        event: list[Field] = [
            _same(form.TYPE, form.COUNTER, rows),
            Varint(form.TRACK, self._first[columns.track[rows]]),
            Varint(form.COUNTER_INTEGER, integers, whole),
            Fixed64(form.COUNTER_REAL, value, ~whole),
        ]
        packet = self._packet(columns.time[rows], event)
        return _encode(stop - start, [(np.arange(stop - start), packet)])

    def _track(self, slices: Integers) -> Integers:
        columns = self._trace.slices
        return self._first[columns.track[slices]] + columns.lane[slices]

    def _packet(self, time: Integers, event: list[Field]) -> Nested:
        fields: list[Field] = [
            Varint(form.TIMESTAMP, time),
            _same(form.SEQUENCE_ID, self._sequence, time),
            Nested(form.TRACK_EVENT, event),
            _same(form.SEQUENCE_FLAGS, form.NEEDS_STATE, time),
        ]
        return Nested(form.PACKET, fields)

    def _named(self, type: int, track: Integers, name: Integers) -> list[Field]:
        return [
            _same(form.TYPE, type, track),
            Varint(form.NAME, name + 1),
            Varint(form.TRACK, track),
        ]

    def _annotations(self, kind: int, payload: Integers) -> list[Field]:
        fields: list[Field] = []
        for argument in self._trace.kinds[kind].arguments:
            values = self._trace.arguments[kind][argument.name][payload]
            present = _present(argument, values)
            if present.any():
                fields.append(self._argument(argument, values, present))
        return fields

    def _argument(self, argument: Argument, values: Column, present: Mask) -> Nested:
        if argument.type is Type.TEXT:
            return self._annotation(argument.name, form.TEXT, values + 1, present)
        if argument.type is Type.REAL:
            return self._annotation(argument.name, form.REAL, values, present)
        number = form.POINTER if argument.unit == "address" else form.INTEGER
        return self._annotation(argument.name, number, values, present)

    def _annotation(self, name: str, number: int, values: Column, present: Mask) -> Nested:
        mask = None if present.all() else present
        key = Varint(form.ANNOTATION_NAME, np.full(len(values), self._arguments[name]), mask)
        value: Field
        if number == form.REAL:
            value = Fixed64(number, values.astype(np.float64), mask)
        else:
            value = Varint(number, values.astype(np.int64), mask)
        return Nested(form.ANNOTATION, [key, value], mask)


class _Flows:
    """The flows at one end of each slice."""

    def __init__(self, slices: Integers, numbers: Unsigned, count: int) -> None:
        self._numbers = numbers[np.argsort(slices, kind="stable")]
        self._counts = np.bincount(slices, minlength=count)
        self._starts = np.cumsum(self._counts) - self._counts

    def fields(self, number: int, slices: Integers) -> list[Field]:
        """A field for each flow of the slice that has the most."""
        counts, starts = self._counts[slices], self._starts[slices]
        found: list[Field] = []
        for turn in range(int(counts.max()) if len(counts) else 0):
            present = counts > turn
            numbers = np.zeros(len(slices), np.uint64)
            numbers[present] = self._numbers[starts[present] + turn]
            found.append(Fixed64(number, numbers, present))
        return found


def _late(trace: Trace) -> Mask:
    """Flows whose destination begins before their source, in the order in which Perfetto reads.

    It drops an arrow that it meets first at its end; so these end where their destination ends.
    """
    begin, source, destination = trace.slices.begin, trace.flows.source, trace.flows.destination
    if not len(source):
        return np.zeros(0, np.bool_)
    places, _ = packet_order(trace.slices)
    same = begin[destination] == begin[source]
    late: Mask = np.where(
        same, places[destination] < places[source], begin[destination] < begin[source]
    )
    return late


def argument_names(trace: Trace) -> list[str]:
    """Names of all arguments, numbered from 1 in the file; the cause is the first."""
    names = {CAUSE: None}
    for kind in trace.kinds:
        names |= {argument.name: None for argument in kind.arguments}
    return list(names)


def packet_order(slices: Slices) -> tuple[Integers, Integers]:
    """Where the begin and the end of each slice stand among all begins and ends.

    Lane by lane, each end right behind what is inside: with ends before begins at one time.
    """
    count = len(slices)
    sizes = np.ones(count, np.int64)
    for level in range(int(slices.depth.max()) if count else 0, 0, -1):
        inner = np.flatnonzero(slices.depth == level)
        sizes += np.bincount(slices.parent[inner], sizes[inner], count).astype(np.int64)
    begins = 2 * np.arange(count) - slices.depth
    return begins, begins + 2 * sizes - 1


def _present(argument: Argument, values: Column) -> Mask:
    if argument.type is Type.REAL:
        return ~np.isnan(values)
    return values >= 0 if argument.type is Type.TEXT else values != ABSENT


def _same(number: int, value: int, like: Integers) -> Varint:
    return Varint(number, np.full(len(like), value))


def _encode(count: int, groups: list[tuple[Integers, Nested]]) -> bytes:
    """The messages of all groups; each group with the places of its messages among `count`."""
    lengths = np.zeros(count, np.int64)
    for places, message in groups:
        lengths[places] = message.lengths()
    ends = np.cumsum(lengths)
    out: Bytes = np.empty(int(ends[-1]) if count else 0, np.uint8)
    starts = ends - lengths
    for places, message in groups:
        message.write(out, starts[places])
    return out.tobytes()
