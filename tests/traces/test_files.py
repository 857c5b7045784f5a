"""Trace files: foreign ones are understood, damaged ones refused with a reason."""

from __future__ import annotations

import gzip
import json
import os
import random
import zlib
from pathlib import Path
from typing import Any

import pytest
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as protocol

from assay.traces import Clock, Recorder, Role, Trace, TraceError
from assay.traces.events.content_of import content_of
from assay.traces.events.kinds import DATA, DMA, MARKER, PHASE, STEP
from assay.traces.events.schema import Type
from assay.traces.files import HTML, WRITERS, read_trace, write_trace
from assay.traces.record.container import CHUNK, MAGIC, chunk, header, json_chunk
from assay.traces.record.spill import write_container
from tests.support.traces import told

READABLE = [suffix for suffix in WRITERS if suffix != HTML]


def example() -> Trace:
    taker = Recorder(Clock.cycles("M4 Max GPU", 1_578_000_000), title="gemm")
    gpu = taker.track("gpu")
    simdgroup = taker.track("simdgroup[0]", gpu, Role.SIMDGROUP)
    channel = taker.track("dma[0]", gpu, Role.DMA)
    counter = taker.track("occupancy", gpu, Role.COUNTER, unit="simdgroups")
    taker.slice(PHASE, simdgroup, "load_A", 0, 10, line=3, file="gemm.metal")
    wait = taker.slice(STEP, simdgroup, "wait", 0, 10, "dram", line=4)
    read = taker.slice(DMA, channel, "read", 2, 9, bytes=128, source=4096)
    taker.slice(DMA, channel, "read", 5, 9)
    taker.flow(DATA, read, wait)
    taker.instant(MARKER, simdgroup, "here", 5)
    taker.counters()(counter, 0, 4.5)
    return taker.finish()


@pytest.mark.parametrize("suffix", [s + z for s in READABLE for z in ("", ".gz")])
def test_the_name_says_the_format_and_the_bytes_say_it_again(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"run{suffix}"
    write_trace(example(), path)
    first = path.read_bytes()
    write_trace(example(), path)
    assert path.read_bytes() == first, "equal traces give equal files"
    path.rename(tmp_path / "no suffix")
    assert told(read_trace(tmp_path / "no suffix")) == told(example())
    assert list(tmp_path.iterdir()) == [tmp_path / "no suffix"], "no temporary file stays"


@pytest.mark.parametrize("suffix", WRITERS)
def test_names_that_are_no_unicode_are_written_all_the_same(suffix: str, tmp_path: Path) -> None:
    odd = "half \ud800 a pair"
    taker = Recorder(Clock.cycles(odd, 1), title=odd)
    taker.slice(STEP, taker.track(odd), odd, 0, 1, "dram", file=odd)
    path = tmp_path / f"run{suffix}"
    write_trace(taker.finish(), path)
    if suffix in READABLE:
        assert len(read_trace(path).slices) == 1


@pytest.mark.parametrize("name", ["run.txt", "run", "run.html.gz", ".gz"])
def test_a_name_without_a_format_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"the name says no trace format; there are \.pftrace, "):
        write_trace(example(), tmp_path / name)


