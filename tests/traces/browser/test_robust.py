"""Whatever a trace holds is text; whatever is wrong with a file is said."""

from __future__ import annotations

import base64
import gzip
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from assay.traces.events import kinds as k
from assay.traces.events.clock import Clock
from assay.traces.events.schema import Role
from assay.traces.events.trace import Trace
from assay.traces.record.recorder import Recorder
from assay.traces.viewer.html_write import page
from tests.support import chromium, timelines

from .conftest import Open

HOSTILE = (
    "</script><script>window.hacked = 1</script>",
    "<!--<script>",
    "<img src=x onerror='window.hacked = 1'>",
    "javascript:window.hacked=1//",
    "{{PAYLOAD}}",
    "\u0000\u0001 controls \u007f\u0085",
    "\u202eright to left",
    "🧮 abacus 👩‍👩‍👧 family",
    "long " * 20_000,
    "lone \ud800 surrogate",
    "",
    " ",
    "__proto__",
    "constructor",
)


def hostile() -> Trace:
    """A trace whose every text is hostile."""
    recorder = Recorder(Clock.cycles(HOSTILE[0], 10**9), title=HOSTILE[2])
    for i, name in enumerate(HOSTILE):
        group = recorder.track(name, role=Role.CORE)
        track = recorder.track(name, group, Role.SIMDGROUP, unit=name)
        counter = recorder.track(f"{name} counter", group, Role.COUNTER, unit=name)
        recorder.slice(k.PHASE, track, name, 100 * i, 90, line=i, file=name)
        recorder.slice(k.BARRIER_WAIT, track, name, 100 * i, 90, "barrier", waiting_for=name)
        recorder.instant(k.MARKER, track, name, 100 * i + 5)
        recorder.counters()(counter, 100 * i, float(i))
    return recorder.finish()


@pytest.fixture(scope="module")
def sound() -> str:
    return page(timelines.gemm(steps=6))


def test_hostile_names_are_shown_as_text(show: Open) -> None:
    trace = hostile()
    with show(trace) as tab:
        elements = tab.call("document.querySelectorAll('body *').length")
        for event in range(len(trace.slices)):
            tab.call("(event) => timeline.select(event, true)", event)
            tab.call("timeline.draw()")
        assert tab.call("window.hacked") is None
        assert tab.page.text_content("h1") == HOSTILE[2]
        assert tab.call("document.querySelectorAll('img, body script:not([src])').length") == 0
        assert tab.call("document.querySelectorAll('body *').length") < elements + 60
        tab.page.fill("#search", HOSTILE[0])
        assert tab.call("timeline.state.search.count") == 3  # two slices and an instant
        tab.page.mouse.move(640, 300)
        tab.page.mouse.move(60, 300)


def test_control_characters_are_made_visible(show: Open) -> None:
    with show(hostile()) as tab:
        event = tab.call("timeline.model.names.findIndex((name) => name.startsWith('\\u0000'))")
        first = tab.call(
            "(name) => Array.from(timeline.model.name).findIndex((other) => other === name)", event
        )
        tab.call("(event) => timeline.select(event)", first)
        assert tab.status().startswith("␀␁ controls ␡␡")


def test_a_long_name_is_cut_to_its_slice(show: Open) -> None:
    with show(hostile()) as tab:
        widths = tab.call(
            """(() => {
                timeline.draw();
                const lists = Object.values(timeline.lists);
                const texts = lists.flatMap((list) => list.texts);
                timeline.context.font = "11.5px system-ui, -apple-system, 'Segoe UI', sans-serif";
                return texts.map(({ event, width }) => {
                    const name = timeline.model.names[timeline.model.name[event]];
                    const cut = timeline.texts.cut(name, width - 7);
                    return [timeline.context.measureText(cut).width, width];
                });
            })()"""
        )
        assert len(widths) > 4
        assert all(text <= width for text, width in widths)


def damaged(sound: str, change: str) -> str:
    """A page with something done to its payload."""
    mark = re.search(r'(data-version="1">)([^<]*)(</script>)', sound)
    assert mark is not None
    packed = base64.b64decode(mark[2])
    data = gzip.decompress(packed)
    texts = {
        "not base64": mark[2][:1000] + "!!" + mark[2][1000:],
        "a byte changed": base64.b64encode(
            packed[:600] + bytes([packed[600] ^ 255]) + packed[601:]
        ).decode(),
        "nothing": "",
        "not gzip": base64.b64encode(data[:400]).decode(),
        "half the header": base64.b64encode(gzip.compress(data[:400])).decode(),
        "no columns": base64.b64encode(gzip.compress(data[:-5000])).decode(),
        "no json": base64.b64encode(gzip.compress(data[:4] + b"x" + data[5:])).decode(),
    }
    return sound[: mark.start(2)] + texts[change] + sound[mark.end(2) :]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "change",
    [
        "not base64",
        "a byte changed",
        "nothing",
        "not gzip",
        "half the header",
        "no columns",
        "no json",
    ],
)
def test_a_damaged_trace_is_called_damaged(sound: str, show: Open, change: str) -> None:
    with show(damaged(sound, change)) as tab:
        assert tab.status().startswith("The trace is damaged:")
        assert tab.page.is_visible("#status")
        assert not tab.page.is_visible("#picture")
        assert tab.call("window.timeline") is None


@pytest.mark.parametrize("share", [0.9, 0.3])
def test_a_file_that_was_cut_off_says_so(sound: str, show: Open, share: float) -> None:
    payload = sound.index(">", sound.index('id="payload"'))
    with show(sound[: payload + int(share * (len(sound) - payload))]) as tab:
        assert "cut off" in tab.status()


def test_a_file_without_its_end_says_so(sound: str, show: Open) -> None:
    with show(sound[: sound.index('<script type="application/octet-stream"')]) as tab:
        assert tab.status() == "The file holds no trace: its end is missing."


def test_a_page_of_another_version_says_which_it_reads(sound: str, show: Open) -> None:
    with show(sound.replace('data-version="1"', 'data-version="7"')) as tab:
        assert tab.status() == "The trace is of version 7; this page reads version 1."


def test_a_script_that_the_writer_did_not_put_in_does_not_run(sound: str, show: Open) -> None:
    added = sound.replace("<body>", "<body><script>window.hacked = 1</script>")
    with show(added) as tab:
        assert tab.call("window.hacked") is None
        (error,) = tab.errors
        assert "Content Security Policy" in error
        tab.errors.clear()
        assert "events on" in tab.status()


def test_the_text_that_stands_there_before_it_opens_says_what_may_be_wrong(sound: str) -> None:
    assert "the file is cut off or the browser is too old" in sound


@pytest.mark.skipif(chromium.executable() is None, reason="no Chromium is installed")
def test_it_opens_in_a_browser_that_nothing_drives(sound: str, tmp_path: Path) -> None:
    path = tmp_path / "timeline.html"
    path.write_text(sound, encoding="utf-8")
    command = [
        chromium.executable() or "",
        *chromium.FLAGS,
        f"--user-data-dir={tmp_path / 'profile'}",
        "--virtual-time-budget=8000",
        "--dump-dom",
        path.as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    shutil.rmtree(tmp_path / "profile", ignore_errors=True)
    status = re.search(r'<output id="status"[^>]*>([^<]*)<', done.stdout)
    assert status is not None
    assert re.match(r"\d+ events on 11 tracks in [\d,]+ cycles", status[1])
