"""Of conditions that help, none that is offered can be left out or be weaker."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assay.compiler.verify.offers.rising import Chosen, Rising, multiples_of, together
from assay.compiler.verify.offers.weakest import weakest

_LEVELS = 5


def _choices(count: int) -> list[Rising]:
    return [
        Rising(tuple(f"{name} >= {at}" for at in range(1, _LEVELS))) for name in "abcdef"[:count]
    ]


def _levels(text: str) -> dict[str, int]:
    parts = [part.split(" >= ") for part in text.split(" and ") if part]
    return {name: int(level) for name, level in parts}


def _suffices(text: str, needs: list[dict[str, int]]) -> bool:
    levels = _levels(text)
    return any(all(levels.get(name, 0) >= least for name, least in each.items()) for each in needs)


_NEED = st.dictionaries(st.sampled_from("abcdef"), st.integers(1, _LEVELS - 1), min_size=1)


@given(st.lists(_NEED, min_size=1, max_size=4))
def test_what_is_found_suffices_and_no_part_of_it_can_be_left_out_or_weaker(
    needs: list[dict[str, int]],
) -> None:
    text = weakest(_choices(6), lambda text: _suffices(text, needs), lambda _: True)
    assert _suffices(text, needs)
    for name, level in _levels(text).items():
        weaker = {**_levels(text), name: level - 1}
        assert not _suffices(" and ".join(f"{x} >= {at}" for x, at in weaker.items()), needs)


@given(st.lists(_NEED, min_size=1, max_size=4), st.integers(0, 12))
def test_nothing_is_found_that_cannot_be(needs: list[dict[str, int]], most: int) -> None:
    def can_be(text: str) -> bool:
        return sum(_levels(text).values()) <= most

    text = weakest(_choices(6), lambda text: _suffices(text, needs), can_be)
    assert not text or (_suffices(text, needs) and can_be(text))


def test_nothing_is_found_where_nothing_helps() -> None:
    assert weakest(_choices(3), lambda _: False, lambda _: True) == ""
    assert weakest([], lambda _: True, lambda _: True) == ""


def test_the_more_natural_stays() -> None:
    def helps(text: str) -> bool:
        return "a" in text or "b" in text

    assert weakest(_choices(2), helps, lambda _: True) == "a >= 1"


def test_multiples_of_one_number_are_told_once() -> None:
    twos, threes = multiples_of("k", 2, 64), multiples_of("k", 3, 9)
    other = Rising(("grid.x <= n",))
    chosen = [Chosen(twos, 4), Chosen(other), Chosen(threes, 0)]
    assert together(chosen) == "k % 96 == 0 and grid.x <= n"
