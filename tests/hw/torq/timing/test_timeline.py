"""The timeline of the NPU: its parts, held to definitions that go through every cycle or byte."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from assay.hw.torq.device.events import Access, Work
from assay.hw.torq.facts.costs import sl2610
from assay.hw.torq.intervals import Interval, common, length, union, without
from assay.hw.torq.timing.idle import idle_of, stream_of
from assay.hw.torq.timing.memory_map import memory_map
from assay.hw.torq.timing.timeline import npu_time, timeline
from assay.traces.events.summary import summarise

few = settings(max_examples=75, deadline=None)
intervals = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)).map(sorted).map(tuple))


def ticks(found: list[Interval]) -> set[int]:
    return {tick for begin, end in found for tick in range(begin, end)}


@few
@given(intervals, intervals)
def test_intervals_are_sets_of_cycles(a: list[Interval], b: list[Interval]) -> None:
    one, other = union(a), union(b)
    assert ticks(one) == ticks(a)
    assert ticks(common(one, other)) == ticks(a) & ticks(b)
    assert ticks(without(one, other)) == ticks(a) - ticks(b)
    assert length(one) == len(ticks(a))


@st.composite
def accesses(draw: st.DrawFn) -> list[Access]:
    found = []
    for _ in range(draw(st.integers(0, 10))):
        begin, start = draw(st.integers(0, 30)), draw(st.integers(0, 20))
        found.append(
            Access(
                unit=draw(st.sampled_from(["XR", "SLC0"])),
                agent="a",
                memory="LRAM",
                writes=draw(st.booleans()),
                begin=begin,
                end=begin + draw(st.integers(1, 9)),
                ranges=((start, start + draw(st.integers(1, 8))),),
            )
        )
    return found


@few
@given(accesses())
def test_each_byte_lives_from_its_writing_to_its_last_use(given_accesses: list[Access]) -> None:
    found = memory_map(given_accesses, "LRAM")
    ordered = sorted(given_accesses, key=lambda access: (access.begin, access.writes))
    expected: set[tuple[int, int, int]] = set()
    readers: set[tuple[int, int]] = set()
    for byte in range(30):
        written: tuple[Access, int] | None = None
        for access in ordered:
            if not any(first <= byte < last for first, last in access.ranges):
                continue
            if access.writes:
                if written is not None:
                    expected.add((byte, written[0].begin, written[1]))
                written = (access, access.end)
            elif written is not None:
                readers.add((id(written[0]), id(access)))
                written = (written[0], max(written[1], access.end))
        if written is not None:
            expected.add((byte, written[0].begin, written[1]))
    said: dict[tuple[int, int], int] = {}
    for life in found.lives:
        for byte in range(life.start, life.stop):
            said[byte, life.begin] = max(said.get((byte, life.begin), 0), life.end)
    # A range is one thing: its bytes live until the last of them is used.
    assert said.keys() == {(byte, begin) for byte, begin, _ in expected}
    assert all(said[byte, begin] >= end for byte, begin, end in expected)
    assert max(said.values(), default=0) == max((end for _, _, end in expected), default=0)
    assert {(id(writer), id(reader)) for writer, reader in found.reads} == readers


def test_ranges_beyond_what_can_be_shown_are_taken_together_at_the_smallest_gaps() -> None:
    ranges = tuple((100 * n, 100 * n + (99 if n % 5 else 10)) for n in range(40))
    access = Access(unit="XR", agent="a", memory="LRAM", writes=True, begin=0, end=9, ranges=ranges)
    lives = memory_map([access], "LRAM").lives
    assert 1 < len(lives) <= 16
    covered = {byte for life in lives for byte in range(life.start, life.stop)}
    assert covered >= {byte for first, last in ranges for byte in range(first, last)}


EVENTS = [
    Work(unit="NSS", what="program", begin=0, end=100),
    Work(unit="XR", what="load", begin=5, end=30, size=64),
    Work(unit="NSS", what="wait", begin=10, end=30, waits_for=("XR",)),
    Work(unit="SLC0", what="program", begin=35, end=80),
    Work(unit="NSS", what="wait", begin=40, end=80, waits_for=("SLC0",)),
    Work(
        unit="SLC0", what="task", begin=45, end=75, agents=(("DEDR", 25), ("ALU", 20)), limit="DEDR"
    ),
    Work(unit="XW", what="store", begin=82, end=95),
    Work(unit="NSS", what="wait", begin=84, end=95, waits_for=("XW",)),
]
ACCESSES = [
    Access(unit="XR", agent="DILW", memory="LRAM", writes=True, begin=5, end=30, ranges=((0, 64),)),
    Access(
        unit="SLC0", agent="DEDR", memory="LRAM", writes=False, begin=45, end=75, ranges=((0, 64),)
    ),
]


def idle(unit: str, events: list[Work]) -> list[tuple[int, int, str, str]]:
    return [(i.begin, i.end, i.cause, i.text) for i in idle_of(unit, events, stream_of(events))]


def test_a_unit_without_work_says_what_the_stream_waits_for_or_that_it_is_done() -> None:
    assert idle("SLC0", EVENTS) == [
        (0, 10, "configuration", "not started yet: NSS commands"),
        (10, 30, "dma", "not started yet: NSS waits for XR"),
        (30, 35, "configuration", "not started yet: NSS commands"),
        (35, 45, "configuration", "own commands"),
        (75, 80, "configuration", "own commands"),
        (80, 100, "idle", "nothing left to do"),
    ]
    again = [*EVENTS, Work(unit="XR", what="load", begin=90, end=92, size=64)]
    assert idle("XR", again) == [
        (0, 5, "configuration", "not started yet: NSS commands"),
        (30, 40, "configuration", "NSS commands"),
        (40, 80, "unit", "NSS waits for SLC0"),
        (80, 84, "configuration", "NSS commands"),
        (84, 90, "dma", "NSS waits for XW"),
        (92, 100, "idle", "nothing left to do"),
    ]


def test_a_wait_for_several_units_names_those_that_are_not_done() -> None:
    events = [
        Work(unit="NSS", what="program", begin=0, end=100),
        Work(unit="SLC0", what="program", begin=10, end=50),
        Work(unit="CSS", what="css", begin=10, end=90),
        Work(unit="XR", what="load", begin=5, end=20),
        Work(
            unit="NSS", what="wait", begin=20, end=90, waits_for=("XR", "SLC0", "CSS (mailbox 1)")
        ),
        Work(unit="SLC0", what="program", begin=95, end=100),
    ]
    assert idle("NSS", events) == [
        (20, 50, "unit", "waits for SLC0, CSS"),
        (50, 90, "unit", "waits for CSS"),
    ]
    assert (50, 90, "unit", "NSS waits for CSS") in idle("SLC0", events)


def test_between_two_programs_it_is_the_hosts_turn() -> None:
    events = [
        Work(unit="NSS", what="program", begin=0, end=10),
        Work(unit="XR", what="load", begin=2, end=8),
        Work(unit="NSS", what="program", begin=30, end=40),
        Work(unit="XR", what="load", begin=32, end=38),
        Work(unit="SLC0", what="program", begin=5, end=60),
    ]
    assert (10, 30, "host", "the host starts no program") in idle("XR", events)
    assert idle("NSS", events) == [
        (10, 30, "host", "the host starts no program"),
        (40, 60, "idle", "nothing left to do"),
    ]


def test_the_trace_and_the_figures_agree() -> None:
    trace = timeline(EVENTS, sl2610(), accesses=ACCESSES, symbols=[(0, 64, "x")])
    uses = {use.track: use for use in summarise(trace, begin=0, end=100).tracks}
    figures = {unit.unit: unit.causes for unit in npu_time(EVENTS).units}
    assert set(figures) == {"NSS", "XR", "XW", "SLC0"}
    assert all(uses[f"NPU.{unit}"].causes == causes for unit, causes in figures.items())
    assert uses["NPU.SLC0.DEDR"].busy == 25


def test_the_host_waits_until_the_interrupt() -> None:
    trace = timeline(EVENTS, sl2610())
    (host,) = [use for use in summarise(trace).tracks if use.track == "NPU.host"]
    assert host.causes == {"device": 100}
    assert trace.instants.time.tolist() == [100]


def test_arrows_lead_from_who_wrote_to_who_read() -> None:
    trace = timeline(EVENTS, sl2610(), accesses=ACCESSES, symbols=[(0, 64, "x")])
    flows, slices = trace.flows, trace.slices
    ends = [
        [trace.names[slices.name[int(at)]] for at in (flows.source[n], flows.destination[n])]
        for n in range(len(flows))
    ]
    assert ends == [["load x", "task"]]
    (memory,) = summarise(trace).memories
    assert (memory.peak, memory.time, memory.capacity) == (64, 5, sl2610().lram)
