"""Which barriers can go together, where it is known which sets can."""

from __future__ import annotations

from collections.abc import Sequence

from assay.compiler.verify.rings.together import Company, companies
from assay.sim.site import Site

Told = dict[int, tuple[list[int], list[int], list[int]]]


def _told(count: int, *conflicts: set[int]) -> tuple[Told, int]:
    """What is told of so many barriers, by their lines, and how many sets were tried."""
    tried: list[set[int]] = []

    def can_go(some: Sequence[Site]) -> bool:
        tried.append({each.line for each in some})
        return not any(conflict <= tried[-1] for conflict in conflicts)

    found = companies([Site(line=line) for line in range(count)], can_go)
    return {site.line: _lines(company) for site, company in found.items()}, len(tried)


def _lines(company: Company) -> tuple[list[int], list[int], list[int]]:
    return (
        [each.line for each in company.together],
        [each.line for each in company.not_with],
        [each.line for each in company.not_with_all],
    )


def test_one_alone_is_not_tried() -> None:
    assert _told(0) == ({}, 0)
    assert _told(1) == ({0: ([], [], [])}, 0)


def test_all_are_tried_at_once_first() -> None:
    every = [0, 1, 2, 3, 4]
    told: Told = {each: ([x for x in every if x != each], [], []) for each in every}
    assert _told(5) == (told, 1)


def test_either_of_two_takes_one_try() -> None:
    assert _told(2, {0, 1}) == ({0: ([], [1], []), 1: ([], [0], [])}, 1)


def test_those_that_do_not_fit_into_the_first_set_make_another() -> None:
    told, _ = _told(4, {0, 1}, {0, 2}, {0, 3})
    assert told == {
        0: ([], [1, 2, 3], []),
        1: ([2, 3], [0], []),
        2: ([1, 3], [0], []),
        3: ([1, 2], [0], []),
    }


def test_of_those_that_are_in_the_way_together_as_few_as_possible_are_told() -> None:
    told, _ = _told(5, {1, 3, 4})
    assert told[4] == ([], [], [1, 3])
    assert told[0] == ([1, 2, 3], [], [])


def test_rivals_are_found_among_many() -> None:
    told, _ = _told(9, {7, 8})
    assert told[8] == ([], [7], [])
    assert told[7] == ([0, 1, 2, 3, 4, 5, 6], [8], [])


def test_sets_are_tried_up_to_a_limit_and_no_more_is_told() -> None:
    count = 40
    told, tried = _told(count, *({one, one + 1} for one in range(count - 1)))
    assert tried <= 16
    for together, _, _ in told.values():
        assert not any({one, one + 1} <= set(together) for one in together)
