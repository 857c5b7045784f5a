"""What is drawn is what a slow, obvious drawing would draw; and it costs pixels, not events."""

from __future__ import annotations

import pytest

from assay.traces.events import kinds as k
from assay.traces.events.clock import Clock
from assay.traces.events.schema import Role
from assay.traces.events.trace import Trace
from assay.traces.record.recorder import Recorder
from tests.support import timelines

from .conftest import Open

# Rows that are drawn otherwise than slice by slice, in any of some views; each as a text.
WRONG_ROWS = """() => {
  const { model } = timeline;
  const wrong = [];
  timeline.size = { width: 900, height: 700, ratio: 1, labels: 100 };
  const compare = (row, scale) => {
    const list = { strips: [], rects: [], texts: [] };
    const columns = new Set();
    const wide = new Set();
    for (let i = model.rowFirst[row]; i < model.rowFirst[row + 1]; i++) {
      const [x, end] = [scale.x(model.begin[i]), scale.x(model.end(i))];
      if (end <= scale.left || x >= scale.right || model.end(i) <= scale.begin) continue;
      if (end - x >= 4) wide.add(`${Math.max(Math.round(x), scale.left)} ${model.paint[i]}`);
      else if (end - x < 1.6) columns.add(Math.floor(x));
      else for (let at = Math.round(x); at < Math.max(Math.round(end), Math.round(x) + 1); at++) {
        columns.add(at);
      }
    }
    const y = Math.round(timeline.lines.rowY[row] + timeline.top - timeline.state.scroll - 9);
    const drawn = timeline.drawn().scrolled;
    const rects = drawn.rects.filter((rect) => rect[1] === y);
    const runs = drawn.runs.filter((run) => run[1] === y);
    for (const [x, , , , style] of rects) {
      if (!wide.delete(`${x} ${style >> 5}`)) wrong.push(`row ${row}: too much at ${x}`);
    }
    if (wide.size) wrong.push(`row ${row}: ${wide.size} slices are missing`);
    const pixels = ([x, , width]) => Array.from({ length: width }, (_, i) => x + i);
    const painted = new Set(runs.flatMap(pixels));
    const inside = [...columns].filter((x) => x >= scale.left && x < scale.right);
    const missing = inside.filter((x) => !painted.has(x));
    const extra = [...painted].filter((x) => !columns.has(x));
    if (missing.length || extra.length) wrong.push(`row ${row}: pixels ${missing} / ${extra}`);
  };
  for (const [begin, end] of [[0, 1], [0.2, 0.7], [0.31, 0.33], [0.5, 0.5004]]) {
    timeline.state.begin = begin * model.span;
    timeline.state.end = end * model.span;
    timeline.plan();
    for (const line of timeline.visible()) {
      if (line.shape !== "slices" || line.y > 500) continue;
      for (let row = line.track.firstRow; row < line.track.lastRow; row++) {
        if (!model.rowInstants[row]) compare(row, timeline.scale);
      }
    }
  }
  return wrong;
}"""


@pytest.mark.parametrize(
    "trace",
    [timelines.gemm(), timelines.npu(), timelines.mixture(30_000, tracks=8)],
    ids=["gemm", "npu", "mixture"],
)
def test_every_slice_is_drawn_where_it_belongs(trace: Trace, show: Open) -> None:
    with show(trace) as tab:
        assert tab.call(WRONG_ROWS) == []


def test_the_longest_of_a_range_is_found_wherever_it_begins_and_ends(show: Open) -> None:
    with show(timelines.mixture(9000, tracks=4)) as tab:
        wrong = tab.call(
            """() => {
                const { duration, peaks, count } = timeline.model;
                let state = 1;
                const random = (below) => (state = (state * 48271) % 2147483647) % below;
                const wrong = [];
                for (let i = 0; i < 3000; i++) {
                    const first = random(count - 1);
                    const last = first + 1 + random(Math.min(count - first, 1 + random(6000)));
                    const most = duration.subarray(first, last).reduce((a, b) => Math.max(a, b));
                    const best = peaks.of(first, last);
                    const inside = best >= first && best < last;
                    if (!inside || duration[best] !== most) wrong.push([first, last, best]);
                }
                return wrong;
            }"""
        )
    assert wrong == []


