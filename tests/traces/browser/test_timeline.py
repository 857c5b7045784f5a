"""The page shows what was recorded, and does what its keys and the mouse ask for."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest

from assay.traces.events import kinds as k
from assay.traces.events.clock import Clock
from assay.traces.events.schema import Role
from assay.traces.events.trace import Trace
from assay.traces.record.recorder import Recorder
from tests.support import timelines

from .conftest import Open

FIND = """([name, after]) => {
  const { model } = timeline;
  for (let i = 0; i < model.count; i++) {
    if (model.names[model.name[i]] === name && model.begin[i] >= after) return i;
  }
  return -1;
}"""
PLACE = """(event) => {
  const { model, lines, scale, top, state } = timeline;
  const box = timeline.picture.getBoundingClientRect();
  const middle = scale.x((model.begin[event] + model.end(event)) / 2);
  const y = lines.rowY[model.rowOf(event)] + top - state.scroll;
  return [box.left + middle, box.top + y];
}"""


@pytest.fixture(scope="module")
def gemm() -> Trace:
    return timelines.gemm()


def test_it_opens_from_a_file_and_asks_nobody_for_anything(gemm: Trace, show: Open) -> None:
    with show(gemm) as tab:
        assert tab.call("timeline.model.header.events") == gemm.events
        assert tab.call("timeline.model.count") == len(gemm.slices) + len(gemm.instants)
        assert tab.page.text_content("h1") == gemm.title
        assert "13,189 cycles (8.358 µs)" in (tab.page.text_content("#facts") or "")
        assert f"{gemm.events:,} events" in tab.status()


def test_all_slices_reach_the_page_unchanged(show: Open) -> None:
    trace = timelines.mixture(20_000, tracks=20)
    with show(trace) as tab:
        begin = np.array(tab.call("Array.from(timeline.model.begin)")) + trace.span[0]
        duration = np.array(tab.call("Array.from(timeline.model.duration)"))
        points = np.array(tab.call("Array.from(timeline.model.pointTime)")) + trace.span[0]
        values = np.array(tab.call("Array.from(timeline.model.pointValue)"))
    found = np.lexsort((duration, begin))
    wanted = np.lexsort((trace.slices.duration, trace.slices.begin))
    assert np.array_equal(begin[found], trace.slices.begin[wanted])
    assert np.array_equal(duration[found], trace.slices.duration[wanted])
    assert np.array_equal(points, trace.counters.time)
    assert np.array_equal(values, trace.counters.value)


def test_a_slice_is_where_it_belongs_and_a_click_says_what_it_is(gemm: Trace, show: Open) -> None:
    with show(gemm, view="#v=4000,6200") as tab:
        event = tab.call(FIND, ["compute_tile", 4600])
        x, y = tab.call(PLACE, event)
        colour = tab.call(
            """([x, y]) => {
                const box = timeline.picture.getBoundingClientRect();
                const at = [Math.round(x - box.left), Math.round(y - box.top + 6)];
                return Array.from(timeline.context.getImageData(...at, 1, 1).data.slice(0, 3));
            }""",
            [x, y],
        )
        assert colour == [0x32, 0x72, 0xC4]
        tab.page.mouse.click(x, y)
        assert "compute_tile, on M4 Max.core[0].threadgroup (0, 0).simdgroup[2]" in tab.status()
        details = tab.page.inner_text("#details")
        assert re.search(r"line\s+58", details)
        assert re.search(r"duration\s+366 cycles \(231\.9 ns\)", details)
        assert "load_A_tile on" in details  # where its data come from


def test_arrow_keys_go_along_the_row_and_along_flows(gemm: Trace, show: Open) -> None:
    with show(gemm) as tab:
        tab.call("(event) => timeline.select(event)", tab.call(FIND, ["load_A_tile", 4600]))
        first = tab.call("timeline.view.selected")
        tab.page.focus("#picture")
        tab.page.keyboard.press("ArrowRight")
        assert tab.call("timeline.view.selected") == first + 1
        tab.page.keyboard.press("ArrowLeft")
        tab.page.keyboard.press("Shift+ArrowRight")
        assert tab.status().startswith("compute_tile")
        target = tab.call("timeline.view.selected")
        assert tab.call("(i) => timeline.model.flowsTo(i).length", target) == 2
        tab.page.keyboard.press("Shift+ArrowLeft")
        assert tab.status().startswith("load_")
        tab.page.keyboard.press("ArrowDown")
        assert tab.call("timeline.view.selected") != target


def test_an_arrow_that_nobody_follows_says_so(gemm: Trace, show: Open) -> None:
    with show(gemm) as tab:
        tab.call("(event) => timeline.select(event)", tab.call(FIND, ["store_C", 0]))
        tab.page.focus("#picture")
        tab.page.keyboard.press("Shift+ArrowRight")
        assert tab.status() == "No arrow starts at this slice."


def test_the_wheel_zooms_at_the_pointer_and_a_drag_moves(gemm: Trace, show: Open) -> None:
    with show(gemm) as tab:
        box = tab.call("JSON.parse(JSON.stringify(timeline.picture.getBoundingClientRect()))")
        x, y = box["left"] + 700, box["top"] + 200
        under = "(x) => timeline.scale.time(x)"
        before = tab.call(under, 700)
        tab.page.mouse.move(x, y)
        tab.page.mouse.wheel(0, -300)
        tab.settle()
        view = tab.call("timeline.view")
        assert view["end"] - view["begin"] < gemm.span[1] * 0.8
        assert tab.call(under, 700) == pytest.approx(before, rel=1e-6)
        tab.page.mouse.down()
        tab.page.mouse.move(x + 100, y, steps=3)
        tab.page.mouse.up()
        assert tab.call(under, 800) == pytest.approx(before, rel=1e-3)


def test_shift_drag_measures_and_analyses_what_was_measured(gemm: Trace, show: Open) -> None:
    with show(gemm) as tab:
        box = tab.call("JSON.parse(JSON.stringify(timeline.picture.getBoundingClientRect()))")
        y = box["top"] + 60
        tab.page.keyboard.down("Shift")
        tab.page.mouse.move(box["left"] + 400, y)
        tab.page.mouse.down()
        tab.page.mouse.move(box["left"] + 700, y, steps=3)
        tab.page.mouse.up()
        tab.page.keyboard.up("Shift")
        begin, end = tab.call("timeline.view.range")
        assert end - begin == pytest.approx(300 * gemm.span[1] / (1280 - 210), rel=0.02)
        assert tab.status().startswith(f"Measured {round(end - begin):,} cycles (")
        assert f"{round(end - begin):,} cycles" in tab.page.inner_text("#analysis h2")
        tab.page.keyboard.press("Escape")
        assert tab.call("timeline.view.range") is None


def test_the_analysis_adds_up_to_what_the_trace_says(gemm: Trace, show: Open) -> None:
    slices = gemm.slices
    track = next(i for i, track in enumerate(gemm.tracks) if track.name == "simdgroup[0]")
    mine = slices.track == track
    causes = {cause.name: number for number, cause in enumerate(gemm.causes)}
    dram = int(slices.duration[mine & (slices.cause == causes["dram"])].sum())
    outer = int(slices.duration[mine & (slices.depth == 0)].sum())
    stalled = sum(
        int(slices.duration[mine & (slices.cause == number)].sum())
        for name, number in causes.items()
        if gemm.causes[number].group.value == "stalled"
    )
    whole = gemm.span[1] - gemm.span[0]
    shares = [outer - stalled, stalled, whole - outer]
    with show(gemm) as tab:
        row = tab.page.inner_text("#analysis tr:has(th[title='simdgroup[0]'])").strip().split("\t")
    assert [cell for cell in row if cell.endswith("%")][:3] == [
        f"{100 * share / whole:.1f} %" for share in shares
    ]
    assert row[-1] == f"dram {100 * dram / whole:.1f} %"


def test_overlapping_slices_count_once_in_the_analysis(show: Open) -> None:
    recorder = Recorder(Clock.nanoseconds(), title="two transfers at a time")
    track = recorder.track("XR", role=Role.DMA)
    recorder.slice(k.DMA, track, "first", 0, 60, bytes=1)
    recorder.slice(k.DMA, track, "second", 40, 40, bytes=1)
    recorder.slice(k.DMA, track, "third", 90, 10, bytes=1)
    with show(recorder.finish()) as tab:
        assert tab.page.inner_text("#analysis .number >> nth=3") == "90.0 %"


SEARCHES = {
    "load_A": 24,
    "COMPUTE": 48,
    "bytes>=4096": 96,
    "access=write": 48,
    "line=58": 48,
    "cause=dram": 18,
    "kind=phase": 98,
    "track=simdgroup[2]": 263,
    "name!=barrier": 823,
    "begin<700": 1,
    "duration>11000": 2,
    "nothing of the kind": 0,
}


def test_a_search_finds_names_and_arguments(gemm: Trace, show: Open) -> None:
    with_file = sum("file" in gemm.slice_arguments(i) for i in range(len(gemm.slices)))
    with show(gemm) as tab:
        tab.page.keyboard.press("/")
        assert tab.call("document.activeElement.id") == "search"
        for text, expected in {**SEARCHES, "gemm.metal": with_file}.items():
            tab.page.fill("#search", text)
            assert tab.call("timeline.state.search.count") == expected, text
            assert f"{expected:,} match" in (tab.page.text_content("#found") or "")


def test_enter_goes_from_match_to_match(gemm: Trace, show: Open) -> None:
    with show(gemm, view="#v=0,300") as tab:
        tab.page.keyboard.press("/")
        tab.page.keyboard.type("store_C")
        tab.page.keyboard.press("Enter")
        assert tab.status().startswith("store_C, on M4 Max.core[0].threadgroup (0, 0).simdgroup[2]")
        view = tab.call("timeline.view")
        event = view["selected"]
        assert view["begin"] < tab.call("(i) => timeline.model.begin[i]", event) < view["end"]
        tab.page.keyboard.press("Enter")
        assert "simdgroup[3]" in tab.status()
        assert tab.page.text_content("#found") == "2 of 2"


def test_a_closed_group_shows_its_tracks_in_small_and_opens_again(gemm: Trace, show: Open) -> None:
    with show(gemm) as tab:
        lines = tab.call("timeline.lines.lines.length")
        tab.page.focus("#picture")
        tab.page.keyboard.press("c")
        tab.settle()
        assert tab.call("timeline.lines.lines.map((line) => line.shape)") == [
            "slices",
            "slices",
            "thumbnail",
        ]
        drawn = tab.call("timeline.draw().scrolled")
        assert len(drawn["rects"]) + len(drawn["runs"]) > 100
        tab.page.keyboard.press("o")
        assert tab.call("timeline.lines.lines.length") == lines


def test_a_click_on_a_label_closes_the_group(gemm: Trace, show: Open) -> None:
    with show(gemm) as tab:
        lines = tab.call("timeline.lines.lines.length")
        y = tab.call(
            "timeline.picture.getBoundingClientRect().top + timeline.top"
            " + timeline.lines.lines.find((line) => line.label === 'threadgroup (0, 0)').y + 8"
        )
        tab.page.mouse.click(60, y)
        assert tab.call("timeline.lines.lines.length") == lines - 4
        assert tab.status() == "threadgroup (0, 0) is closed"


def test_a_pinned_row_stays_on_top(gemm: Trace, show: Open) -> None:
    with show(gemm) as tab:
        tab.call("(event) => timeline.select(event)", tab.call(FIND, ["compute_tile", 4600]))
        tab.page.focus("#picture")
        tab.page.keyboard.press("p")
        tab.settle()
        assert tab.call("timeline.lines.pinned.map((line) => line.label)") == [
            "M4 Max.core[0].threadgroup (0, 0).simdgroup[2]"
        ]
        assert len(tab.call("timeline.draw().pinned.rects")) > 20
        assert tab.call("timeline.pick(800, 40).pinned")


def test_the_address_brings_the_view_back(gemm: Trace, show: Open) -> None:
    with show(gemm) as tab:
        tab.call("(event) => timeline.select(event)", tab.call(FIND, ["compute_tile", 4600]))
        tab.call("timeline.setView(4000, 5000); timeline.setRange([4100, 4200]);")
        tab.call("timeline.setUnit('time'); timeline.pin(timeline.model.tracks[5]);")
        tab.call("timeline.toggle(timeline.model.tracks[4]); timeline.search('tile');")
        tab.until("location.hash.includes('q=tile')")  # it is written a little later
        address = tab.call("location.hash")
        before = tab.call("timeline.view")
        closed = tab.call("[...timeline.state.closed]")
    with show(gemm, view=address) as tab:
        assert tab.call("timeline.view") == before
        assert tab.call("[...timeline.state.closed]") == closed
        assert tab.call("timeline.state.pinned") == [5]
        assert tab.call("timeline.state.search.text") == "tile"
        assert tab.page.input_value("#search") == "tile"


def test_an_address_that_makes_no_sense_is_passed_over(gemm: Trace, show: Open) -> None:
    senseless = ("#v=9,1", "#s=999999", "#s=x&y=-4", "#c=77,-1&p=12345", "#r=5&u=weeks", "#%%%")
    with show(gemm, view="#v=NaN,1&s=-7") as tab:
        for address in ("", *senseless):
            tab.call("(address) => { if (address) location.hash = address; }", address)
            tab.settle()
            view = tab.call("timeline.view")
            assert (view["begin"], view["end"]) == (0, gemm.span[1]), address
            assert (view["selected"], view["range"], view["unit"]) == (-1, None, "cycles"), address


def test_the_axis_counts_cycles_or_seconds(gemm: Trace, show: Open) -> None:
    with show(gemm) as tab:
        assert tab.call("timeline.time.text(1578)") == "1,578 cycles"
        tab.page.click("#unit")
        assert tab.call("timeline.time.text(1578)") == "1 µs"
        assert tab.call("timeline.time.mark(1578, timeline.time.step(500))") == "1.0 µs"
        assert tab.page.text_content("#unit") == "time"


def test_a_trace_in_picoseconds_has_no_cycles(show: Open) -> None:
    recorder = Recorder(Clock.picoseconds(), title="two clocks")
    track = recorder.track("host", role=Role.HOST)
    recorder.slice(k.HOST_CALL, track, "call", 0, 2_500_000)
    with show(recorder.finish()) as tab:
        assert not tab.page.is_visible("#unit")
        assert "2.5 µs" in (tab.page.text_content("#facts") or "")
        assert "cycle" not in tab.page.inner_text("body")


def test_light_and_dark_follow_the_system_and_the_button(gemm: Trace, show: Open) -> None:
    background = "Array.from(timeline.context.getImageData(700, 3, 1, 1).data.slice(0, 3))"
    with show(gemm, dark=True) as tab:
        assert max(tab.call(background)) < 60
        tab.page.click("#theme")
        tab.settle()
        assert min(tab.call(background)) > 200


def test_counters_show_their_value_under_the_pointer(gemm: Trace, show: Open) -> None:
    with show(gemm) as tab:
        track = next(i for i, track in enumerate(gemm.tracks) if track.name == "simdgroups")
        value = """([track, time]) => {
            const { counter } = timeline.model.tracks[track];
            return timeline.model.pointValue[timeline.model.pointAt(counter, time)];
        }"""
        assert tab.call(value, [track, 5000]) == 4
        assert tab.call(value, [track, gemm.span[1]]) == 0
        areas = tab.call("timeline.scroller.scrollTop = 1e6, timeline.draw().scrolled.areas")
        assert len(areas) == 2


def test_a_memory_is_drawn_by_address(show: Open) -> None:
    recorder = Recorder(Clock.nanoseconds(), title="memory")
    track = recorder.track("LRAM", role=Role.MEMORY, capacity=1000)
    recorder.slice(k.ALLOCATION, track, "low", 0, 50, offset=0, bytes=250)
    recorder.slice(k.ALLOCATION, track, "high", 25, 75, offset=500, bytes=500)
    with show(recorder.finish()) as tab:
        (low, high) = sorted(tab.call("timeline.draw().scrolled.rects"), key=lambda rect: -rect[1])
        reach = 112
        assert low[3] == pytest.approx(reach / 4, abs=1)
        assert high[3] == pytest.approx(reach / 2, abs=1)
        assert low[1] - high[1] == pytest.approx(reach * 3 / 4, abs=1)
        x, y = high[0] + high[2] / 2, high[1] + high[3] / 2
        event = tab.call("([x, y]) => timeline.pick(x, y).event", [x, y])
        assert tab.call("(i) => timeline.model.names[timeline.model.name[i]]", event) == "high"


def test_the_palette_of_a_page_without_events_is_empty_and_it_says_so(show: Open) -> None:
    with show(Recorder(Clock.nanoseconds(), title="").finish()) as tab:
        assert tab.status() == "The trace is empty: nothing was recorded."
        assert tab.page.text_content("h1") == "Timeline"
        for key in ("ArrowDown", "ArrowRight", "w", "s", "0", "p", "m", "n", "Enter", "c", "o"):
            tab.page.keyboard.press(key)
        tab.settle()


def test_everything_can_be_reached_by_the_keyboard_alone(gemm: Trace, show: Open) -> None:
    with show(gemm) as tab:
        reached = set()
        for _ in range(50):
            tab.page.keyboard.press("Tab")
            reached.add(tab.call("document.activeElement.id"))
        assert {"search", "unit", "fit", "links", "theme", "keys", "picture", "analysis"} <= reached
        assert tab.call("document.getElementById('status').getAttribute('role')") == "status"


def test_a_narrow_window_still_shows_slices(gemm: Trace, show: Open) -> None:
    with show(gemm, size=(420, 700)) as tab:
        assert tab.call("timeline.size.labels") < 150
        assert tab.call("document.documentElement.scrollWidth") <= 420
        drawn = tab.call("timeline.draw().scrolled")
        assert len(drawn["rects"]) + len(drawn["runs"]) > 10


def test_a_recording_that_was_cut_off_is_called_incomplete(show: Open) -> None:
    recorder = Recorder(Clock.nanoseconds(), title="crash")
    recorder.slice(k.HOST_CALL, recorder.track("host", role=Role.HOST), "call", 0, 5)
    trace = dataclasses.replace(recorder.finish(), complete=False, notes=("1 event is lost",))
    with show(trace) as tab:
        assert "the recording was cut off" in (tab.page.text_content("#facts") or "")
        assert tab.page.text_content("#notes") == "1 event is lost"


def test_what_a_core_does_unseen_is_not_called_idle(show: Open) -> None:
    recorder = Recorder(Clock.cycles("GPU", 10**9))
    core = recorder.track("core 0", role=Role.CORE)
    track = recorder.track("simdgroup 0", core, Role.SIMDGROUP)
    other = recorder.track("simdgroup 1", core, Role.SIMDGROUP)
    recorder.slice(k.PHASE, track, "load", 0, 500)
    recorder.slice(k.PHASE, other, "load", 0, 500)
    recorder.slice(k.PHASE, other, "other kernel", 700, 300)
    early = recorder.track("simdgroup 2", core, Role.SIMDGROUP)
    recorder.slice(k.PHASE, early, "load", 0, 300)
    recorder.instant(k.UNSEEN, core, "gemm: goes on", 500, ticks=400, seen=500)
    recorder.instant(k.UNSEEN, core, "gemm: goes on", 500, ticks=200, seen=500)
    with show(recorder.finish()) as tab:
        rows = [
            tab.page.inner_text(f"#analysis tr:has(th[title='simdgroup {number}'])").split("\t")
            for number in range(3)
        ]
        head = tab.page.inner_text("#analysis thead").split("\t")
    assert [word.strip() for word in head][2:6] == ["busy", "stalled", "idle", "unseen"]
    assert [[cell for cell in row if cell.endswith("%")][:4] for row in rows] == [
        ["50.0 %", "0.0 %", "10.0 %", "40.0 %"],
        ["80.0 %", "0.0 %", "0.0 %", "20.0 %"],
        ["30.0 %", "0.0 %", "10.0 %", "60.0 %"],
    ]
