"""The device's clock and its path to DRAM, held to a definition that goes cycle by cycle."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.hw.torq.device.schedule import Schedule

from .test_device import QUICK

CLOCKS = st.sampled_from([800_000_000, 1_000_000_000, 999_999_937, 333_333_333])
Starts = list[tuple[int, int]]
"""(cycle, cycles of work) of transfers."""


def ends_of(starts: Starts) -> list[int]:
    """Half a cycle of work at a time: both for one transfer, or one for each of two."""
    left = {n: 2 * cycles for n, (_, cycles) in enumerate(starts)}
    ends: dict[int, int] = {}
    cycle = 0
    while len(ends) < len(starts):
        active = [n for n, (begin, _) in enumerate(starts) if begin <= cycle and n not in ends]
        cycle += 1
        for n in active:
            left[n] -= 2 // len(active)
            if left[n] <= 0:
                ends[n] = cycle
    return [ends[n] for n in range(len(starts))]


@QUICK
@given(
    st.lists(st.tuples(st.integers(0, 60), st.integers(1, 50)), min_size=2, max_size=2),
    CLOCKS,
    st.integers(0, 2),
)
def test_two_transfers_share_the_path_cycle_by_cycle(
    starts: Starts, hz: int, epoch_exponent: int
) -> None:
    schedule, ends = Schedule(hz), [0, 0]
    epoch = 1000**epoch_exponent

    def begin(n: int, cycles: int) -> None:
        def end() -> None:
            ends[n] = schedule.now - epoch

        schedule.move(cycles, end)

    for n, (at, cycles) in enumerate(starts):
        schedule.after(epoch + at, lambda n=n, cycles=cycles: begin(n, cycles))  # type: ignore[misc]
    while schedule.step():
        pass
    assert ends == ends_of(starts)


@QUICK
@given(st.lists(st.integers(0, 9)), CLOCKS)
def test_events_come_by_cycle_and_those_of_one_cycle_as_asked_for(
    cycles: list[int], hz: int
) -> None:
    schedule = Schedule(hz)
    seen: list[tuple[int, int]] = []
    for n, delay in enumerate(cycles):
        schedule.after(delay, lambda n=n: seen.append((schedule.now, n)))  # type: ignore[misc]
    while schedule.step():
        pass
    assert seen == sorted((delay, n) for n, delay in enumerate(cycles))


@pytest.mark.parametrize("hz", [800_000_000, 999_999_937])
def test_what_is_cleared_does_not_happen_and_time_goes_on(hz: int) -> None:
    schedule, seen = Schedule(hz), list[str]()
    schedule.after(5, lambda: schedule.move(100, lambda: seen.append("old")))
    assert schedule.step()
    schedule.clear()
    assert not schedule.step()
    schedule.move(10, lambda: seen.append("new"))
    while schedule.step():
        pass
    assert (schedule.now, seen) == (15, ["new"])