@pytest.mark.slow
def test_the_cost_of_a_drawing_follows_pixels_not_events(show: Open) -> None:
    """Counts searches, not seconds: eight times the events in the same room."""
    searches = []
    for events in (200_000, 1_600_000):
        with show(timelines.mixture(events, tracks=8)) as tab:
            searches.append(
                tab.call(
                    """() => {
                        const { model } = timeline;
                        let calls = 0;
                        for (const name of ["nextFrom", "firstAfter"]) {
                            const original = model[name].bind(model);
                            model[name] = (...given) => (calls++, original(...given));
                        }
                        const value = model.peaks.value;
                        model.peaks.value = (i) => (calls++, value(i));
                        timeline.closeAll(false);
                        timeline.fit();
                        timeline.plan();
                        return calls;
                    }"""
                )
            )
    assert searches[0] > 10_000
    assert searches[1] < 3 * searches[0]  # the logarithm of the events


def test_an_arrow_ends_where_the_wait_for_it_ends(show: Open) -> None:
    recorder = Recorder(Clock.nanoseconds(), title="a load that was waited for")
    memory = recorder.track("memory", role=Role.DMA)
    simdgroup = recorder.track("simdgroup", role=Role.SIMDGROUP)
    load = recorder.slice(k.DMA, memory, "load", 10, 50, bytes=4)
    use = recorder.slice(k.PHASE, simdgroup, "use", 0, 100)
    for cause, begin, end in (("issue", 0, 20), ("dram", 20, 65), ("issue", 65, 100)):
        recorder.slice(k.STEP, simdgroup, cause, begin, end - begin, cause)
    after = recorder.slice(k.PHASE, simdgroup, "after", 120, 10)
    recorder.flow(k.DATA, load, use)
    recorder.flow(k.DATA, load, after)
    with show(recorder.finish()) as tab:
        tab.call("timeline.draw()")
        ends = tab.call("timeline.links.map((link) => timeline.scale.time(link.toX))")
        begins = tab.call("timeline.links.map((link) => timeline.scale.time(link.x))")
    assert begins == pytest.approx([60, 60])
    assert sorted(ends) == pytest.approx([65, 120])


def test_shares_of_a_pixel_show_as_shades(show: Open) -> None:
    recorder = Recorder(Clock.nanoseconds(), title="half the time")
    half = recorder.track("half", role=Role.SIMDGROUP)
    full = recorder.track("full", role=Role.SIMDGROUP)
    for i in range(20_000):
        recorder.slice(k.PHASE, half, "work", 10 * i, 5)
        recorder.slice(k.PHASE, full, "work", 10 * i, 10)
    with show(recorder.finish()) as tab:
        tab.call("timeline.fit()")
        runs = tab.call("timeline.draw().scrolled.runs")
    shades: dict[int, set[int]] = {}
    for _, y, _, _, style in runs:
        shades.setdefault(y, set()).add(style >> 1 & 15)
    first, second = (shades[y] for y in sorted(shades))
    assert first <= {7, 8}
    assert second == {15}


def test_a_capacity_is_the_top_of_a_counter_unless_it_hides_the_curve(show: Open) -> None:
    recorder = Recorder(Clock.nanoseconds(), title="counters")
    for name, capacity in (("near", 100), ("far", 10_000), ("none", None)):
        track = recorder.track(name, role=Role.COUNTER, unit="GB/s", capacity=capacity)
        for time, value in ((0, 0.0), (10, 50.0), (20, 25.0)):
            recorder.counters()(track, time, value)
    with show(recorder.finish()) as tab:
        areas = tab.call("timeline.draw().scrolled.areas")
        bottoms = tab.call("timeline.lines.lines.map((line) => timeline.top + line.y + 41)")
    shares = [(bottom - min(area[1::2])) / 36 for area, bottom in zip(areas, bottoms, strict=True)]
    assert shares == [0.5, 1.0, 1.0]


def test_a_memory_of_which_little_is_used_is_scaled_to_what_is_used(show: Open) -> None:
    recorder = Recorder(Clock.nanoseconds(), title="a corner of a memory")
    track = recorder.track("LRAM", role=Role.MEMORY, capacity=512 * 1024)
    recorder.slice(k.ALLOCATION, track, "all of it", 0, 50, offset=0, bytes=8192)
    with show(recorder.finish()) as tab:
        (rect,) = tab.call("timeline.draw().scrolled.rects")
    assert rect[3] > 100


