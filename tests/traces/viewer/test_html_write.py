"""The HTML writer keeps every event, and refuses what a page cannot hold."""

import base64
import dataclasses
import hashlib
import io
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.traces.events import kinds as k
from assay.traces.events.clock import Clock
from assay.traces.events.errors import TraceError
from assay.traces.events.schema import ABSENT, Form, Kind, Role
from assay.traces.events.trace import Trace
from assay.traces.record.recorder import Recorder
from assay.traces.viewer.encode import Blob, leb128
from assay.traces.viewer.html_write import LIMIT, page, write_html
from assay.traces.viewer.paints import paint
from tests.support import timelines
from tests.support.html_payload import column, payload


def decoded(trace: Trace) -> set[tuple[object, ...]]:
    """Slices and instants of a trace as its page holds them: track, begin, duration, name, kind."""
    header, data = payload(page(trace))
    columns = {name: column(data, entry) for name, entry in header["events_columns"].items()}
    first = [*header["rows"]["first"], len(columns["begin"])]
    found = set()
    for row, track in enumerate(header["rows"]["track"]):
        begin = int(header["origin"])
        for i in range(first[row], first[row + 1]):
            begin += int(columns["begin"][i] or 0)
            name, kind = int(columns["name"][i] or 0), int(columns["kind"][i] or 0)
            found.add(
                (track, begin, columns["duration"][i], header["names"][name], trace.kinds[kind])
            )
    return found


@pytest.mark.parametrize("trace", [timelines.gemm(), timelines.npu(), timelines.mixture(4000)])
def test_every_slice_and_instant_is_in_the_page(trace: Trace) -> None:
    slices, instants = trace.slices, trace.instants
    expected = {
        (
            int(slices.track[i]),
            int(slices.begin[i]),
            int(slices.duration[i]),
            trace.names[slices.name[i]],
            trace.kinds[slices.kind[i]],
        )
        for i in range(len(slices))
    } | {
        (
            int(instants.track[i]),
            int(instants.time[i]),
            0,
            trace.names[instants.name[i]],
            trace.kinds[instants.kind[i]],
        )
        for i in range(len(instants))
    }
    assert decoded(trace) == expected


def test_rows_are_in_order_of_time_and_do_not_overlap() -> None:
    header, data = payload(page(timelines.npu()))
    begin = column(data, header["events_columns"]["begin"])
    duration = column(data, header["events_columns"]["duration"])
    first = header["rows"]["first"]
    for i in range(len(begin)):
        if i not in first:
            assert (begin[i] or 0) >= (duration[i - 1] or 0)


def test_flows_lead_from_the_same_slice_to_the_same_slice() -> None:
    trace = timelines.gemm()
    header, data = payload(page(trace))
    source = np.cumsum(column(data, header["flows"]["source"]))
    target = source + np.array(column(data, header["flows"]["destination"]), np.int64)
    first = np.array(header["rows"]["first"])
    tracks = np.array(header["rows"]["track"])
    begins = np.concatenate(
        [
            np.cumsum(part)
            for part in np.split(column(data, header["events_columns"]["begin"]), first[1:])
        ]
    ).astype(int)
    rows_of = [np.searchsorted(first, ends, side="right") - 1 for ends in (source, target)]
    found = sorted(
        zip(tracks[rows_of[0]], begins[source], tracks[rows_of[1]], begins[target], strict=True)
    )
    slices, flows = trace.slices, trace.flows
    expected = sorted(
        zip(
            slices.track[flows.source],
            slices.begin[flows.source] - trace.span[0],
            slices.track[flows.destination],
            slices.begin[flows.destination] - trace.span[0],
            strict=True,
        )
    )
    assert found == expected


@given(st.lists(st.integers(0, 2**53 - 1)))
def test_leb128_is_what_it_is_defined_to_be(values: list[int]) -> None:
    expected = bytearray()
    for value in values:
        while value >= 128:
            expected.append(value & 127 | 128)
            value >>= 7
        expected.append(value)
    assert leb128(np.array(values, np.int64)) == bytes(expected)


@given(st.lists(st.integers(-(2**63), 2**63 - 1)))
def test_integers_come_back_as_they_were(values: list[int]) -> None:
    blob = Blob()
    entry = blob.integers(np.array(values, np.int64))
    back = column(b"".join(blob.parts), entry)
    absent = None if entry.get("zigzag") else ABSENT
    assert back == [absent if value == ABSENT else value for value in values]


@given(st.lists(st.floats(width=64)))
def test_real_numbers_come_back_as_they_were(values: list[float]) -> None:
    blob = Blob()
    entry = blob.reals(np.array(values, np.float64))
    back = column(b"".join(blob.parts), entry)
    assert np.array_equal(np.array(back, np.float64), np.array(values), equal_nan=True)


