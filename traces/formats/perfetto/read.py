"""Reads native Perfetto traces: ours whole, and the track events of anybody's.

Whatever else a recording holds (scheduling, memory, logs) is counted and left out. Files that were
cut off are read up to the last whole packet.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from google.protobuf.message import DecodeError
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as protocol

from ...events.clock import Clock
from ...events.content import Content
from ...events.errors import TraceError, TraceFileError
from ...events.kinds import DATA
from ...events.schema import Form, Kind, Role
from ...record.gather import Event, Gatherer, flat
from ...record.recorder import Recorder
from ..extras import CAUSE, Facts, facts_of
from .columns import read_own
from .format import DESCRIPTION, FLOW_ROW, FLOW_SHIFT, ROOT

_CLEARED = protocol.TracePacket.SEQ_INCREMENTAL_STATE_CLEARED
_EVENT = protocol.TrackEvent
_KEY = b"\x0a"  # field 1 of Trace, a length and that many bytes


@dataclass(slots=True)
class _Sequence:
    """What packets of one sequence refer to."""

    names: dict[int, str] = field(default_factory=dict)
    categories: dict[int, str] = field(default_factory=dict)
    arguments: dict[int, str] = field(default_factory=dict)
    texts: dict[int, str] = field(default_factory=dict)
    track: int = 0


class _CutOff(TraceFileError):
    """The file ends inside of a packet."""


def is_perfetto(data: bytes) -> bool:
    """Whether a file begins like a Perfetto trace."""
    return data[:1] == _KEY


def read_perfetto(data: bytes, file: str) -> Content:
    """The content of a file called `file` in messages. Raises TraceFileError."""
    return read_own(data) or read_packets(data, file)


def read_packets(data: bytes, file: str) -> Content:
    """The same, packet by packet. Raises TraceFileError."""
    reader = _Reader(file)
    try:
        for offset, packet in _packets(data, file):
            reader.take(offset, packet)
    except _CutOff as error:
        if reader.is_empty:
            raise
        return reader.content(f"cut off: {error.reason}; read up to the last whole packet")
    return reader.content()


def _packets(data: bytes, file: str) -> Iterator[tuple[int, protocol.TracePacket]]:
    offset = 0
    view = memoryview(data)
    while offset < len(data):
        if view[offset : offset + 1] != _KEY:
            raise TraceFileError(
                file, offset, f"expected a packet (0x0a), found 0x{data[offset]:02x}"
            )
        length, start = _length(data, offset + 1, file)
        if start + length > len(data):
            have = len(data) - start
            raise _CutOff(file, offset, f"a packet of {length} bytes, but only {have} follow")
        try:
            packet = protocol.TracePacket.FromString(bytes(view[start : start + length]))
        except DecodeError as error:
            raise TraceFileError(file, offset, f"a malformed packet: {error}") from None
        yield offset, packet
        offset = start + length


def _length(data: bytes, offset: int, file: str) -> tuple[int, int]:
    """A variable-length integer, and where the bytes behind it begin."""
    value = 0
    for position, byte in enumerate(data[offset : offset + 10]):
        value |= (byte & 0x7F) << (7 * position)
        if byte < 0x80:
            return value, offset + position + 1
    if offset + 10 > len(data):
        raise _CutOff(file, offset, "expected the length of a packet")
    raise TraceFileError(file, offset, "expected the length of a packet, found none")


class _Reader:
    def __init__(self, file: str) -> None:
        self._file = file
        self._facts: Facts | None = None
        self._gatherer: Gatherer | None = None
        self._sequences: dict[int, _Sequence] = {}
        self._descriptors: dict[int, protocol.TrackDescriptor] = {}
        self._tracks: dict[int, int] = {}
        self._open: dict[int, list[Event]] = {}
        self._flows: list[tuple[int, bool, Event]] = []
        self._skipped: Counter[str] = Counter()
        self._last = 0

    def take(self, offset: int, packet: protocol.TracePacket) -> None:
        """Read one packet."""
        sequence = self._sequence(packet)
        what = packet.WhichOneof("data")
        if what == "track_descriptor":
            self._describe(offset, packet.track_descriptor)
        elif what == "track_event":
            self._event(offset, packet, sequence)
        elif what is not None:
            self._skipped[what] += 1

    @property
    def is_empty(self) -> bool:
        """Whether no event and no track of ours was found so far."""
        return self._gatherer is None

    def content(self, cut: str = "") -> Content:
        """What was read, of a file that was cut off as `cut` says.

        Raises TraceFileError if there was nothing.
        """
        if self._gatherer is None:
            raise TraceFileError(self._file, None, "holds no track event and no track")
        notes = self._gatherer.notes
        if cut:
            notes.append(cut)
        unfinished = [event for stack in self._open.values() for event in stack]
        for event in unfinished:
            event.duration = self._last - event.begin
        if unfinished:
            notes.append(f"{len(unfinished)} slices have no end; they are drawn to the last event")
        if self._skipped:
            total = sum(self._skipped.values())
            names = ", ".join(name for name, _ in self._skipped.most_common(3))
            notes.append(f"{total:,} packets are not track events and were left out ({names})")
        self._gatherer.emit()
        self._emit_flows()
        content = self._gatherer.recorder.content()
        content.notes = notes
        content.complete = not cut and (self._facts is None or self._facts.complete)
        return content

    def _sequence(self, packet: protocol.TracePacket) -> _Sequence:
        number = packet.trusted_packet_sequence_id
        if packet.sequence_flags & _CLEARED or packet.incremental_state_cleared:
            self._sequences[number] = _Sequence()
        sequence = self._sequences.setdefault(number, _Sequence())
        if packet.HasField("trace_packet_defaults"):
            sequence.track = packet.trace_packet_defaults.track_event_defaults.track_uuid
        if packet.HasField("interned_data"):
            data = packet.interned_data
            for known, items in (
                (sequence.names, data.event_names),
                (sequence.categories, data.event_categories),
                (sequence.arguments, data.debug_annotation_names),
            ):
                known.update((item.iid, _text(item.name)) for item in items)
            values = data.debug_annotation_string_values
            sequence.texts.update((item.iid, _text(item.str)) for item in values)
        return sequence

    def _describe(self, offset: int, descriptor: protocol.TrackDescriptor) -> None:
        self._descriptors[descriptor.uuid] = descriptor
        description = _text(descriptor.description)
        if description.startswith(DESCRIPTION) and self._facts is None:
            try:
                self._facts = facts_of(json.loads(description[len(DESCRIPTION) :]))
                self._start(self._facts)
            except (TraceError, ValueError) as error:
                raise TraceFileError(self._file, offset, str(error)) from None

    def _start(self, facts: Facts | None) -> Gatherer:
        if facts is None:
            self._gatherer = Gatherer(recorder=Recorder(Clock.nanoseconds()))
            return self._gatherer
        recorder = Recorder(facts.clock, title=facts.title, causes=facts.causes)
        known = {kind.name: kind for kind in facts.kinds}
        self._gatherer = Gatherer(recorder=recorder, known=known)
        number = ROOT + 1
        for track, lanes in zip(facts.tracks, facts.lanes, strict=True):
            made = recorder.define(track)
            for _ in range(lanes):
                self._tracks[number] = made
                number += 1
        return self._gatherer

    def _gatherer_of(self) -> Gatherer:
        return self._start(None) if self._gatherer is None else self._gatherer

    def _recorder_of(self) -> Recorder:
        return self._gatherer_of().recorder

    def _track(self, uuid: int, role: Role) -> int:
        """Our track for one of Perfetto's, made with its parents when first seen."""
        found = self._tracks.get(uuid)
        if found is not None:
            return found
        self._recorder_of()
        chain: list[int] = []
        while uuid not in self._tracks and uuid not in chain:
            chain.append(uuid)
            descriptor = self._descriptors.get(uuid)
            uuid = 0 if descriptor is None else descriptor.parent_uuid
            if uuid == 0:
                break
        parent = self._tracks.get(uuid, -1)
        for position, number in reversed(list(enumerate(chain))):
            descriptor = self._descriptors.get(number, protocol.TrackDescriptor())
            parent = self._recorder_of().new_track(
                _track_name(descriptor, number),
                parent,
                role if position == 0 else Role.GROUP,
                unit=_unit(descriptor) if role is Role.COUNTER and position == 0 else "",
                order=descriptor.sibling_order_rank,
            )
            self._tracks[number] = parent
        return parent

    def _event(self, offset: int, packet: protocol.TracePacket, sequence: _Sequence) -> None:
        event = packet.track_event
        uuid = event.track_uuid if event.HasField("track_uuid") else sequence.track
        time = packet.timestamp
        if time >= 1 << 62:
            raise TraceFileError(self._file, offset, f"time {time} is out of range")
        self._last = max(self._last, time)
        if event.type == _EVENT.TYPE_COUNTER:
            self._counter(event, uuid, time)
            return
        track = self._track(uuid, Role.FOREIGN)
        stack = self._open.setdefault(uuid, [])
        if event.type == _EVENT.TYPE_SLICE_END:
            if stack:
                begun = stack.pop()
                begun.duration = max(time - begun.begin, 0)
                self._flow(event, begun)
            else:
                self._skipped["end without begin"] += 1
            return
        if event.type not in (_EVENT.TYPE_SLICE_BEGIN, _EVENT.TYPE_INSTANT):
            self._skipped["untyped event"] += 1
            return
        form = Form.SLICE if event.type == _EVENT.TYPE_SLICE_BEGIN else Form.INSTANT
        taken = self._gathered(form, event, track, time, sequence)
        if form is Form.SLICE:
            stack.append(taken)
            self._flow(event, taken)

    def _flow(self, event: protocol.TrackEvent, slice: Event) -> None:
        self._flows += [(number, True, slice) for number in event.flow_ids]
        self._flows += [(number, False, slice) for number in event.terminating_flow_ids]

    def _gathered(
        self,
        form: Form,
        event: protocol.TrackEvent,
        track: int,
        time: int,
        sequence: _Sequence,
    ) -> Event:
        name = _text(event.name) or sequence.names.get(event.name_iid, "")
        categories = [sequence.categories.get(iid, str(iid)) for iid in event.category_iids]
        arguments = {
            _text(annotation.name)
            or sequence.arguments.get(annotation.name_iid, "argument"): _value(annotation, sequence)
            for annotation in event.debug_annotations
        }
        cause = ""
        if self._facts is not None:
            cause = str(arguments.pop(CAUSE, ""))
        taken = Event(
            form=form,
            track=track,
            name=name,
            begin=time,
            duration=0,
            category=", ".join([*categories, *map(_text, event.categories)]),
            arguments=arguments if self._facts is not None else flat(arguments),
            cause=cause,
        )
        self._gatherer_of().events.append(taken)
        return taken

    def _counter(self, event: protocol.TrackEvent, uuid: int, time: int) -> None:
        track = self._track(uuid, Role.COUNTER)
        real = event.HasField("double_counter_value")
        value = event.double_counter_value if real else event.counter_value
        self._recorder_of().counters()(track, time, value)

    def _emit_flows(self) -> None:
        for kind, source, destination in self._paired():
            self._recorder_of().flow(kind, source.reference, destination.reference)

    def _paired(self) -> Iterator[tuple[Kind, Event, Event]]:
        """Flows with their ends: by number in our files, else from each slice to the next."""
        if self._facts is not None:
            kinds = dict(enumerate(self._facts.kinds))
            sources = {number: event for number, begins, event in self._flows if begins}
            ends = [(number, event) for number, begins, event in self._flows if not begins]
            for number, event in sorted(ends, key=lambda end: end[0] & FLOW_ROW):
                kind = kinds.get(number >> FLOW_SHIFT)
                if number in sources and kind is not None and kind.form is Form.FLOW:
                    yield kind, sources[number], event
            return
        passed: dict[int, Event] = {}
        for number, _, event in sorted(self._flows, key=lambda flow: flow[2].begin):
            if number in passed and passed[number] is not event:
                yield DATA, passed[number], event
            passed[number] = event


