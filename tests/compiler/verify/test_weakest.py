"""Of conditions that help, none that is offered can be left out or be weaker."""

from __future__ import annotations

import functools
from collections.abc import Callable

from hypothesis import assume, given
from hypothesis import strategies as st

from assay.compiler.verify.offers.rising import (
    Bounds,
    Chosen,
    Rising,
    multiples_of,
    sensible,
    strongest,
    together,
)
from assay.compiler.verify.offers.weakest import weakest

_LEVELS = 5


def _choices(count: int) -> list[Chosen]:
    levels = range(1, _LEVELS)
    return [strongest(Rising(Bounds(f"{name} >=", levels))) for name in "abcdef"[:count]]


def _found(
    tries: list[list[Chosen]],
    helps: Callable[[str], bool],
    can_be: Callable[[str], bool] = lambda _: True,
) -> str:
    return together(
        weakest(
            tries, lambda chosen: helps(together(chosen)), lambda chosen: can_be(together(chosen))
        )
    )


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
    assume(all(len(each) < 6 for each in needs))
    text = _found([_choices(6)], lambda text: _suffices(text, needs))
    assert _suffices(text, needs)
    for name, level in _levels(text).items():
        weaker = {**_levels(text), name: level - 1}
        assert not _suffices(" and ".join(f"{x} >= {at}" for x, at in weaker.items()), needs)


@given(st.lists(_NEED, min_size=1, max_size=4), st.integers(0, 12))
def test_nothing_is_found_that_cannot_be(needs: list[dict[str, int]], most: int) -> None:
    def can_be(text: str) -> bool:
        return sum(_levels(text).values()) <= most

    text = _found([_choices(6)], lambda text: _suffices(text, needs), can_be)
    assert not text or (_suffices(text, needs) and can_be(text))


def test_nothing_is_found_where_nothing_helps() -> None:
    assert _found([_choices(3)], lambda _: False) == ""
    assert _found([], lambda _: True) == ""
    assert _found([[]], lambda _: True) == ""


def test_the_more_natural_stays() -> None:
    def helps(text: str) -> bool:
        return "a" in text or "b" in text

    assert _found([_choices(2)], helps) == "a >= 1"


def test_multiples_of_one_number_are_told_once() -> None:
    twos, threes = multiples_of("k", 2, 64), multiples_of("k", 3, 9)
    other = Rising(("grid.x <= n",))
    chosen = [Chosen(twos, 4), Chosen(other, 0), Chosen(threes, 0)]
    assert together(chosen) == "k % 96 == 0 and grid.x <= n"
    assert sensible(chosen) == "k % 96 == 0 and grid.x <= n and k >= 1"


def test_what_is_tried_first_goes_before_what_is_more_natural() -> None:
    usual, others = [_choices(1)[0]], _choices(2)
    assert _found([usual, others], lambda text: "b" in text) == "b >= 1"
    assert _found([others[1:], others], lambda _: True) == "b >= 1"


def test_what_a_limit_implies_is_weaker_than_it() -> None:
    limit = Rising(("grid.x <= n",), implied=(Rising(Bounds("n >=", range(1, 65))),))

    def is_large(least: int, text: str) -> bool:
        return text == "grid.x <= n" or ("n >=" in text and int(text.split()[-1]) >= least)

    for least, found in ((1, "n >= 1"), (64, "n >= 64"), (65, "grid.x <= n")):
        helps = functools.partial(is_large, least)
        assert _found([[strongest(limit)]], helps) == found


def test_no_more_parts_are_told_than_people_can_use() -> None:
    def helps(text: str) -> bool:
        return len(_levels(text)) == 6

    assert _found([_choices(6)], helps) == ""
