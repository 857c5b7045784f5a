from hypothesis import given
from hypothesis import strategies as st

from assay.compiler.module.plan import Life, planned


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