def _value(annotation: protocol.DebugAnnotation, sequence: _Sequence) -> Any:
    what = annotation.WhichOneof("value")
    if what == "string_value_iid":
        return sequence.texts.get(annotation.string_value_iid, "")
    if what is not None:
        value = getattr(annotation, what)
        return _text(value) if isinstance(value, str | bytes) else value
    if annotation.dict_entries:
        return {
            _text(entry.name) or sequence.arguments.get(entry.name_iid, ""): _value(entry, sequence)
            for entry in annotation.dict_entries
        }
    return [_value(item, sequence) for item in annotation.array_values] or None


def _track_name(descriptor: protocol.TrackDescriptor, uuid: int) -> str:
    name = descriptor.name or descriptor.static_name
    if descriptor.HasField("thread"):
        name = descriptor.thread.thread_name or f"thread {descriptor.thread.tid}"
    elif descriptor.HasField("process"):
        name = descriptor.process.process_name or f"process {descriptor.process.pid}"
    return _text(name) or f"track {uuid}"


def _unit(descriptor: protocol.TrackDescriptor) -> str:
    counter = descriptor.counter
    named = {1: "ns", 2: "", 3: "B"}
    return _text(counter.unit_name) or named.get(counter.unit, "")


def _text(value: str | bytes) -> str:
    """A text of a message; one that is not UTF-8 comes as bytes."""
    return value if isinstance(value, str) else value.decode("utf-8", "replace")