def test_arguments_stay_with_their_events() -> None:
    recorder = Recorder(Clock.nanoseconds(), title="arguments")
    track = recorder.track("dma", role=Role.DMA)
    values = [5, ABSENT, -3, 2**62]
    for i, value in enumerate(values):
        recorder.slice(k.DMA, track, f"transfer {i}", 30 - 10 * i, 3, bytes=value)
    header, data = payload(page(recorder.finish()))
    kind = next(kind for kind in header["kinds"] if kind["name"] == "dma")
    (argument,) = kind["arguments"]
    assert argument["name"] == "bytes"
    assert column(data, argument["column"]) == [2**62, -3, ABSENT, 5]


def test_the_policy_lets_run_only_what_the_writer_put_in() -> None:
    text = page(timelines.gemm())
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    (style,) = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)

    def digest(part: str) -> str:
        return base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()

    assert len(scripts) == 1
    assert "default-src 'none'" in policy
    assert f"script-src 'sha256-{digest(scripts[0])}'" in policy
    assert f"style-src 'sha256-{digest(style)}'" in policy
    assert "unsafe" not in policy


def test_a_title_is_text_whatever_is_in_it() -> None:
    hostile = "</title><script>alert(1)</script>{{SCRIPT}}{{PAYLOAD}}"
    recorder = Recorder(Clock.nanoseconds(), title=hostile)
    text = page(recorder.finish())
    assert text.count("<script>") == 1
    assert "<title>&lt;/title&gt;&lt;script&gt;" in text
    header, _ = payload(text)
    assert header["title"] == hostile


def test_the_same_trace_gives_the_same_page() -> None:
    assert page(timelines.npu()) == page(timelines.npu())


def test_a_trace_that_is_too_large_names_the_format_that_takes_it() -> None:
    trace = timelines.gemm()
    many = np.zeros(LIMIT + 1, np.int64)
    counters = dataclasses.replace(
        trace.counters, track=many, time=many, value=many.astype(np.float64)
    )
    stream = io.BytesIO()
    with pytest.raises(TraceError, match=r"10,00\d,\d+ events are too many.*\.pftrace"):
        write_html(dataclasses.replace(trace, counters=counters), stream)
    assert stream.getvalue() == b""


def test_a_trace_that_lasts_too_long_for_exact_times_is_refused() -> None:
    recorder = Recorder(Clock.picoseconds())
    track = recorder.track("host", role=Role.HOST)
    recorder.slice(k.HOST_CALL, track, "call", 0, 2**53)
    with pytest.raises(TraceError, match="coarser clock"):
        page(recorder.finish())


def test_times_far_from_zero_are_exact() -> None:
    recorder = Recorder(Clock.picoseconds())
    track = recorder.track("host", role=Role.HOST)
    recorder.slice(k.HOST_CALL, track, "call", 2**60 + 1, 7)
    assert {(begin, length) for _, begin, length, *_ in decoded(recorder.finish())} == {
        (2**60 + 1, 7)
    }


def test_functions_keep_their_colours_when_others_take_longer() -> None:
    styles = []
    for slow in ("compute", "load"):
        recorder = Recorder(Clock.nanoseconds())
        track = recorder.track("simdgroup", role=Role.SIMDGROUP)
        for i, name in enumerate(("compute", "load", "store")):
            recorder.slice(k.PHASE, track, name, 1000 * i, 900 if name == slow else 10)
        styles.append({entry.label: entry.style for entry in paint(recorder.finish()).legend})
    assert styles[0] == styles[1]
    assert len(set(styles[0].values())) == 3


def test_functions_beyond_the_palette_share_one_colour() -> None:
    recorder = Recorder(Clock.nanoseconds())
    track = recorder.track("simdgroup", role=Role.SIMDGROUP)
    for i in range(20):
        recorder.slice(k.PHASE, track, f"function {i}", 100 * i, 50 - i)
    legend = paint(recorder.finish()).legend
    assert [entry.label for entry in legend][-1] == "other functions"
    assert len(legend) == 10


def test_waiting_is_coloured_by_its_cause_and_work_is_not() -> None:
    legend = {entry.label: entry for entry in paint(timelines.gemm()).legend}
    assert legend["dram"].group == "stalled"
    assert legend["dram"].style == "cause-dram"
    assert legend["working: issue"].group == "busy"
    assert legend["array: write"].style != legend["array: read"].style


def test_slices_of_other_tools_are_coloured_by_name() -> None:
    kind = Kind(name="toplevel", form=Form.SLICE, category="foreign", text="A slice.")
    recorder = Recorder(Clock.nanoseconds())
    track = recorder.track("thread 1", role=Role.FOREIGN)
    for i, name in enumerate(("parse", "paint", "parse")):
        recorder.slice(kind, track, name, 10 * i, 10)
    found = paint(recorder.finish())
    assert [entry.label for entry in found.legend] == ["paint", "parse"]
    assert found.slices.tolist() == [1, 0, 1]