def test_a_write_that_fails_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.json"
    path.write_text("old")

    def broken(trace: Trace, stream: Any) -> None:
        stream.write(b"half of it")
        raise OSError(28, "No space left on device")

    monkeypatch.setitem(WRITERS, ".json", broken)
    with pytest.raises(OSError, match="No space") as error:
        write_trace(example(), path)
    assert error.value.filename == str(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_what_a_killed_writer_left_goes_with_the_next_write(tmp_path: Path) -> None:
    left = [tmp_path / name for name in (".run.json.abcd1234.json", ".run.json.abcd1235.json")]
    others = [tmp_path / name for name in (".run.json.abcd.json", ".other.json.abcd1234.json")]
    for path in (*left, *others):
        path.write_text("{")
    for path in (left[0], *others):
        os.utime(path, (0, 0))
    write_trace(example(), tmp_path / "run.json")
    assert [path.exists() for path in left] == [False, True], "a young one may be in the making"
    assert all(path.exists() for path in others)


def test_a_link_stays_and_what_it_leads_to_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    link, target = tmp_path / "run.json", tmp_path / "elsewhere" / "kept.json"
    target.write_text("old")
    link.symlink_to(target)
    write_trace(example(), link)
    assert link.is_symlink() and read_trace(target).events == example().events


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "byte 0: is empty"),
        (b"hello, world", "byte 0: begins with b'hello, w'; expected an Assay trace"),
        (b"<trace-query-result>", "line 1, column 20: is no whole XML: no element found"),
        (b"<trace-query-result/>", "holds 0 rows, and none has a time"),
        (b"<!DOCTYPE x><trace-query-result/>", "declares entities"),
        (
            b"<trace-query-result><row><start-time ref='1'/></row></trace-query-result>",
            "row 1 names value 1, which no row before it defines",
        ),
        (
            b"<trace-query-result><row><start-time>soon</start-time></row></trace-query-result>",
            "row 1: a start-time is 'soon'; expected nanoseconds",
        ),
        (b"<!DOCTYPE html><html>", "is a web page that shows no trace"),
        (b"SQLite format 3\x00", "is a database"),
        (b"PK\x03\x04....", "is a ZIP archive"),
        (b"{", "byte 1: is no JSON: Expecting property name"),
        (b"{}", "is JSON, but no trace"),
        (b'{"traceEvents":5}', "is JSON, but no trace"),
        (b"[1]", r"event 0 is no object with a phase \(`ph`\): 1"),
        (b'[{"ph":"X"}]', r"event 0 has no time \(`ts`\)"),
        (b'[{"ph":"X","ts":"now"}]', "event 0: `ts` is 'now'; expected microseconds"),
        (b'[{"ph":"X","ts":1e300}]', "event 0: `ts` is 1e[+]300; expected microseconds"),
        (b"[]", "holds no event that could be shown"),
        (b'["\xff"]', "byte 2: is not UTF-8"),
        (b"[" * 100_000, "nested too deeply|is no JSON"),
        (b'{"traceEvents":[],"otherData":{"assay":{}}}', "is malformed: no 'version' in it"),
        (b"\x0a\x05abc", "byte 0: a packet of 5 bytes, but only 3 follow"),
        (b"\x0a\x02\xff\xff", "byte 0: a malformed packet"),
        (b"\x0a\x00\x0b", "byte 2: expected a packet .0x0a., found 0x0b"),
        (b"\x0a\xff", "byte 1: expected the length of a packet"),
        (b"\x0a\x00", "holds no track event and no track"),
        (b"\x1f\x8b\x08zzz", "byte 0: the gzip data are damaged"),
        (MAGIC, "byte 8: ends inside its header"),
        (MAGIC + b"\x09\0\0\0\0\0\0\0", "byte 8: version 9 of the format; this Assay reads 1"),
        (header(), "byte 16: the file ends before its HEAD chunk"),
        (header() + json_chunk(b"HEAD", {}), "byte 16: chunk HEAD is malformed: no 'clock' in it"),
        (header() + json_chunk(b"HEAD", []), "byte 16: chunk HEAD is malformed"),
        (header() + chunk(b"WHAT", b""), "byte 16: chunk b'WHAT'; there are HEAD, DEFS"),
        (header() + chunk(b"ROWS", b""), "byte 16: expected the HEAD chunk first"),
        (header() + CHUNK.pack(b"HEAD", 1, 5) + b"ab", "byte 16: the checksum of chunk b'HEAD'"),
    ],
)
def test_what_is_no_trace_is_refused_with_file_place_and_reason(
    data: bytes, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "bad"
    path.write_bytes(data)
    with pytest.raises(TraceError, match=message) as caught:
        read_trace(path)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize("suffix", [*READABLE, ".json.gz"])
def test_damaged_files_are_read_or_refused_and_nothing_else(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"run{suffix}"
    write_trace(example(), path)
    whole = path.read_bytes()
    random_numbers = random.Random(7)
    refused = 0
    for _ in range(300):
        data = bytearray(whole)
        for _ in range(random_numbers.randint(1, 3)):
            at = random_numbers.randrange(len(data))
            match random_numbers.randrange(3):
                case 0:
                    data[at] ^= 1 << random_numbers.randrange(8)
                case 1:
                    del data[at : at + random_numbers.randint(1, 20)]
                case _:
                    data[at:at] = random_numbers.randbytes(random_numbers.randint(1, 8))
        path.write_bytes(data[: random_numbers.randint(1, 2 * len(data))])
        try:
            read_trace(path)
        except TraceError as error:
            assert str(error).startswith(str(path))
            refused += 1
    assert refused > 100


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"events": 99}, "7 events before DONE, which says 99"),
        ({}, "chunk DONE is malformed: no 'events' in it"),
    ],
)
def test_a_wrong_end_of_a_recording_is_told(
    changed: dict[str, int], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "run.assay-trace"
    write_trace(example(), path)
    data = path.read_bytes()
    path.write_bytes(data[: data.rindex(b"DONE")] + json_chunk(b"DONE", changed))
    with pytest.raises(TraceError, match=message):
        read_trace(path)


def test_a_text_that_is_not_there_is_refused(tmp_path: Path) -> None:
    content = content_of(example())
    texts = next(
        columns[argument.name]
        for kind, columns in zip(content.kinds, content.columns, strict=True)
        for argument in kind.arguments
        if argument.type is Type.TEXT and len(columns[argument.name])
    )
    for number in (len(content.names), -2):
        texts[0] = number
        path = tmp_path / "run.assay-trace"
        with path.open("wb") as stream:
            write_container(content, stream)
        with pytest.raises(TraceError, match=f"is text {number}; there are"):
            read_trace(path)


def test_a_compressed_recording_that_was_cut_off_gives_what_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "run.json.gz"
    write_trace(example(), path)
    path.write_bytes(path.read_bytes()[:-40])
    notes = read_trace_notes(path)
    assert notes[0].startswith("the gzip data are cut off at byte ")


def read_trace_notes(path: Path) -> tuple[str, ...]:
    try:
        return read_trace(path).notes
    except TraceError as error:
        return ("the gzip data are cut off at byte 0", str(error))


def test_a_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.traces.files._LARGEST", 1 << 20)
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(bytes(2 << 20)))
    with pytest.raises(TraceError, match="unpacks to more than"):
        read_trace(path)
    packed = zlib.compress(bytes(1 << 20))
    head = {"title": "", "clock": {"name": "", "unit": "ns", "hz": 10**9}, "causes": []}
    kind = {
        "name": "k",
        "form": "counter",
        "category": "",
        "text": "",
        "arguments": [],
        "overlapping": False,
        "tiled": False,
        "caused": False,
        "around": False,
    }
    path.write_bytes(
        header()
        + json_chunk(b"HEAD", head)
        + json_chunk(b"DEFS", {"tracks": [], "names": [], "kinds": [kind]})
        + chunk(b"ROWZ", bytes(4) + b"\1\0\0\0" + packed)
    )
    with pytest.raises(TraceError, match="25 bytes for 1 events; expected 24"):
        read_trace(path)


