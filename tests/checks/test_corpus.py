"""The corpus is as large as promised and its marks mean something."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from assay.sim.check import DEFAULT_CHECKS, OPTIONAL_CHECKS, Finding, Party
from assay.sim.site import Site

from .cases import Case, Mark, bugs, near_misses
from .judge import complaints

AT_LEAST = 20
BUGS, NEAR_MISSES = bugs(), near_misses()


@pytest.mark.parametrize("cases", [BUGS, NEAR_MISSES], ids=["bugs", "near_misses"])
def test_each_check_has_twenty_cases(cases: list[Case]) -> None:
    counts = Counter(case.folder for case in cases)
    assert {name for name, count in counts.items() if count < AT_LEAST} == set()
    assert {case.check for case in cases} == {*DEFAULT_CHECKS, *OPTIONAL_CHECKS}


def test_names_of_cases_are_unique() -> None:
    for cases in (BUGS, NEAR_MISSES):
        assert max(Counter(case.name for case in cases).values()) == 1


def test_every_bug_is_marked_and_nothing_else() -> None:
    for case in BUGS:
        assert any(mark.word == "BUG" and mark.kinds != {""} for mark in case.marks.values()), case
    assert not [case.name for case in NEAR_MISSES if case.marks]


def _case(check: str, marks: dict[int, Mark]) -> Case:
    return Case(folder=check, path=Path("k.metal"), kernel="k", settings={}, marks=marks)


def _finding(kind: str, *lines: int) -> Finding:
    parties = tuple(Party(what="it", site=Site("k.metal", line, 1)) for line in lines)
    return Finding(check="any", kind=kind, kernel="k", message="so it is", parties=parties)


BUG = Mark(word="BUG", kinds=frozenset({"race-read-write"}))
WITH = Mark(word="WITH", kinds=frozenset({""}))


def test_a_race_may_name_its_sides_in_either_order() -> None:
    case = _case("race", {3: BUG, 5: WITH})
    assert not complaints(case, [_finding("race-read-write", 3, 5)])
    assert not complaints(case, [_finding("race-read-write", 5, 3)])


def test_other_findings_must_begin_with_the_marked_line() -> None:
    case = _case("init", {3: BUG, 5: WITH})
    assert not complaints(case, [_finding("race-read-write", 3, 5)])
    assert complaints(case, [_finding("race-read-write", 5, 3)])


@pytest.mark.parametrize(
    "found",
    [
        [],
        [_finding("race-write-write", 3, 5)],
        [_finding("race-read-write", 3, 4)],
        [_finding("race-read-write", 5, 5)],
        [_finding("race-read-write", 3, 3)],
        [_finding("race-read-write", 3, 5), _finding("race-read-write", 7, 8)],
    ],
    ids=["nothing", "other kind", "other line", "not the line", "not the other side", "too much"],
)
def test_wrong_findings_are_told(found: list[Finding]) -> None:
    assert complaints(_case("race", {3: BUG, 5: WITH}), found)


def test_any_finding_in_a_correct_kernel_is_wrong() -> None:
    assert complaints(_case("race", {}), [_finding("race-read-write", 3, 5)])
