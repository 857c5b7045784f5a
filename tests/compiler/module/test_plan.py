from hypothesis import given
from hypothesis import strategies as st

from assay.compiler.module.plan import Life, joined, planned


@st.composite
def lives(draw: st.DrawFn) -> list[Life]:
    found = []
    for number in range(draw(st.integers(0, 12))):
        first = draw(st.integers(0, 9))
        last = draw(st.integers(first, 10))
        size = draw(st.integers(0, 500))
        found.append(Life(name=f"t{number}", size=size, first=first, last=last))
    return found


@given(lives())
def test_no_two_that_live_together_share_bytes(lives: list[Life]) -> None:
    plan = planned(lives)
    for one in lives:
        start = plan.offsets[one.name]
        assert start % 64 == 0 and start >= 0 and start + one.size <= plan.size
        for other in lives:
            if other is not one and one.meets(other) and one.size and other.size:
                there = plan.offsets[other.name]
                assert start + one.size <= there or there + other.size <= start


@given(lives())
def test_an_arena_is_not_larger_than_all_tensors_side_by_side(lives: list[Life]) -> None:
    assert planned(lives).size <= sum(-(-life.size // 64) * 64 for life in lives)


def test_a_chain_needs_the_two_largest_neighbours_only() -> None:
    chain = [Life(name=f"t{n}", size=64 * n, first=n, last=n + 1) for n in range(1, 10)]
    assert planned(chain).size == 64 * (9 + 8)


def test_nothing_needs_nothing() -> None:
    assert planned([]).size == 0


def test_what_is_written_over_another_is_at_its_place_and_chains_are_one_life() -> None:
    chain = [Life(name=f"t{n}", size=64, first=n, last=n + 1) for n in range(4)]
    apart = Life(name="other", size=64, first=0, last=4)
    lives, whole = joined([*chain, apart], {"t1": "t0", "t2": "t1", "t3": "t2"})
    assert whole == {"t0": "t0", "t1": "t0", "t2": "t0", "t3": "t0", "other": "other"}
    assert lives == [Life(name="t0", size=64, first=0, last=4), apart]
    assert planned(lives).size == 128


@given(lives())
def test_joining_nothing_changes_nothing(lives: list[Life]) -> None:
    assert joined(lives, {}) == (lives, {life.name: life.name for life in lives})
