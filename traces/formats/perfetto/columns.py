"""Reads our own Perfetto files, all events at once.

`perfetto_read` reads any file, packet by packet, and is what this is tested against. Whatever is
not as our writer writes it is left to that one, which says what is wrong.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as protocol

from ...events.content import Content
from ...events.errors import TraceError
from ...events.schema import ABSENT, NO_CAUSE, Argument, Form, Kind, Type
from ...events.trace import Column, Integers
from ...record.recorder import Recorder
from ..extras import CAUSE, Facts, facts_of
from . import format as form
from .wire import Bytes
from .wire_read import UnexpectedWire, fields_of, padded

_VALUES = {
    Type.INTEGER: (form.INTEGER, form.POINTER),
    Type.REAL: (form.REAL,),
    Type.TEXT: (form.TEXT,),
}


_EVENT_FIELDS = (
    form.CATEGORY,
    form.ANNOTATION,
    form.TYPE,
    form.NAME,
    form.TRACK,
    form.COUNTER_INTEGER,
    form.COUNTER_REAL,
    form.FLOW,
    form.FLOW_END,
)
_KEY = form.PACKET << 3 | 2
_CAUSE = Argument(CAUSE, "", type=Type.TEXT)


@dataclass(slots=True, kw_only=True)
class _Head:
    """What stands before the events: facts, words by their numbers, and where the events begin."""

    facts: Facts | None = None
    names: dict[int, str] = field(default_factory=dict)
    categories: dict[int, str] = field(default_factory=dict)
    arguments: dict[int, str] = field(default_factory=dict)
    texts: dict[int, str] = field(default_factory=dict)
    end: int = 0


def read_own(data: bytes) -> Content | None:
    """The content of a file of ours; None if it is not ours, or not as our writer writes it."""
    try:
        head = _head(data)
        if head.facts is None:
            return None
        return _Reader(head, head.facts, padded(data), *_packets(data, head.end)).content()
    except (UnexpectedWire, TraceError, DecodeError, LookupError, ValueError):
        return None


def _length(data: bytes, at: int) -> tuple[int, int]:
    """The length of the packet at a position, and where its bytes begin."""
    if data[at] != _KEY:
        raise UnexpectedWire
    length, at, shift = data[at + 1] & 0x7F, at + 2, 7
    while data[at - 1] >= 0x80:
        length |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
    return length, at


def _head(data: bytes) -> _Head:
    head = _Head()
    while head.end < len(data):
        length, start = _length(data, head.end)
        if data[start] == form.EVENT_START:
            break
        packet = protocol.TracePacket.FromString(data[start : start + length])
        _take_head(head, packet)
        head.end = start + length
    return head


def _take_head(head: _Head, packet: protocol.TracePacket) -> None:
    description = packet.track_descriptor.description
    if not isinstance(description, str):  # it comes as bytes when it is not UTF-8
        raise UnexpectedWire
    if head.facts is None and description.startswith(form.DESCRIPTION):
        head.facts = facts_of(json.loads(description[len(form.DESCRIPTION) :]))
    words = packet.interned_data
    head.names.update((item.iid, item.name) for item in words.event_names)
    head.categories.update((item.iid, item.name) for item in words.event_categories)
    head.arguments.update((item.iid, item.name) for item in words.debug_annotation_names)
    texts = words.debug_annotation_string_values
    head.texts.update((item.iid, item.str.decode()) for item in texts)


def _packets(data: bytes, at: int) -> tuple[Integers, Integers]:
    """Where the packets of events begin and end, from a position to the end of the file."""
    starts, ends = [], []
    size = len(data)
    while at < size:
        if data[at] == _KEY and data[at + 1] < 0x80:  # nearly all are that short
            start = at + 2
            at = start + data[at + 1]
        else:
            length, start = _length(data, at)
            at = start + length
        starts.append(start)
        ends.append(at)
    if at > size:
        raise UnexpectedWire
    return np.array(starts, np.int64), np.array(ends, np.int64)


class _Reader:
    """The events of a file as columns, one entry per packet, in the order of the file."""

    def __init__(
        self, head: _Head, facts: Facts, data: Bytes, starts: Integers, ends: Integers
    ) -> None:
        self._head, self._facts = head, facts
        self._recorder = Recorder(facts.clock, title=facts.title, causes=facts.causes)
        packets = fields_of(data, starts, ends)
        count = len(starts)
        events = packets.of(form.TRACK_EVENT)
        if (
            len(packets.message) != 4 * count
            or not np.array_equal(events.message, np.arange(count))
            or (packets.column(form.SEQUENCE_FLAGS, count, 0) != form.NEEDS_STATE).any()
            or (packets.column(form.SEQUENCE_ID, count, 0) != form.SEQUENCE).any()
        ):
            raise UnexpectedWire
        self._time = packets.column(form.TIMESTAMP, count, -1)
        self._fields = fields_of(data, events.start, events.start + events.value)
        if (self._time < 0).any() or not np.isin(self._fields.number, _EVENT_FIELDS).all():
            raise UnexpectedWire
        self._type = self._fields.column(form.TYPE, count, 0)
        self._track = self._tracks(self._fields.column(form.TRACK, count, 0))
        self._category = self._fields.column(form.CATEGORY, count, 0)
        annotations = self._fields.of(form.ANNOTATION)
        self._annotated = annotations.message
        inner = fields_of(data, annotations.start, annotations.start + annotations.value)
        if (np.bincount(inner.message, minlength=len(annotations.message)) != 2).any():
            raise UnexpectedWire
        self._argument = inner.column(form.ANNOTATION_NAME, len(annotations.message), 0)
        self._values = inner
        self._reference = np.full(count, -1, np.int64)

    def content(self) -> Content:
        """Everything, in the recorder's order."""
        begins, ends = self._paired()
        duration = np.full(len(self._time), -1, np.int64)
        duration[begins] = self._time[ends] - self._time[begins]
        kinds = {kind.name: kind for kind in self._facts.kinds}
        names = _numbers(self._recorder, self._head.names)
        for type, shape in ((form.BEGIN, Form.SLICE), (form.INSTANT, Form.INSTANT)):
            of_type = self._type == type
            for category in _in_order(self._category[of_type]):
                kind = kinds[self._head.categories[category]]
                if kind.form is not shape:
                    raise UnexpectedWire
                rows = np.flatnonzero(of_type & (self._category == category))
                self._emit(kind, rows, names, duration)
        self._emit_counters()
        self._reference[ends] = self._reference[begins]
        self._emit_flows()
        content = self._recorder.content()
        content.complete = self._facts.complete
        return content

    def _tracks(self, numbers: Integers) -> Integers:
        """Our tracks for those of the file."""
        lanes = np.array(self._facts.lanes, np.int64)
        made = [self._recorder.define(track) for track in self._facts.tracks]
        of_lanes = np.repeat(np.array(made, np.int64), lanes)
        self._lane = numbers
        places = numbers - form.ROOT - 1
        if len(places) and (places.min() < 0 or places.max() >= len(of_lanes)):
            raise UnexpectedWire
        found: Integers = of_lanes[places]
        return found

    def _paired(self) -> tuple[Integers, Integers]:
        """The begin and the end of each slice; on each lane they must match like brackets."""
        rows = np.flatnonzero((self._type == form.BEGIN) | (self._type == form.END))
        rows = rows[np.argsort(self._lane[rows], kind="stable")]
        begins = self._type[rows] == form.BEGIN
        level = np.cumsum(np.where(begins, 1, -1)) + ~begins
        together = np.lexsort((level, self._lane[rows]))
        pairs = rows[together].reshape(-1, 2)
        first, last = pairs[:, 0], pairs[:, 1]
        if not (
            (self._type[first] == form.BEGIN).all()
            and (self._type[last] == form.END).all()
            and (self._lane[first] == self._lane[last]).all()
        ):
            raise UnexpectedWire
        return first, last

    def _emit(self, kind: Kind, rows: Integers, names: Integers, duration: Integers) -> None:
        name = self._fields.column(form.NAME, len(self._time), 0)[rows]
        given: dict[str, Any] = {"track": self._track[rows], "name": names[name]}
        if (given["name"] < 0).any():
            raise UnexpectedWire
        places = np.full(len(self._time), -1, np.int64)
        places[rows] = np.arange(len(rows))
        mine = np.flatnonzero(places[self._annotated] >= 0)
        for argument in kind.arguments:
            given[argument.name] = self._column(argument, mine, places, len(rows))
        if kind.form is Form.INSTANT:
            self._recorder.instants(kind).extend(time=self._time[rows], **given)
            return
        texts = self._column(_CAUSE, mine, places, len(rows))
        given["cause"] = self._causes(texts.astype(np.int64, copy=False))
        given["duration"] = duration[rows]
        emit = self._recorder.slices(kind)
        self._reference[rows] = emit.extend(begin=self._time[rows], **given)

    def _column(self, argument: Argument, mine: Integers, places: Integers, count: int) -> Column:
        """An argument of the events that have a place; `mine` are the annotations of those."""
        number = next((n for n, name in self._head.arguments.items() if name == argument.name), -1)
        chosen = np.zeros(len(self._argument), bool)
        chosen[mine] = self._argument[mine] == number
        values = self._values
        rows = np.flatnonzero(
            np.isin(values.number, _VALUES[argument.type]) & chosen[values.message]
        )
        at = places[self._annotated[values.message[rows]]]
        if argument.type is Type.REAL:
            reals = np.full(count, np.nan)
            reals[at] = values.value[rows].view(np.float64)
            return reals
        column = np.full(count, -1 if argument.type is Type.TEXT else ABSENT, np.int64)
        column[at] = values.value[rows]
        if argument.type is Type.TEXT and argument.name != CAUSE:
            texts = _numbers(self._recorder, self._head.texts)
            column[at] = texts[column[at]]
        return column

    def _causes(self, texts: Integers) -> Integers:
        """Numbers of causes for numbers of texts."""
        causes = texts.copy()
        for text in _in_order(texts):
            number = NO_CAUSE if text < 0 else self._recorder.cause(self._head.texts[text])
            causes[texts == text] = number
        return causes

    def _emit_counters(self) -> None:
        counters = self._type == form.COUNTER
        count = len(self._time)
        value = self._fields.column(form.COUNTER_INTEGER, count, 0).astype(np.float64)
        reals = self._fields.of(form.COUNTER_REAL)
        value[reals.message] = reals.value.view(np.float64)
        rows = np.flatnonzero(counters)
        if len(rows):
            self._recorder.counters().extend(
                track=self._track[rows], time=self._time[rows], value=value[rows]
            )

    def _emit_flows(self) -> None:
        sources, ends = self._fields.of(form.FLOW), self._fields.of(form.FLOW_END)
        if not len(ends.message):
            return
        order = np.argsort(sources.value, kind="stable")
        numbers = sources.value[order]
        if (numbers[1:] == numbers[:-1]).any():
            raise UnexpectedWire
        by_row = np.argsort(ends.value & form.FLOW_ROW, kind="stable")
        number, end = ends.value[by_row], self._reference[ends.message[by_row]]
        place = np.minimum(np.searchsorted(numbers, number), max(len(numbers) - 1, 0))
        if not len(numbers) or (numbers[place] != number).any():
            raise UnexpectedWire
        source = self._reference[sources.message[order][place]]
        kinds = number >> form.FLOW_SHIFT
        for kind in _in_order(kinds):
            mine = kinds == kind
            emit = self._recorder.flows(self._facts.kinds[kind])
            emit.extend(source=source[mine], destination=end[mine])


def _in_order(values: Integers) -> list[int]:
    """The distinct values in the order in which they come."""
    distinct, first = np.unique(values, return_index=True)
    found: list[int] = distinct[np.argsort(first)].tolist()
    return found


def _numbers(recorder: Recorder, words: dict[int, str]) -> Integers:
    """The recorder's numbers of words by the numbers of the file; -1 where there is none."""
    found = np.full(max(words, default=0) + 1, -1, np.int64)
    for number, word in words.items():
        found[number] = recorder.name(word)
    return found