def test_it_opens_on_the_cores_if_they_were_looked_at_for_a_small_part(show: Open) -> None:
    recorder = Recorder(Clock.nanoseconds(), title="a sample of a long dispatch")
    host = recorder.track("host", role=Role.HOST)
    recorder.slice(k.HOST_CALL, host, "wait", 0, 100_000)
    simdgroup = recorder.track("simdgroup", role=Role.SIMDGROUP)
    recorder.slice(k.PHASE, simdgroup, "compute", 40_000, 1000)
    with show(recorder.finish()) as tab:
        view = tab.call("timeline.view")
        assert 39_000 < view["begin"] < 40_000
        assert "1 µs in which cores were at work" in tab.page.inner_text("#analysis h2")
        assert 41_000 < view["end"] < 42_000
        tab.page.wait_for_timeout(400)
        assert tab.call("location.hash") == ""
        tab.page.keyboard.press("0")
        tab.until("location.hash === '#v=0%2C100000'")


def test_it_opens_on_the_units_of_an_npu_too(show: Open) -> None:
    recorder = Recorder(Clock.nanoseconds(), title="a short program")
    host = recorder.track("host", role=Role.HOST)
    recorder.slice(k.HOST_CALL, host, "copy", 0, 100_000)
    unit = recorder.track("SLC0", role=Role.UNIT)
    recorder.slice(k.UNIT_STEP, unit, "add", 40_000, 1000, "busy")
    with show(recorder.finish()) as tab:
        view = tab.call("timeline.view")
        assert 39_000 < view["begin"] < 40_000 and 41_000 < view["end"] < 42_000
        assert "1 µs in which the NPU's units were at work" in tab.page.inner_text("#analysis h2")


@pytest.mark.parametrize("height", [480, pytest.param(1400, marks=pytest.mark.slow)])
def test_it_opens_so_far_down_that_simdgroups_can_be_seen(height: int, show: Open) -> None:
    trace = timelines.gemm()
    with show(trace, size=(1000, height)) as tab:
        number = tab.call("timeline.model.tracks.find((t) => t.role === 'simdgroup').number")
        tab.settle()
        seen = tab.call("timeline.visible().map((line) => line.track.number)")
        assert number in seen
        assert tab.call("timeline.visible()[0].y") == tab.call("timeline.state.scroll")
        tab.page.wait_for_timeout(400)
        assert tab.call("location.hash") == ""
        if height == 1400:
            assert tab.call("timeline.state.scroll") == 0
        else:
            tab.call("timeline.scroller.scrollTop = 0")
            tab.until("location.hash === '#y=0'")
    with show(trace, size=(1000, 480), view="#y=0") as tab:
        assert tab.call("timeline.state.scroll") == 0


def test_of_thousands_of_slices_it_opens_on_some(show: Open) -> None:
    recorder = Recorder(Clock.nanoseconds(), title="a sample of a long dispatch")
    host = recorder.track("host", role=Role.HOST)
    recorder.slice(k.HOST_CALL, host, "wait", 0, 1_000_000)
    simdgroup = recorder.track("simdgroup", role=Role.SIMDGROUP)
    for i in range(2000):
        recorder.slice(k.PHASE, simdgroup, "compute", 40_000 + 100 * i, 100)
    with show(recorder.finish()) as tab:
        texts = tab.call("timeline.draw().scrolled.texts.length")
        assert 30 < texts < 50
        assert "a part is shown, Fit shows all" in tab.status()


def test_long_names_that_begin_alike_are_told_apart_where_they_are_cut(show: Open) -> None:
    recorder = Recorder(Clock.cycles("GPU", 10**9))
    track = recorder.track("queue 0", role=Role.QUEUE)
    names = [f"main_dispatch_with_a_long_name_in_common_{each}_64_f32" for each in "ab"]
    for number, name in enumerate(names):
        recorder.slice(k.PHASE, track, name, 1000 * number, 900)
    with show(recorder.finish()) as tab:
        cut = tab.call(
            """() => {
                const { texts } = timeline;
                const names = Array.from(timeline.model.names).filter((name) => name.includes("_"));
                return names.map((name) => [texts.cut(name, 150), texts.cut(name, 60)]);
            }"""
        )
        shown = tab.page.locator("td.name .link").all_text_contents()
    (first, small), (second, _) = cut
    assert first != second and first.startswith("main_d") and first.endswith("_f32")
    assert small.endswith("…")
    assert sorted(shown) == sorted(names)