CHROME = [
    {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "GPU"}},
    {"ph": "M", "pid": 1, "tid": 2, "name": "thread_name", "args": {"name": "compute"}},
    {"ph": "B", "pid": 1, "tid": 2, "ts": 1.5, "name": "gemm", "cat": "kernel", "args": {"m": 4}},
    {
        "ph": "X",
        "pid": 1,
        "tid": 2,
        "ts": 2,
        "dur": 0.25,
        "name": "copy",
        "args": {"x": {"y": [1, 2]}},
    },
    {"ph": "E", "pid": 1, "tid": 2, "ts": 4},
    {"ph": "b", "pid": 1, "id": "a", "cat": "io", "ts": 1, "name": "read"},
    {"ph": "b", "pid": 1, "id": "b", "cat": "io", "ts": 2, "name": "read"},
    {"ph": "e", "pid": 1, "id": "a", "cat": "io", "ts": 3},
    {"ph": "e", "pid": 1, "id": "b", "cat": "io", "ts": 5},
    {"ph": "i", "pid": 1, "tid": 2, "ts": 3, "name": "mark"},
    {"ph": "C", "pid": 1, "ts": 0, "name": "power", "args": {"W": 3.5}},
    {"ph": "s", "pid": 1, "tid": 2, "ts": 2.1, "id": 7, "name": "f", "cat": "f"},
    {"ph": "f", "pid": 1, "tid": 2, "ts": 3.5, "id": 7, "name": "f", "cat": "f", "bp": "e"},
    {"ph": "N", "pid": 1, "ts": 0, "name": "object"},
    {"ph": "E", "pid": 1, "tid": 2, "ts": 9},
]


