"""Several runs in one page lie one above the other; rows that end say how they go on."""

from __future__ import annotations

import pytest

from assay.traces import Clock, Recorder, Role, Trace
from assay.traces.events.kinds import DISPATCH, PHASE, SHARE, UNSEEN
from assay.traces.record.merge import merged

from .conftest import Open

LABELS = "timeline.lines.lines.map((line) => line.label)"


def run(kernel: str, length: int, *, unseen: int = 0, resident: int = 4) -> Trace:
    """A core with a partition, a counter and two simdgroups, all of one kernel."""
    recorder = Recorder(Clock.nanoseconds(), title=f"{length} ns predicted: {kernel}")
    recorder.slice(DISPATCH, recorder.track("queue"), kernel, 0, length + unseen)
    core = recorder.track("core 0", recorder.track("GPU"), Role.CORE)
    partition = recorder.track("partition 0", core, Role.PARTITION)
    recorder.slice(SHARE, partition, "l2", 0, length, "l2")
    counter = recorder.track("resident", core, Role.COUNTER, unit="simdgroups")
    recorder.counters()(counter, 0, resident)
    place = recorder.track("threadgroup place 0", core)
    for number in range(2):
        track = recorder.track(f"simdgroup {number}", place, Role.SIMDGROUP)
        recorder.slice(PHASE, track, kernel, 0, length // (number + 1))
    if unseen:
        text = "goes on likewise: 1 of 9 threadgroups were simulated"
        recorder.instant(UNSEEN, core, text, length, ticks=unseen, seen=length)
    return recorder.finish()


@pytest.fixture(scope="module")
def both() -> Trace:
    runs = [run("naive", 4000, resident=96), run("padded", 1000, unseen=3000, resident=40)]
    return merged(runs, ["naive", "padded"])


def test_matching_tracks_lie_one_above_the_other(both: Trace, show: Open) -> None:
    with show(both) as tab:
        labels = tab.call(LABELS)
        for one in ("partition 0", "simdgroup 0", "simdgroup 1"):
            place = labels.index(f"{one} · naive")
            assert labels[place + 1] == f"{one} · padded"
        title = tab.page.text_content("h1")
        assert title == "4000 ns predicted: naive | 1000 ns predicted: padded"


def test_what_matches_has_one_scale(both: Trace, show: Open) -> None:
    with show(both) as tab:
        tops = tab.call(
            "timeline.lines.lines.filter((line) => line.shape === 'counter')"
            ".map((line) => line.track.shared)"
        )
        assert tops == [96, 96]


def test_closing_a_group_closes_it_in_all_runs(both: Trace, show: Open) -> None:
    with show(both) as tab:
        tab.call(
            "timeline.toggle(timeline.model.tracks"
            ".findLast((track) => track.name === 'threadgroup place 0'))"
        )
        labels = tab.call(LABELS)
        assert not any(label.startswith("simdgroup") for label in labels)
        assert {"threadgroup place 0 · naive", "threadgroup place 0 · padded"} <= set(labels)


def test_partitions_are_summed_for_each_run(both: Trace, show: Open) -> None:
    with show(merged([run("a", 100), run("b", 50)], ["a", "b"])) as tab:
        text = tab.page.inner_text("#analysis")
        assert "a.GPU.core 0.partition 0" in text and "b.GPU.core 0.partition 0" in text


def test_a_row_that_ends_early_says_why(show: Open) -> None:
    with show(run("padded", 1000, unseen=3000)) as tab:
        texts = tab.call(
            "timeline.draw() && timeline.lists.scrolled.texts"
            ".map((t) => timeline.model.names[timeline.model.name[t.event]])"
        )
        words = [text for text in texts if text.startswith("goes on likewise")]
        assert len(words) == 3  # The core and each simdgroup.
