"""No slow test is forgotten: each belongs to a campaign or to what `.ci/run` makes."""

from __future__ import annotations

import re

import pytest

from tests.campaigns import CAMPAIGNS, IN_CI, ROOT, is_among, listing, main
from tests.conftest import pytest_collection_modifyitems
from tests.sanitizers import LEFT_OUT, TESTS

SLOW = re.compile(r"^\s*(?:@|pytestmark = |.*marks=)pytest\.mark\.(?:slow|sampled)", re.M)


def test_every_path_of_a_campaign_is_there() -> None:
    paths = [path for campaign in CAMPAIGNS.values() for path in campaign.paths]
    missing = [path for path in (*paths, *IN_CI, *TESTS, LEFT_OUT) if not (ROOT / path).exists()]
    assert missing == []


def test_every_slow_test_belongs_to_a_campaign_or_to_ci() -> None:
    run = [p for c in CAMPAIGNS.values() if "slow" in c.options for p in c.paths]
    homes = (*run, *IN_CI)
    slow = [path for path in (ROOT / "tests").rglob("*.py") if SLOW.search(path.read_text())]
    assert len(slow) > 20
    lost = [path for path in slow if not is_among(path, homes)]
    assert lost == []


def test_ci_makes_the_slow_tests_that_are_said_to_be_in_it() -> None:
    assert '-q -m "not slow or ci"\n' in (ROOT / ".ci" / "run").read_text()


class _Test:
    """What the order of tests and their marks are decided by."""

    def __init__(self, path: str, *marks: str) -> None:
        self.path = ROOT / "tests" / path
        self.name = path
        self.marks = {mark: getattr(pytest.mark, mark).mark for mark in marks}

    def get_closest_marker(self, name: str) -> pytest.Mark | None:
        return self.marks.get(name)

    def add_marker(self, mark: pytest.MarkDecorator) -> None:
        self.marks[mark.name] = mark.mark


def test_slow_tests_of_ci_are_marked_as_such_and_the_longest_are_first() -> None:
    items = [_Test("docs/test_recipes.py", "slow"), _Test("checks/test_planted.py")]
    items += [_Test("checks/field/test_field.py", "slow"), _Test("walks/test_walks.py", "slow")]
    pytest_collection_modifyitems(items)  # type: ignore[arg-type]
    assert [(test.path.stem, "ci" in test.marks) for test in items] == [
        ("test_walks", True),
        ("test_recipes", False),
        ("test_planted", False),
        ("test_field", True),
    ]


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h", "fuzz"]])
def test_without_names_or_for_help_the_campaigns_are_listed(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("usage: python -m tests.campaigns")
    assert shown.endswith(listing() + "\n")


def test_an_unknown_campaign_is_refused_with_those_there_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["mutations"]) == 2
    assert capsys.readouterr().out.startswith("no campaign is called mutations; there are\n")