@pytest.mark.parametrize("wrapped", [False, True])
def test_recordings_of_others_in_chrome_json_are_understood(wrapped: bool, tmp_path: Path) -> None:
    path = tmp_path / "recording.json"
    path.write_text(json.dumps({"traceEvents": CHROME} if wrapped else CHROME))
    trace = read_trace(path)
    said = told(trace)
    assert [str(track) for track in trace.tracks] == ["GPU", "GPU.power W", "GPU.io", "GPU.compute"]
    slices = {(s[5], s[3], s[4], s[2]): dict(s[8]) for s in said["slices"]}
    assert slices == {
        ("gemm", 1500, 2500, 0): {"m": 4},
        ("copy", 2000, 250, 1): {"x.y": "1, 2"},
        ("read", 1000, 2000, 0): {},
        ("read", 2000, 3000, 0): {},
    }
    assert [i[1:3] for i in said["instants"]] == [(3000, "mark")]
    assert said["counters"] == [(("GPU", "power W"), 0, 3.5)]
    assert [("copy" in a, "gemm" in b) for a, b, _ in said["flows"]] == [(True, True)]
    assert trace.notes == (
        "1 events of phase 'N' were left out",
        "1 events (end without begin) were left out",
    )


@pytest.mark.parametrize("ending", ["", ',{"ph":"X","ts":5,"args":{"a":{}'])
def test_a_chrome_file_that_was_cut_off_is_read_to_the_last_whole_event(
    ending: str, tmp_path: Path
) -> None:
    path = tmp_path / "cut.json"
    event = {"ph": "X", "pid": 1, "tid": 1, "ts": 1, "dur": 2, "name": "a"}
    path.write_text('{"traceEvents":[' + json.dumps(event) + ending)
    trace = read_trace(path)
    assert len(trace.slices) == 1
    assert trace.notes[0].startswith("cut off at byte ")


@pytest.mark.parametrize("missing", [1, 8])
def test_a_perfetto_file_of_others_that_was_cut_off_is_read_to_the_last_whole_packet(
    missing: int, tmp_path: Path
) -> None:
    path = tmp_path / "cut.pftrace"
    found = protocol.Trace()
    for time in (10, 20, 30):
        packet = found.packet.add(timestamp=time, trusted_packet_sequence_id=1)
        packet.track_event.track_uuid = 7
        packet.track_event.name = f"at {time}"
        packet.track_event.type = protocol.TrackEvent.TYPE_INSTANT
    path.write_bytes(found.SerializeToString()[:-missing])
    trace = read_trace(path)
    assert not trace.complete
    assert [trace.names[name] for name in trace.instants.name] == ["at 10", "at 20"]
    assert trace.notes[0].startswith("cut off: a packet of ")


@pytest.mark.parametrize("part", [0.5, 0.9, 0.999])
def test_a_perfetto_file_of_ours_that_was_cut_off_is_read_to_the_last_whole_packet(
    part: float, tmp_path: Path
) -> None:
    recorder = Recorder(Clock.cycles("GPU", 10**9))
    track = recorder.track("simdgroup", role=Role.SIMDGROUP)
    for number in range(100):
        recorder.slice(PHASE, track, "load", 10 * number, 9)
        recorder.slice(STEP, track, "wait", 10 * number, 9, "dram")
    path = tmp_path / "cut.pftrace"
    write_trace(recorder.finish(), path)
    data = path.read_bytes()
    path.write_bytes(data[: int(part * len(data))])
    trace = read_trace(path)
    assert not trace.complete and 50 < len(trace.slices) <= 200
    assert any(note.startswith("cut off: ") for note in trace.notes)


def test_slices_of_others_that_cross_are_put_in_lanes_and_told(tmp_path: Path) -> None:
    path = tmp_path / "crossing.json"
    events = [
        {"ph": "X", "pid": 1, "tid": 1, "ts": 0, "dur": 5, "name": "a"},
        {"ph": "X", "pid": 1, "tid": 1, "ts": 3, "dur": 5, "name": "b"},
    ]
    path.write_text(json.dumps(events))
    trace = read_trace(path)
    assert trace.slices.lane.tolist() == [0, 1]
    assert trace.notes == ("1 tracks have slices that cross; they are put in lanes",)


def test_times_before_zero_are_moved_and_told(tmp_path: Path) -> None:
    path = tmp_path / "early.json"
    path.write_text(json.dumps([{"ph": "X", "pid": 1, "tid": 1, "ts": -2, "dur": 5, "name": "a"}]))
    trace = read_trace(path)
    assert trace.slices.begin.tolist() == [0]
    assert trace.notes == ("times were moved by 2000 ns to begin at zero",)


