"""The least time of operators one behind the other."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.compiler.torq.schedule.bounds import least

_CYCLES = st.lists(st.tuples(st.integers(0, 100), st.integers(0, 100)), min_size=1, max_size=6)


@pytest.mark.parametrize(
    ("works", "loads", "in_advance", "cycles"),
    [
        ([100, 0], [0, 100], 0, 200),
        ([100, 0], [0, 100], 30, 170),
        ([100, 0], [0, 100], 100, 100),
        ([0, 100], [100, 0], 100, 200),
        ([50, 50, 50], [10, 60, 10], 1000, 150),
    ],
)
def test_what_cannot_be_loaded_in_advance_is_waited_for(
    works: list[int], loads: list[int], in_advance: int, cycles: int
) -> None:
    assert least(works, loads, in_advance) == cycles


@given(_CYCLES, st.integers(0, 150))
def test_no_way_to_load_in_advance_is_faster(parts: list[tuple[int, int]], room: int) -> None:
    works, loads = zip(*parts, strict=True)
    assert least(works, loads, room) <= _played(works, loads, room)


@given(_CYCLES, st.integers(0, 150))
def test_it_is_no_less_than_all_work_and_all_loads(parts: list[tuple[int, int]], room: int) -> None:
    works, loads = zip(*parts, strict=True)
    assert least(works, loads, room) >= max(sum(works), sum(loads))
    for more in itertools.pairwise(least(works, loads, r) for r in (room + 10, room)):
        assert more[0] <= more[1]


def _played(works: tuple[int, ...], loads: tuple[int, ...], room: int) -> int:
    """Loads always go on as long as there is room; an operator frees its own when it is done."""
    time, loaded = 0, 0
    done = 0
    while done < len(works):
        before = sum(loads[:done])
        needed = sum(loads[: done + 1])
        # What the operator at hand needs passes through; later loads fill what room there is.
        finish = max(time + works[done], time + max(0, needed - loaded))
        reach = max(needed, min(sum(loads), needed + room))
        loaded = max(min(reach, loaded + (finish - time)), needed)
        assert loaded >= before
        time = finish
        done += 1
    return time
