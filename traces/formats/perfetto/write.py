"""Writes native Perfetto traces (`.pftrace`): opens in ui.perfetto.dev and its offline copy.

Perfetto counts whole nanoseconds, so one tick is written as one nanosecond; the root track says so.
The UI never complains about a wrong order, it draws a plausible wrong picture. Therefore packets
of a track are in the order of nesting: ends before begins at one time, outer before inner; slices
that overlap go to one track per lane, which the UI merges again as they have one name.

What can be said once is said through the official classes; events, of which there are millions,
are encoded by `wire`, and a test holds both to the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

import numpy as np
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as protocol
from perfetto.trace_builder.proto_builder import StreamingTraceProtoBuilder

from ...events.clock import CYCLE, Clock
from ...events.schema import Role
from ...events.trace import Integers, Trace
from ..extras import facts_json, lanes_of
from .format import DESCRIPTION, ROOT, SEQUENCE
from .packets import Packets, argument_names

_BLOCK = 1 << 16
_INTERNED = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackNumbers:
    """Numbers that Perfetto knows our tracks by: those of the lanes of a track follow another."""

    first: Integers
    lanes: Integers


def write_perfetto(trace: Trace, stream: IO[bytes]) -> None:
    """Write a trace in Perfetto's format, block by block."""
    numbers = _track_numbers(trace)
    builder = StreamingTraceProtoBuilder(stream)
    for packet in _descriptors(trace, numbers, builder):
        builder.write_packet(packet)
    for packet in _interned(trace, builder):
        builder.write_packet(packet)
    for block in Packets(trace, numbers.first, SEQUENCE).blocks(_BLOCK):
        stream.write(block)


def tick_text(clock: Clock) -> str:
    """What a nanosecond in Perfetto stands for."""
    if clock.unit == CYCLE:
        return f"1 ns here is 1 cycle of {clock.name}"
    return "time in ns" if clock.unit == "ns" else f"1 ns here is 1 {clock.unit}"


def _track_numbers(trace: Trace) -> TrackNumbers:
    lanes = lanes_of(trace)
    return TrackNumbers(first=ROOT + 1 + np.cumsum(lanes) - lanes, lanes=lanes)


def _descriptors(
    trace: Trace, numbers: TrackNumbers, builder: StreamingTraceProtoBuilder
) -> Iterator[protocol.TracePacket]:
    explicit = protocol.TrackDescriptor.ChildTracksOrdering.EXPLICIT
    root = builder.create_packet()
    root.trusted_packet_sequence_id = SEQUENCE
    root.sequence_flags = protocol.TracePacket.SEQ_INCREMENTAL_STATE_CLEARED
    title = trace.title or "Assay"
    root.track_descriptor.uuid = ROOT
    root.track_descriptor.name = _utf8(f"{title} ({tick_text(trace.clock)})")
    root.track_descriptor.description = DESCRIPTION + json.dumps(facts_json(trace))
    root.track_descriptor.child_ordering = explicit
    yield root
    for position, track in enumerate(trace.tracks):
        for lane in range(int(numbers.lanes[position])):
            packet = builder.create_packet()
            packet.trusted_packet_sequence_id = SEQUENCE
            descriptor = packet.track_descriptor
            descriptor.uuid = int(numbers.first[position]) + lane
            parent = track.parent
            descriptor.parent_uuid = ROOT if parent < 0 else int(numbers.first[parent])
            descriptor.name = _utf8(track.name)
            descriptor.child_ordering = explicit
            descriptor.sibling_order_rank = position
            if track.role is Role.COUNTER:
                descriptor.counter.unit_name = _utf8(track.unit)
            yield packet


def _interned(trace: Trace, builder: StreamingTraceProtoBuilder) -> Iterator[protocol.TracePacket]:
    """Names, told before they are used: in packets of a bearable size."""
    for start in range(0, max(len(trace.names), 1), _INTERNED):
        packet = builder.create_packet()
        packet.trusted_packet_sequence_id = SEQUENCE
        packet.sequence_flags = protocol.TracePacket.SEQ_NEEDS_INCREMENTAL_STATE
        data = packet.interned_data
        if start == 0:
            for number, kind in enumerate(trace.kinds):
                data.event_categories.add(iid=number + 1, name=_utf8(kind.name))
            for number, name in enumerate(argument_names(trace)):
                data.debug_annotation_names.add(iid=number + 1, name=_utf8(name))
        for number in range(start, min(start + _INTERNED, len(trace.names))):
            text = _utf8(trace.names[number])
            data.event_names.add(iid=number + 1, name=text)
            data.debug_annotation_string_values.add(iid=number + 1, str=text.encode())
        for number, cause in enumerate(trace.causes if start == 0 else ()):
            iid = len(trace.names) + number + 1
            data.debug_annotation_string_values.add(iid=iid, str=cause.name.encode())
        yield packet


def _utf8(text: str) -> str:
    """Text that can be written: what is no Unicode character becomes a question mark."""
    return text.encode("utf-8", "replace").decode()