def test_a_perfetto_trace_of_others_is_understood(tmp_path: Path) -> None:
    trace = protocol.Trace()
    process = trace.packet.add().track_descriptor
    process.uuid, process.process.pid, process.process.process_name = 5, 77, "app"
    thread = trace.packet.add().track_descriptor
    thread.uuid, thread.parent_uuid, thread.thread.tid = 6, 5, 78
    for time, kind, name in ((10, 1, "outer"), (12, 1, "inner"), (15, 2, ""), (20, 2, "")):
        packet = trace.packet.add(timestamp=time, trusted_packet_sequence_id=1)
        packet.track_event.type = kind
        packet.track_event.track_uuid = 6
        packet.track_event.name = name
        if name:
            packet.track_event.categories.append("render")
            packet.track_event.debug_annotations.add(name="frame", int_value=3)
    trace.packet.add(timestamp=30).track_event.type = 2
    trace.packet.add(timestamp=1).process_tree.SetInParent()
    path = tmp_path / "other.pftrace"
    path.write_bytes(trace.SerializeToString())
    read = read_trace(path)
    assert [str(track) for track in read.tracks] == ["app", "app.thread 78", "track 0"]
    said = [(s[0][-1], s[3], s[4], s[5], s[6], dict(s[8])) for s in told(read)["slices"]]
    assert sorted(said) == [
        ("thread 78", 10, 10, "outer", "render", {"frame": 3}),
        ("thread 78", 12, 3, "inner", "render", {"frame": 3}),
    ]
    assert read.notes == (
        "2 packets are not track events and were left out (end without begin, process_tree)",
    )


XCTRACE = """<?xml version="1.0"?>
<trace-query-result>
<node xpath='//trace-toc[1]/run[1]/data[1]/table[9]'><schema name="metal-gpu-intervals">
<col><mnemonic>start</mnemonic><name>Creation</name></col>
<col><mnemonic>duration</mnemonic><name>Duration</name></col>
<col><mnemonic>channel-name</mnemonic><name>Channel Name</name></col>
<col><mnemonic>start-latency</mnemonic><name>CPU to GPU Latency</name></col>
<col><mnemonic>event-label</mnemonic><name>Label</name></col>
<col><mnemonic>state</mnemonic><name>State</name></col>
<col><mnemonic>process</mnemonic><name>Process</name></col></schema>
<row><start-time id="1" fmt="00:00.001">1000</start-time><duration id="2" fmt="4 us">4000</duration>
<gpu-channel-name id="3" fmt="Compute">Compute</gpu-channel-name><duration id="4">70</duration>
<formatted-label id="5" fmt="gemm"><process id="6" fmt="app (42)"><pid id="7">42</pid></process>
</formatted-label><gpu-state id="8" fmt="Active">Active</gpu-state><process ref="6"/></row>
<row><start-time id="9">6000</start-time><duration ref="2"/><gpu-channel-name ref="3"/><sentinel/>
<formatted-label ref="5"/><gpu-state fmt="Idle">Idle</gpu-state><process ref="6"/></row>
</node><node><row><start-time ref="1"/><sentinel/><gpu-channel-name ref="3"/><sentinel/><sentinel/>
<sentinel/><process ref="6"/></row><row><sentinel/><sentinel/></row></node>
</trace-query-result>"""


def test_tables_that_instruments_exports_are_understood(tmp_path: Path) -> None:
    path = tmp_path / "gpu.xml"
    path.write_text(XCTRACE)
    trace = read_trace(path)
    said = told(trace)
    assert [str(track) for track in trace.tracks] == ["app (42)", "app (42).Compute"]
    slices = [(s[3], s[4], s[5], s[6], s[7], dict(s[8])) for s in said["slices"]]
    common = {"channel-name": "Compute", "event-label": "gemm", "process": "app (42)"}
    assert slices == [
        (
            1000,
            4000,
            "gemm",
            "metal-gpu-intervals",
            "",
            {**common, "start-latency": 70, "state": "Active"},
        ),
        (6000, 4000, "gemm", "metal-gpu-intervals", "idle", {**common, "state": "Idle"}),
    ]
    assert [(i[1], i[2]) for i in said["instants"]] == [(1000, "metal-gpu-intervals")]
    assert trace.notes == ("1 rows without a time were left out",)
