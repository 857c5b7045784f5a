from __future__ import annotations

import itertools
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simpy.events import Timeout

from assay.sim.clock import TICKS_PER_SECOND, Environment, Link, Steps, Transfer


@dataclass(frozen=True)
class Wish:
    start: int
    size: int
    limit: int | None


WISHES = st.lists(
    st.builds(
        Wish,
        start=st.integers(0, 50) | st.integers(0, 10**13),
        size=st.integers(0, 10**7),
        limit=st.none() | st.integers(1, 10**7),
    ),
    min_size=1,
    max_size=8,
)


def run(
    rate: int, wishes: list[Wish]
) -> tuple[Link, list[Transfer], list[int], list[tuple[int, int]]]:
    """The link, its transfers, their ends, and (tick, bytes per second) where the use changed."""
    environment = Environment()
    used: list[tuple[int, int]] = []
    link = Link(environment, "dram", rate, watch=lambda tick, now: used.append((tick, now)))
    transfers: list[Transfer] = []
    ends = [0] * len(wishes)

    def one(number: int, wish: Wish) -> Steps:
        yield Timeout(environment, wish.start)
        transfer = link.transfer(wish.size, limit=wish.limit)
        transfers.append(transfer)
        yield transfer.done
        ends[number] = environment.tick

    for number, wish in enumerate(wishes):
        environment.start(one(number, wish))
    environment.finish()
    return link, transfers, ends, used


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 10**9), WISHES)
def test_all_bytes_arrive_and_none_faster_than_the_link_or_their_limit(
    rate: int, wishes: list[Wish]
) -> None:
    link, _, ends, _ = run(rate, wishes)
    assert link.moved == sum(wish.size for wish in wishes)
    assert link.active == () and link.in_use == 0
    for wish, end in zip(wishes, ends, strict=True):
        fastest = min(rate, wish.limit or rate)
        assert (end - wish.start) * fastest >= wish.size * TICKS_PER_SECOND


@settings(max_examples=60, deadline=None)
@given(st.integers(8, 10**9), WISHES)
def test_the_link_is_never_over_its_rate_and_moves_exactly_the_bytes(
    rate: int, wishes: list[Wish]
) -> None:
    _, _, ends, used = run(rate, wishes)
    assert all(0 <= now <= rate for _, now in used)
    steps = itertools.pairwise([*used, (max(ends), 0)])
    moved = sum((end - tick) * now for (tick, now), (end, _) in steps)
    wanted = sum(wish.size for wish in wishes) * TICKS_PER_SECOND
    # A transfer may end inside its last tick, whose rest is then nobody's.
    assert wanted <= moved <= wanted + rate * len(wishes)


@settings(max_examples=60, deadline=None)
@given(st.integers(8, 10**9), WISHES)
def test_the_link_is_busy_at_its_rate_while_a_transfer_without_limit_is_left(
    rate: int, wishes: list[Wish]
) -> None:
    unlimited = [Wish(wish.start, wish.size, None) for wish in wishes]
    _, _, _, used = run(rate, unlimited)
    assert {now for _, now in used} <= {0, rate}


@given(st.integers(1, 8), st.integers(1, 10**6))
def test_equal_transfers_take_as_many_times_longer_as_there_are(count: int, size: int) -> None:
    rate = 840 * 10**6  # divides by 1 to 8
    _, _, ends, _ = run(rate, [Wish(0, size, None)] * count)
    assert set(ends) == {-(-size * TICKS_PER_SECOND // (rate // count))}


def test_what_a_limited_transfer_leaves_goes_to_the_others() -> None:
    _, _, ends, used = run(100, [Wish(0, 100, 10), Wish(0, 90, None)])
    assert ends == [10 * TICKS_PER_SECOND, TICKS_PER_SECOND]
    assert used == [(0, 10), (0, 100), (TICKS_PER_SECOND, 10), (10 * TICKS_PER_SECOND, 0)]


def test_more_transfers_than_bytes_per_second_come_to_an_end_in_order() -> None:
    _, _, ends, _ = run(1, [Wish(0, 1, None)] * 3)
    assert ends == [TICKS_PER_SECOND, 2 * TICKS_PER_SECOND, 3 * TICKS_PER_SECOND]


@pytest.mark.parametrize("arguments", [{"size": -1}, {"size": 1, "limit": 0}])
def test_impossible_transfers_are_refused_with_the_name_of_the_link(
    arguments: dict[str, int],
) -> None:
    with pytest.raises(ValueError, match="'dram'"):
        Link(Environment(), "dram", 1).transfer(**arguments)


def test_a_link_needs_a_rate() -> None:
    with pytest.raises(ValueError, match="at least 1 B/s"):
        Link(Environment(), "dram", 0)
