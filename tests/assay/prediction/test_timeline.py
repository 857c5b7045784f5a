"""Timelines: every cycle of a busy track has a cause, children tile parents, barriers tell."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.hw.apple.core.result import CAUSES, CoreTimeline
from assay.prediction.timelines.core_rows import BARRIER, rows_of
from assay.prediction.timelines.core_timeline import shares
from assay.prediction.timelines.epochs import barrier_waits, epoch_bounds, late_text
from assay.traces import Role, Trace
from tests.support.predictions import FILE, SITES, no_partitions, timeline

from .results import SOURCE, made_up_result, made_up_result_of_queues


@pytest.fixture(scope="module")
def trace() -> Trace:
    return made_up_result((64, 256, 256), timelines=True).trace()


def of_kind(trace: Trace, name: str) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    number = [kind.name for kind in trace.kinds].index(name)
    return np.flatnonzero(trace.slices.kind == number)


def names(trace: Trace, slices: np.ndarray[tuple[int], np.dtype[np.int64]]) -> list[str]:
    return [trace.names[number] for number in trace.slices.name[slices]]


def test_a_timeline_that_was_not_kept_is_missed_in_words() -> None:
    with pytest.raises(ValueError, match="timeline=True"):
        made_up_result().trace()


def test_the_trace_has_host_queue_passes_dispatches_and_a_core(trace: Trace) -> None:
    paths = {str(track) for track in trace.tracks}
    assert {"host", "queue 0.command buffers", "queue 0.passes", "queue 0.dispatches"} <= paths
    assert "GPU.core 0.threadgroup place 0.simdgroup 1" in paths
    calls = names(trace, of_kind(trace, "host_call"))
    assert sorted(calls) == ["commit", "waitUntilCompleted"]
    assert names(trace, of_kind(trace, "dispatch")) == ["scale"] * 3
    assert trace.clock.unit == "cycle"


def test_phases_are_named_by_the_function_that_the_kernel_calls(trace: Trace) -> None:
    found = set(names(trace, of_kind(trace, "phase")))
    assert found == {"load_tile", "compute", "barrier"}


def test_every_phase_is_tiled_by_slices_with_a_cause(trace: Trace) -> None:
    slices = trace.slices
    phases = of_kind(trace, "phase")
    assert len(phases) > 20
    for phase in phases:
        children = np.flatnonzero(slices.parent == phase)
        assert len(children)
        assert (slices.cause[children] >= 0).all()
        assert slices.begin[children[0]] == slices.begin[phase]
        assert (slices.begin[children[1:]] == slices.end[children[:-1]]).all()
        assert slices.end[children[-1]] == slices.end[phase]


def test_a_simdgroup_is_never_without_a_phase_while_its_threadgroup_lives(trace: Trace) -> None:
    slices = trace.slices
    phases = of_kind(trace, "phase")
    for number, track in enumerate(trace.tracks):
        if track.role is not Role.SIMDGROUP:
            continue
        mine = phases[slices.track[phases] == number]
        groups = of_kind(trace, "threadgroup")
        groups = groups[slices.track[groups] == track.parent]
        busy = int(slices.duration[mine].sum())
        assert busy == int(slices.duration[groups].sum())


def test_waits_at_barriers_name_the_last_arriver(trace: Trace) -> None:
    waits = of_kind(trace, "barrier_wait")
    number = [kind.name for kind in trace.kinds].index("barrier_wait")
    arguments = trace.arguments[number]
    texts = {trace.names[n] for n in arguments["waiting_for"][trace.slices.payload[waits]]}
    assert texts == {"simdgroup 1, in load_tile at line 3 (dram)"}
    assert set(arguments["epoch"].tolist()) == {0, 1, 2}
    assert len(trace.flows) > 0


def test_passes_say_what_the_gpu_waits_for(trace: Trace) -> None:
    overheads = of_kind(trace, "overhead")
    assert set(names(trace, overheads)) == {"start of command buffer", "barrier", "launch"}
    causes = {trace.causes[n].name for n in trace.slices.cause[overheads]}
    assert causes == {"launch", "barrier"}


def test_counters_return_to_nothing(trace: Trace) -> None:
    for number, track in enumerate(trace.tracks):
        values = trace.counters.value[trace.counters.track == number]
        if track.role is Role.COUNTER and len(values):
            assert values[-1] == 0 and (values >= 0).all(), track


def test_equal_dispatches_show_their_core_once(trace: Trace) -> None:
    assert len(of_kind(trace, "threadgroup")) == 2 * 4


def test_dispatches_of_several_queues_share_the_core() -> None:
    result = made_up_result_of_queues((256, 512))
    begins, ends = zip(*((each.begin, each.end) for each in result.dispatches), strict=True)
    assert max(begins) < min(ends)  # Or this would be a test of nothing.
    trace = result.trace()
    assert len(of_kind(trace, "threadgroup")) == 2 * 4
    number = next(n for n, track in enumerate(trace.tracks) if track.name == "resident simdgroups")
    values = trace.counters.value[trace.counters.track == number]
    assert values.max() == 2 * 2 * 2  # Two threadgroups of two simdgroups, twice.
    assert values[-1] == 0
    assert (np.diff(trace.counters.time[trace.counters.track == number]) > 0).all()


def test_kernels_share_the_room_on_the_timeline(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = made_up_result((64, 256, 512), timelines=True)
    rows = [len(d.time.timeline.begin) for d in whole.dispatches if d.time.timeline is not None]
    monkeypatch.setattr("assay.prediction.timelines.timeline.MOST_ROWS", sum(rows) // 2)
    trace = whole.trace()
    assert len(of_kind(trace, "threadgroup")) >= 3  # Each kernel has some.
    marks = [trace.names[number] for number in trace.instants.name]
    assert marks == ["scale goes on; more is not shown"] * 3


def test_where_a_core_goes_on_unseen_is_marked() -> None:
    trace = made_up_result((4096,), timelines=True).trace()
    (mark,) = [trace.names[number] for number in trace.instants.name]
    assert mark == "goes on likewise: 4 of 64 threadgroups of scale were simulated"


def test_who_wants_little_leaves_more_to_others() -> None:
    assert shares([10, 1, 10], 11) == [5, 1, 5]
    assert shares([3, 4], 100) == [3, 4]
    assert shares([5, 5], 1) == [0, 1]
    assert shares([], 7) == []


ROWS = st.lists(
    st.tuples(
        st.floats(0.01, 40),
        st.integers(0, len(CAUSES) - 1),
        st.integers(-1, len(SITES) - 1),
    ),
    min_size=1,
    max_size=40,
)


@settings(max_examples=60, deadline=None)
@given(st.lists(ROWS, min_size=1, max_size=6), st.floats(0, 100))
def test_rounding_to_cycles_keeps_streams_without_gaps(
    streams: list[list[tuple[float, int, int]]], start: float
) -> None:
    flat = []
    for number, stream in enumerate(streams):
        at = start
        for duration, cause, site in stream:
            flat.append((number, cause, site, at, at + duration))
            at += duration
    columns = list(zip(*flat, strict=True))
    made = CoreTimeline(
        partition=np.zeros(len(flat), np.int32),
        threadgroup=np.array(columns[0], np.int32) // 2,
        simdgroup=np.array(columns[0], np.int32) % 2,
        begin=np.array(columns[3]),
        end=np.array(columns[4]),
        cause=np.array(columns[1], np.int8),
        site=np.array(columns[2], np.int32),
        awaited=np.full(len(flat), -1, np.int32),
        met=np.zeros(len(flat), np.int32),
        sites=SITES,
        partitions=no_partitions(),
    )
    rows = rows_of(made, kernel="gemm", sources={FILE: SOURCE}, per_group=2, at=7)
    same = rows.stream[1:] == rows.stream[:-1]
    assert (rows.end > rows.begin).all()
    assert (rows.begin[1:][same] == rows.end[:-1][same]).all()
    for number, stream in enumerate(streams):
        mine = rows.stream == number
        total = round(start + sum(each[0] for each in stream)) - round(start)
        assert abs(int((rows.end - rows.begin)[mine].sum()) - total) <= 1


def test_epochs_run_from_barrier_to_barrier() -> None:
    rows = rows_of(timeline(2, 3, 4), kernel="gemm", sources={FILE: SOURCE}, per_group=3, at=0)
    waits = barrier_waits(rows)
    assert (rows.cause[waits.first] == BARRIER).all()
    assert len(waits.first) == 2 * 3 * 4
    bounds = epoch_bounds(rows, waits)
    assert {len(times) for times in bounds.values()} == {4 + 2}
    assert all((np.diff(times) > 0).all() for times in bounds.values())
    late = {late_text(rows, int(row)) for row in waits.late}
    assert late == {"simdgroup 2, in load_tile at line 3 (dram)"}
