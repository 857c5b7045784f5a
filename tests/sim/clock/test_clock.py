from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from simpy.events import Timeout

from assay.sim.clock import (
    TICKS_PER_SECOND,
    ClockDomain,
    Environment,
    FractionalTime,
    Semaphore,
    Steps,
    seconds_of,
    ticks_of,
)

HZ = st.integers(1, TICKS_PER_SECOND) | st.sampled_from([1_278_000_000, 1_398_000_000])


@given(HZ, st.integers(0, 10**15))
def test_a_cycle_is_found_from_its_edge(hz: int, cycle: int) -> None:
    clock = ClockDomain("gpu", hz)
    assert clock.cycle(clock.edge(cycle)) == cycle


@given(HZ, st.integers(0, 10**15))
def test_edges_do_not_drift(hz: int, cycle: int) -> None:
    exact = Fraction(cycle * TICKS_PER_SECOND, hz)
    assert abs(ClockDomain("gpu", hz).edge(cycle) - exact) <= Fraction(1, 2)


@given(HZ, st.integers(0, 10**15))
def test_the_next_edge_is_the_first_that_is_not_before(hz: int, tick: int) -> None:
    clock = ClockDomain("gpu", hz)
    edge = clock.next_edge(tick)
    assert edge >= tick and clock.edge(clock.cycle(edge)) == edge
    assert clock.edge(clock.cycle(edge) - 1) < tick


@given(HZ, st.integers(0, 10**6), st.integers(0, 10**6))
def test_cycles_add_up(hz: int, first: int, second: int) -> None:
    clock = ClockDomain("gpu", hz)
    now = clock.ticks(first)
    assert now + clock.ticks(second, now=now) == clock.edge(first + second)


@pytest.mark.parametrize("hz", [0, -1, TICKS_PER_SECOND + 1])
def test_impossible_frequencies_are_refused(hz: int) -> None:
    with pytest.raises(ValueError, match="clock 'gpu'"):
        ClockDomain("gpu", hz)


def test_times_are_rounded_to_the_nearest_tick() -> None:
    assert ticks_of(Fraction(1, 3)) == 333_333_333_333
    assert ticks_of(0.5) == TICKS_PER_SECOND // 2
    assert seconds_of(ticks_of(2)) == 2.0


@pytest.mark.parametrize("seconds", [-1, float("inf"), float("nan")])
def test_what_is_no_time_is_refused(seconds: float) -> None:
    with pytest.raises(ValueError, match="no length of time"):
        ticks_of(seconds)


@pytest.mark.parametrize("delay", [0.5, 1.0, True])
def test_delays_that_are_no_ticks_are_refused(delay: float) -> None:
    with pytest.raises(FractionalTime, match="not a whole"):
        Timeout(Environment(), delay)


def test_processes_wait_for_edges_of_their_clocks() -> None:
    environment = Environment()
    clock = ClockDomain("npu", 300_000_000_000)  # edges at 3.33, 6.67, 10, ...
    seen = []

    def process() -> Steps:
        for _ in range(3):
            yield environment.wait_cycles(clock, 1)
            seen.append(environment.tick)
        yield Timeout(environment, 1)
        yield environment.wait_cycles(clock, 0)
        seen.append(environment.tick)

    environment.start(process())
    assert environment.finish() == 13
    assert seen == [3, 7, 10, 13]


def test_a_semaphore_lets_all_go_whose_value_is_reached_in_the_order_of_waiting() -> None:
    environment = Environment()
    semaphore = Semaphore(environment, "timeline")
    order: list[str] = []

    def wait(name: str, value: int) -> Steps:
        yield semaphore.wait(value)
        order.append(f"{name}@{environment.tick}")

    def signal() -> Steps:
        yield Timeout(environment, 5)
        semaphore.signal(2)
        yield Timeout(environment, 5)
        semaphore.signal(3)

    for name, value in (("late", 3), ("b", 2), ("a", 1), ("beyond", 9)):
        environment.start(wait(name, value))
    environment.start(signal())
    environment.finish()
    assert order == ["a@5", "b@5", "late@10"]
    assert semaphore.waiting == (9,)


def test_a_semaphore_never_goes_back() -> None:
    semaphore = Semaphore(Environment(), "timeline", 3)
    with pytest.raises(ValueError, match="'timeline' is at 3"):
        semaphore.signal(3)
