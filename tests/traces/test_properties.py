"""What is recorded is what is written, and what is written is what is read."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as protocol

from assay.traces import Recorder, Trace, TraceError
from assay.traces.events.build import build
from assay.traces.events.content_of import content_of
from assay.traces.files import HTML, WRITERS, read_content
from assay.traces.formats.perfetto.columns import read_own
from assay.traces.formats.perfetto.read import read_packets
from assay.traces.formats.perfetto.write import write_perfetto
from tests.support.traces import recorders, told, traces

few = settings(max_examples=15, deadline=None)


def written(trace: Trace, suffix: str) -> bytes:
    stream = io.BytesIO()
    WRITERS[suffix](trace, stream)
    return stream.getvalue()


@few
@given(traces())
def test_taking_a_trace_apart_and_building_it_gives_the_same(trace: Trace) -> None:
    assert told(build(content_of(trace))) == told(trace)


@pytest.mark.parametrize("suffix", [suffix for suffix in WRITERS if suffix != HTML])
@few
@given(trace=traces())
def test_a_written_trace_reads_back_whole(suffix: str, trace: Trace) -> None:
    data = written(trace, suffix)
    again = build(read_content(data, "file"))
    assert told(again) == told(trace)
    assert again.notes == ()
    assert written(trace, suffix) == data


@few
@given(traces())
def test_packets_are_those_of_the_official_classes(trace: Trace) -> None:
    data = written(trace, ".pftrace")
    assert protocol.Trace.FromString(data).SerializeToString() == data


@few
@given(traces())
def test_begins_and_ends_of_every_track_nest_in_the_order_of_the_file(trace: Trace) -> None:
    stream = io.BytesIO()
    write_perfetto(trace, stream)
    stacks: dict[int, list[int]] = {}
    last: dict[int, int] = {}
    for packet in protocol.Trace.FromString(stream.getvalue()).packet:
        event = packet.track_event
        if event.type not in (event.TYPE_SLICE_BEGIN, event.TYPE_SLICE_END):
            continue
        assert packet.timestamp >= last.get(event.track_uuid, 0)
        last[event.track_uuid] = packet.timestamp
        stack = stacks.setdefault(event.track_uuid, [])
        if event.type == event.TYPE_SLICE_BEGIN:
            stack.append(packet.timestamp)
        else:
            stack.pop()
    assert not any(stacks.values())


@few
@given(traces())
def test_children_lie_within_their_parents_and_rows_hold_nothing_that_overlaps(
    trace: Trace,
) -> None:
    slices = trace.slices
    inside = slices.parent >= 0
    outer = slices.parent[inside]
    assert (slices.begin[inside] >= slices.begin[outer]).all()
    assert (slices.end[inside] <= slices.end[outer]).all()
    assert (slices.depth[inside] == slices.depth[outer] + 1).all()
    rows = list(trace.rows())
    for row in rows:
        begin, end = slices.begin[row.slices], slices.end[row.slices]
        assert (begin[1:] >= end[:-1]).all()
    together = np.concatenate([np.empty(0, np.int64), *(row.slices for row in rows)])
    assert sorted(together.tolist()) == list(range(len(slices)))


@few
@given(recorders(), st.data())
def test_one_slice_that_crosses_another_is_refused(recorder: Recorder, data: st.DataObject) -> None:
    from tests.support.traces import TUNE

    track = recorder.track("sequential")
    begin, duration = data.draw(st.integers(0, 9)), data.draw(st.integers(2, 9))
    inside = data.draw(st.integers(begin + 1, begin + duration - 1))
    beyond = data.draw(st.integers(begin + duration + 1, 30))
    recorder.slice(TUNE, track, "first", begin, duration)
    recorder.finish()
    recorder.slice(TUNE, track, "second", inside, beyond - inside)
    with pytest.raises(TraceError, match=r"track sequential: 'second' .* begins inside 'first'"):
        recorder.finish()


@few
@given(traces())
def test_a_perfetto_file_of_ours_reads_the_same_at_once_and_packet_by_packet(trace: Trace) -> None:
    data = written(trace, ".pftrace")
    at_once = read_own(data)
    assert at_once is not None
    assert told(build(at_once)) == told(build(read_packets(data, "file"))) == told(trace)
