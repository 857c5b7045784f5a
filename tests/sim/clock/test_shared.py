"""Links that share what lies beyond them: evenly by link, then evenly by transfer."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assay.sim.clock import TICKS_PER_SECOND, Environment, Link, Shared
from assay.sim.clock.link import fair_shares

SECOND = TICKS_PER_SECOND


def ends_of(rate: int, *links: tuple[int, list[tuple[int, int]]]) -> list[list[int]]:
    """When transfers end that all begin at once: (size, traffic) of each link with its rate."""
    environment = Environment()
    shared = Shared(environment, "DRAM", rate)
    ends: list[list[int]] = []
    for number, (own, sizes) in enumerate(links):
        link = Link(environment, f"link {number}", own, beyond=shared)
        row = [0] * len(sizes)
        ends.append(row)
        for at, (size, traffic) in enumerate(sizes):
            done = link.transfer(size, traffic=traffic).done
            assert done.callbacks is not None
            done.callbacks.append(lambda _, row=row, at=at: row.__setitem__(at, environment.tick))
    environment.finish()
    return ends


def test_a_link_alone_takes_as_long_as_without_what_lies_beyond() -> None:
    assert ends_of(100, (100, [(300, 300)])) == [[3 * SECOND]]
    assert ends_of(100, (100, [(300, 0), (300, 0)])) == [[6 * SECOND, 6 * SECOND]]


def test_links_that_want_more_than_there_is_are_slowed_down_evenly() -> None:
    # Each wants 100 of 120 B/s and gets 60; the second goes on alone with all it wants.
    assert ends_of(120, (100, [(300, 300)]), (100, [(600, 600)])) == [
        [5 * SECOND],
        [5 * SECOND + 3 * SECOND],
    ]


def test_what_one_link_does_not_want_the_others_get() -> None:
    assert ends_of(120, (20, [(100, 100)]), (200, [(500, 500)])) == [[5 * SECOND], [5 * SECOND]]


def test_a_link_counts_once_however_many_transfers_it_has() -> None:
    # 60 B/s for each link: 30 for each of the first one's transfers.
    assert ends_of(120, (100, [(150, 150), (150, 150)]), (100, [(300, 300)])) == [
        [5 * SECOND, 5 * SECOND],
        [5 * SECOND],
    ]


def test_a_transfer_without_traffic_is_not_slowed_down() -> None:
    assert ends_of(50, (100, [(500, 0)]), (100, [(100, 100)])) == [[5 * SECOND], [2 * SECOND]]


def test_a_link_that_is_closed_leaves_its_share_to_others() -> None:
    environment = Environment()
    shared = Shared(environment, "DRAM", 100)
    one, other = (Link(environment, name, 100, beyond=shared) for name in ("one", "other"))
    one.transfer(1000, traffic=1000)
    last = other.transfer(100, traffic=100)
    environment.run(until=SECOND)  # 50 B of each
    one.close()
    environment.run(until=last.done)
    assert environment.tick == SECOND + SECOND // 2


@given(st.lists(st.integers(0, 50), max_size=6), st.integers(1, 100))
def test_shares_use_all_there_is_and_nobody_gets_more_than_it_asks(
    asked: list[int], rate: int
) -> None:
    shares = fair_shares(asked, rate)
    assert sum(shares) == min(sum(asked), rate)
    assert all(share <= wanted for share, wanted in zip(shares, asked, strict=True))
    unmet = [share for share, wanted in zip(shares, asked, strict=True) if share < wanted]
    assert all(
        share <= min(unmet, default=0) + 1 or share == wanted
        for share, wanted in zip(shares, asked, strict=True)
        if share < wanted
    )
