"""Traces side by side: each says what it said, on one axis of time."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.traces import Clock, Form, Kind, Recorder, Role, Trace
from assay.traces.events.kinds import PHASE
from assay.traces.record.merge import merged, rescaled
from tests.support.traces import told, traces


@settings(max_examples=20, deadline=None)
@given(traces(), traces())
def test_each_of_the_merged_traces_says_what_it_said(one: Trace, other: Trace) -> None:
    clock = Clock.nanoseconds()
    one, other = replace(one, clock=clock), replace(other, clock=clock)
    both = told(merged([one, other], ["one", "other"]))
    assert len(both["slices"]) == len(one.slices) + len(other.slices)
    for name, trace in (("one", one), ("other", other)):
        said = told(trace)
        for key, at in (("slices", 3), ("instants", 1), ("counters", 1)):
            mine = [
                (event[0][1:], *event[1:at], event[at] + trace.span[0], *event[at + 1 :])
                for event in both[key]
                if event[0][0] == name
            ]
            assert sorted(mine, key=repr) == sorted(said[key], key=repr)
    assert len(both["flows"]) == len(one.flows) + len(other.flows)
    kinds = [kind for trace in (one, other) for _, _, kind in told(trace)["flows"]]
    assert sorted(kind for _, _, kind in both["flows"]) == sorted(kinds)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 10**12)), st.integers(1, 2**33), st.integers(1, 2**33))
def test_times_are_rounded_once_and_exactly(ticks: list[int], source: int, target: int) -> None:
    clocks = (Clock.cycles("a", source), Clock.cycles("b", target))
    ticks = [tick for tick in ticks if tick * target < 2**61 * source]
    found = rescaled(np.array(ticks, np.int64), *clocks).tolist()
    for tick, moved in zip(ticks, found, strict=True):
        assert abs(moved - Fraction(tick * target, source)) <= Fraction(1, 2)


def test_traces_of_different_clocks_share_an_axis_in_picoseconds() -> None:
    def run(clock: Clock, duration: int) -> Trace:
        taker = Recorder(clock)
        taker.slice(PHASE, taker.track("core", role=Role.CORE), "load", 5, duration)
        return taker.finish()

    both = merged(
        [run(Clock.cycles("M1", 1_278_000_000), 1278), run(Clock.nanoseconds(), 1000)],
        ["predicted", "measured"],
    )
    assert both.clock == Clock.picoseconds()
    assert [str(track) for track in both.tracks if track.role is Role.CORE] == [
        "predicted.core",
        "measured.core",
    ]
    assert both.slices.begin.tolist() == [0, 0]
    assert both.slices.duration.tolist() == [1_000_000, 1_000_000]


def test_words_that_all_titles_end_with_stand_once() -> None:
    def titled(title: str) -> Trace:
        return Recorder(Clock.nanoseconds(), title=title).finish()

    names = ["a", "b"]
    for titles, joined in (
        (
            ["1 us: a of k.metal on M1", "2 us: b of k.metal on M1"],
            "1 us: a | 2 us: b of k.metal on M1",
        ),
        (["one", "two"], "one | two"),
        (["same", "same"], "same | same"),
        (["", ""], "a | b"),
    ):
        assert merged([titled(title) for title in titles], names).title == joined


def test_different_kinds_of_one_name_stay_apart() -> None:
    def run(text: str) -> Trace:
        kind = Kind(name="render", form=Form.SLICE, category="foreign", text=text)
        taker = Recorder(Clock.nanoseconds())
        taker.slice(kind, taker.track("x"), "frame", 0, 5)
        return taker.finish()

    both = merged([run("One."), run("Another."), run("One.")], ["a", "b", "c"])
    kinds = [both.kinds[number].name for number in both.slices.kind]
    assert kinds == ["render", "render (other)", "render"]


@pytest.mark.parametrize("complete", [True, False])
def test_notes_name_the_trace_they_are_about(complete: bool) -> None:
    trace = replace(Recorder(Clock.nanoseconds()).finish(), complete=complete, notes=("cut off",))
    both = merged([trace, trace], ["a", "b"])
    assert both.notes == ("a: cut off", "b: cut off")
    assert both.complete is complete
