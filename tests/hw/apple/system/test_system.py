from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.hw.apple.facts.chips import chips
from assay.hw.apple.system import (
    Commit,
    EventSignal,
    EventWait,
    HostCall,
    Overheads,
    Pass,
    Schedule,
    Submission,
    WaitForEnd,
    Work,
    overheads,
    run,
)
from assay.hw.apple.system.overheads import overheads_of
from assay.hw.facts import SpecError, parse

NS = 1000  # ticks
COSTS = Overheads(
    dispatch=130,
    barrier=700,
    pass_change=6300,
    command_buffer=5600,
    completion=35000,
    concurrent_dispatches=3,
    concurrent_queues=2,
)
FREE = Overheads(
    dispatch=0,
    barrier=0,
    pass_change=0,
    command_buffer=0,
    completion=0,
    concurrent_dispatches=3,
    concurrent_queues=2,
)


def work(nanoseconds: int, *, share: float = 1.0, group: int = 0, ident: int = 0) -> Work:
    return Work(label="k", ticks=nanoseconds * NS, share=share, group=group, ident=ident)


def submission(*passes: tuple[Work, ...], queue: int = 0) -> Submission:
    return Submission(
        label="b", queue=queue, steps=tuple(Pass(label="p", work=each) for each in passes)
    )


def scheduled(
    *submissions: Submission, calls: list[HostCall] | None = None, costs: Overheads = COSTS
) -> Schedule:
    if calls is None:
        calls = [Commit(submission=n) for n in range(len(submissions))]
    return run(submissions, calls, costs=costs, cores=8)


def test_an_empty_command_buffer_takes_what_is_measured() -> None:
    found = scheduled(submission())
    assert found.gpu_ticks == 5600 * NS
    assert found.end == (5600 + 35000) * NS


def test_dependent_dispatches_wait_for_the_barrier_and_their_launch() -> None:
    found = scheduled(submission((work(1000, group=1), work(1000, group=2))))
    first, second = found.submissions[0].passes[0].work
    assert first.end - first.begin == 1000 * NS
    assert second.ready - first.end == 700 * NS
    assert second.begin - second.ready == 130 * NS


def test_a_further_pass_costs_its_change() -> None:
    found = scheduled(submission((work(1000),), (work(1000),)))
    one, two = found.submissions[0].passes
    assert two.work[0].begin - one.end == (6300 + 130) * NS


def test_small_independent_dispatches_run_side_by_side() -> None:
    items = tuple(work(10_000, share=0.25) for _ in range(4))
    found = scheduled(submission(items))
    spans = found.submissions[0].passes[0].work
    assert [each.end - each.begin for each in spans] == [10_000 * NS] * 4
    assert spans[3].begin - spans[0].begin == 3 * 130 * NS


def test_dispatches_that_each_fill_the_gpu_share_it() -> None:
    found = scheduled(submission((work(10_000), work(10_000))), costs=FREE)
    assert {each.end for each in found.submissions[0].passes[0].work} == {20_000 * NS}


def test_command_buffers_of_one_queue_follow_each_other_those_of_two_overlap() -> None:
    same = scheduled(submission((work(1000),)), submission((work(1000),)))
    assert same.submissions[0].end == same.submissions[1].begin
    apart = scheduled(submission((work(1000),)), submission((work(1000),), queue=1))
    assert apart.submissions[0].begin == apart.submissions[1].begin


def test_a_program_that_waits_pays_for_the_way_to_the_gpu_and_back_each_time() -> None:
    buffers = [submission((work(1000),)) for _ in range(2)]
    calls: list[HostCall] = []
    for number in range(2):
        calls += [Commit(submission=number), WaitForEnd(submission=number)]
    waited = scheduled(*buffers, calls=calls)
    one = (5600 + 130 + 1000 + 35000) * NS
    assert waited.end == 2 * one
    assert scheduled(*buffers).end < 2 * one
    assert [call.name for call in waited.host] == ["commit", "waitUntilCompleted"] * 2


def test_events_order_two_queues() -> None:
    producer = Submission(
        label="p",
        queue=0,
        steps=(Pass(label="", work=(work(50_000),)), EventSignal(event=1, value=1)),
    )
    consumer = Submission(
        label="c", queue=1, steps=(EventWait(event=1, value=1), Pass(label="", work=(work(10),)))
    )
    found = scheduled(consumer, producer)
    by_label = {each.label: each for each in found.submissions}
    waited = by_label["c"].waits[0]
    assert waited[1] == by_label["p"].passes[0].end
    assert by_label["c"].passes[0].begin >= waited[1]


def test_a_wait_for_what_nobody_signals_is_told() -> None:
    consumer = Submission(label="c", queue=0, steps=(EventWait(event=1, value=1),))
    found = scheduled(consumer, submission())
    assert found.stuck == (0, 1)
    assert found.submissions == ()


ITEMS = st.lists(
    st.builds(
        work,
        st.integers(0, 10**5),
        share=st.floats(0.001, 1.0),
        group=st.integers(0, 3),
    ),
    max_size=6,
)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(ITEMS, max_size=3), min_size=1, max_size=3))
def test_parts_lie_in_their_wholes_and_groups_do_not_overlap(
    buffers: list[list[list[Work]]],
) -> None:
    found = scheduled(*(submission(*(tuple(items) for items in each)) for each in buffers))
    assert not found.stuck
    for buffer in found.submissions:
        assert buffer.committed <= buffer.begin <= buffer.end <= buffer.completed
        for earlier, later in itertools.pairwise(buffer.passes):
            assert earlier.end <= later.begin
        for each in buffer.passes:
            assert buffer.begin <= each.begin <= each.ready <= each.end <= buffer.end
            for span in each.work:
                assert each.ready <= span.waited_from <= span.ready <= span.begin <= span.end
                assert span.end - span.begin >= span.work.ticks - 1
                assert span.end <= each.end
            for earlier_work, later_work in itertools.pairwise(each.work):
                if earlier_work.work.group != later_work.work.group:
                    assert earlier_work.end <= later_work.ready


@pytest.mark.parametrize("key", chips())
def test_every_chip_has_overheads(key: str) -> None:
    assert overheads(chips()[key]).command_buffer > overheads(chips()[key]).dispatch


SOURCED = '[sources]\nmade_up = "for the test"\n'


def test_wrong_overheads_name_file_and_key() -> None:
    entry = 'value = 0, unit = "us", source = "made_up", confidence = "low"'
    with pytest.raises(SpecError, match=r"x\.toml: \[overheads\.default\] lacks barrier"):
        overheads_of(parse("x.toml", SOURCED + "[overheads.default]"), 9)
    with pytest.raises(SpecError, match=r"overheads\.default\.barrier is in us; expected ns"):
        overheads_of(parse("x.toml", SOURCED + f"[overheads.default]\nbarrier = {{ {entry} }}"), 9)
    text = f"[overheads.default]\nconcurrent_queues = {{ {entry} }}"
    with pytest.raises(SpecError, match="expected at least 1"):
        overheads_of(parse("x.toml", SOURCED + text), 9)
