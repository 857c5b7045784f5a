"""Summaries and comparisons, held to sums that were made by going through every tick."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.traces import Clock, Group, Recorder, Role, Trace, TraceError
from assay.traces.events.compare import compare_traces
from assay.traces.events.kinds import (
    ALLOCATION,
    COMMAND_BUFFER,
    DATA,
    DISPATCH,
    DMA,
    HOST_CALL,
    HOST_WAIT,
    PHASE,
    STEP,
    SUBMISSION,
)
from assay.traces.events.path import critical_path
from assay.traces.events.schema import NO_CAUSE, Kind
from assay.traces.events.statistics import counter_uses
from assay.traces.events.summary import summarise
from tests.support.traces import traces

few = settings(max_examples=40, deadline=None)


def gpu(*, hz: int = 10**9) -> Recorder:
    return Recorder(Clock.cycles("GPU", hz), title="run")


@few
@given(traces(), st.integers(0, 130), st.integers(0, 130))
def test_tracks_spend_each_tick_as_the_innermost_slice_says(
    trace: Trace, one: int, other: int
) -> None:
    begin, end = sorted((one, other))
    uses = {use.track: use for use in summarise(trace, begin=begin, end=end).tracks}
    for number, track in enumerate(trace.tracks):
        use = uses.get(str(track))
        mine = [i for i in range(len(trace.slices)) if trace.slices.track[i] == number]
        assert (use is None) == (not mine)
        if use is not None:
            expected = {"busy": 0, "stalled": 0, "idle": 0}
            for tick in range(begin, end):
                expected[_state(trace, mine, tick).value] += 1
            assert expected == {"busy": use.busy, "stalled": use.stalled, "idle": use.idle}
            assert sum(use.causes.values()) <= end - begin


def _state(trace: Trace, mine: list[int], tick: int) -> Group:
    """What a track does at a tick: work on any lane before waiting on another."""
    slices = trace.slices
    covering = [i for i in mine if slices.begin[i] <= tick < slices.end[i]]
    innermost = [i for i in covering if not any(slices.parent[j] == i for j in covering)]
    states = [_group(trace, i) for i in innermost]
    return next((g for g in (Group.BUSY, Group.STALLED) if g in states), Group.IDLE)


def _group(trace: Trace, at: int) -> Group:
    while trace.slices.cause[at] == NO_CAUSE:
        at = int(trace.slices.parent[at])
        if at < 0:
            return Group.BUSY
    return trace.causes[trace.slices.cause[at]].group


@few
@given(traces())
def test_names_count_and_sum_all_slices(trace: Trace) -> None:
    uses = summarise(trace).names
    assert sum(use.count for use in uses) == len(trace.slices)
    assert sum(use.total for use in uses) == trace.slices.duration.sum()
    for use in uses:
        durations = sorted(
            int(trace.slices.duration[i])
            for i in range(len(trace.slices))
            if trace.names[trace.slices.name[i]] == use.name
            and trace.kinds[trace.slices.kind[i]].name == use.kind
        )
        assert (use.least, use.most) == (durations[0], durations[-1])
        assert use.median == durations[(len(durations) + 1) // 2 - 1]
        assert use.own <= use.total


@few
@given(traces(), st.integers(0, 130), st.integers(0, 130))
def test_the_critical_path_fills_the_time_to_the_last_end(
    trace: Trace, one: int, other: int
) -> None:
    begin, end = sorted((one, other))
    path = critical_path(trace, begin, end)
    if path:
        last = min(int(trace.slices.end[path[-1].slice]), end)
        assert sum(link.ticks + link.wait for link in path) == last - begin
        assert all(link.ticks >= 0 and link.wait >= 0 for link in path)


def test_the_critical_path_ends_where_flows_go_round_before_the_range() -> None:
    taker = gpu()
    channel = taker.track("dma", -1, Role.DMA)
    one, other = (
        taker.slice(DMA, channel, "one", 39, 44),
        taker.slice(DMA, channel, "other", 46, 47),
    )
    taker.flow(DATA, one, other)
    taker.flow(DATA, other, one)
    (link,) = critical_path(taker.finish(), 63, 77)
    assert (link.ticks, link.wait) == (14, 0)


def test_the_critical_path_follows_flows_to_what_was_waited_for() -> None:
    taker = gpu()
    host, channel, core = taker.track("host"), taker.track("dma", -1, Role.DMA), taker.track("core")
    commit = taker.slice(HOST_CALL, host, "commit", 0, 10)
    read = taker.slice(DMA, channel, "read", 12, 30)
    taker.slice(PHASE, core, "earlier", 0, 20)
    compute = taker.slice(PHASE, core, "compute", 45, 55)
    taker.flow(DATA, commit, read)
    taker.flow(DATA, read, compute)
    path = [(use.name, use.ticks, use.wait) for use in summarise(taker.finish()).path]
    assert path == [("compute", 55, 3), ("read", 30, 2), ("commit", 10, 0)]


def test_the_critical_path_goes_through_what_stands_around_and_past_what_only_waits() -> None:
    taker = gpu()
    host, queue = taker.track("host"), taker.track("queue")
    buffers = taker.track("command buffers", queue)
    commit = taker.slice(HOST_CALL, host, "commit", 0, 10)
    taker.slice(HOST_CALL, host, "waitUntilCompleted", 10, 190)
    taker.slice(HOST_WAIT, host, "wait", 10, 190, "device")
    buffer = taker.slice(COMMAND_BUFFER, buffers, "command buffer", 15, 170)
    taker.flow(SUBMISSION, commit, buffer)
    dispatches = taker.track("dispatches", queue)
    taker.slice(DISPATCH, dispatches, "first", 20, 60)
    taker.slice(DISPATCH, dispatches, "second", 90, 80)
    path = [(use.name, use.ticks, use.wait) for use in summarise(taker.finish()).path]
    assert path == [("second", 80, 10), ("first", 60, 10), ("commit", 10, 0)]


def test_memories_tell_their_peak_and_counters_their_mean_by_time() -> None:
    taker = gpu()
    memory = taker.track("LRAM", -1, Role.MEMORY, capacity=100)
    taker.slice(ALLOCATION, memory, "a", 0, 10, offset=0, bytes=30)
    taker.slice(ALLOCATION, memory, "b", 5, 10, offset=30, bytes=40)
    taker.slice(ALLOCATION, memory, "c", 10, 10, offset=0, bytes=20)
    counter = taker.track("bandwidth", -1, Role.COUNTER, unit="GB/s")
    emit = taker.counters()
    emit(counter, 0, 10)
    emit(counter, 15, 30)
    summary = summarise(taker.finish())
    (memory_use,) = summary.memories
    assert (memory_use.peak, memory_use.time, memory_use.top) == (70, 5, 70)
    (counter_use,) = summary.counters
    assert (counter_use.least, counter_use.mean, counter_use.most) == (10, 15, 30)


def test_a_range_and_a_pattern_choose_what_is_summed() -> None:
    taker = gpu()
    core = taker.track("core[0]")
    for number in range(2):
        track = taker.track(f"simdgroup[{number}]", core, Role.SIMDGROUP)
        taker.slice(PHASE, track, "load", 0, 100)
        taker.slice(STEP, track, "wait", 0, 40 + 20 * number, "dram")
        taker.slice(STEP, track, "issue", 40 + 20 * number, 60 - 20 * number, "issue")
    trace = taker.finish()
    summary = summarise(trace, begin=50, end=90, track="core[0].simdgroup[1]")
    (use,) = summary.tracks
    assert (use.busy, use.stalled, use.idle) == (30, 10, 0)
    assert use.causes == {"issue": 30, "dram": 10}
    assert len(summarise(trace, track="core[*").tracks) == 2
    assert len(summarise(trace, track="core[0]").tracks) == 2
    with pytest.raises(TraceError, match="no track matches 'cpu'; there are core\\[0\\], core"):
        summarise(trace, track="cpu")
    with pytest.raises(TraceError, match="ends at 3, before it begins at 5"):
        summarise(trace, begin=5, end=3)
    json.dumps(summary.json())


def test_an_empty_trace_has_an_empty_summary() -> None:
    summary = summarise(gpu().finish())
    assert (summary.begin, summary.end, summary.tracks, summary.path) == (0, 0, [], [])


def run(
    *durations: int,
    hz: int = 10**9,
    name: str = "b",
    kind: Kind = DISPATCH,
    extra: bool = False,
) -> Trace:
    taker = gpu(hz=hz)
    track = taker.track("queue", -1, Role.QUEUE)
    begin = 0
    for slice_name, duration in zip(("a", name, "c"), durations, strict=False):
        taker.slice(kind, track, slice_name, begin, duration)
        begin += duration
    if extra:
        taker.slice(PHASE, taker.track("other"), "x", 0, 1)
    return taker.finish()


@few
@given(traces())
def test_a_trace_does_not_differ_from_itself(trace: Trace) -> None:
    assert compare_traces([trace, trace]).equal


def test_the_same_times_on_clocks_of_different_speed_do_not_differ() -> None:
    assert compare_traces([run(10, 20, 30), run(20, 40, 60, hz=2 * 10**9)]).equal


@pytest.mark.parametrize(
    ("other", "what", "index"),
    [
        (run(10, 25, 30), "duration", 1),
        (run(10, 20, 30, name="z", kind=PHASE), "name", 1),
        (run(10, 20), "missing", 2),
        (run(11, 20, 30), "duration", 0),
    ],
)
def test_the_first_divergence_of_a_track_is_found(other: Trace, what: str, index: int) -> None:
    kind = PHASE if what == "name" else DISPATCH
    same = run(10, 20, 30, kind=kind)
    difference = compare_traces([same, same, other])
    (found,) = difference.divergences
    assert (found.trace, found.track, found.what, found.index) == (2, "queue", what, index)
    assert not difference.equal
    json.dumps(difference.json())


def test_a_kernel_of_another_name_stands_for_the_one_at_its_place() -> None:
    difference = compare_traces([run(10, 20, 30), run(10, 20, 30, name="z")])
    assert not difference.divergences
    assert ["b", "z"] in [kernel.names for kernel in difference.kernels]
    assert not difference.equal


def test_names_that_differ_come_with_counts_and_seconds_of_each_trace() -> None:
    difference = compare_traces([run(10, 20, 30), run(10, 25, 30)])
    (found,) = difference.names
    assert (found.name, found.counts) == ("b", [1, 1])
    assert found.seconds == pytest.approx([20e-9, 25e-9])


def test_sums_of_causes_are_compared() -> None:
    def waits(dram: int, barrier: int) -> Trace:
        taker = gpu()
        track = taker.track("simdgroup[0]", -1, Role.SIMDGROUP)
        taker.slice(STEP, track, "x", 0, dram, "dram")
        taker.slice(STEP, track, "y", dram, 5, "issue")
        if barrier:
            taker.slice(STEP, track, "z", dram + 5, barrier, "barrier")
        return taker.finish()

    causes = compare_traces([waits(10, 0), waits(30, 2)]).causes
    assert causes == {"dram": pytest.approx([10e-9, 30e-9]), "barrier": pytest.approx([0, 2e-9])}


def test_tracks_that_are_not_in_all_are_named() -> None:
    difference = compare_traces([run(10), run(10, extra=True)])
    assert difference.only == {"other": [1]}
    assert not difference.equal


def test_the_mean_of_the_largest_numbers_is_one_of_them() -> None:
    recorder = Recorder(Clock.nanoseconds())
    track = recorder.track("counter", role=Role.COUNTER)
    for time in (0, 10, 1000):
        recorder.counters()(track, time, 1e308)
    (use,) = counter_uses(recorder.finish(), 0, 1_000_000, [0])
    assert use.mean == pytest.approx(1e308)
