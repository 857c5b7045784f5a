"""No slow test is forgotten: each belongs to a campaign or to what `.ci/run` makes."""

from __future__ import annotations

import re

import pytest

from tests.campaigns import CAMPAIGNS, IN_CI, ROOT, listing, main
from tests.sanitizers import LEFT_OUT, TESTS

SLOW = re.compile(r"^\s*(?:@|pytestmark = |.*marks=)pytest\.mark\.(?:slow|sampled)", re.M)


def test_every_path_of_a_campaign_is_there() -> None:
    paths = [path for campaign in CAMPAIGNS.values() for path in campaign.paths]
    missing = [path for path in (*paths, *IN_CI, *TESTS, LEFT_OUT) if not (ROOT / path).exists()]
    assert missing == []


def test_every_slow_test_belongs_to_a_campaign_or_to_ci() -> None:
    run = [p for c in CAMPAIGNS.values() if "slow" in c.options for p in c.paths]
    homes = [ROOT / path for path in (*run, *IN_CI)]
    slow = [path for path in (ROOT / "tests").rglob("*.py") if SLOW.search(path.read_text())]
    assert len(slow) > 20
    lost = [path for path in slow if not any(path.is_relative_to(home) for home in homes)]
    assert lost == []


def test_ci_makes_the_slow_tests_that_are_said_to_be_in_it() -> None:
    run = " ".join((ROOT / ".ci" / "run").read_text().replace("\\\n", "").split())
    assert f"-m slow {' '.join(IN_CI)} " in run


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
