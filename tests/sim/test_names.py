"""Names in messages."""

import pytest

from assay.sim.names import choices, listed, nearest


def test_lists_are_cut_at_ten() -> None:
    assert listed(f"k{n}" for n in range(12)).endswith("k8, k9 and 2 more")
    assert listed([]) == "none"


@pytest.mark.parametrize("given", ["M4 Max", "m4max", "m4_max"])
def test_capitals_spaces_and_punctuation_do_not_count(given: str) -> None:
    assert nearest(given, ["m4", "m4-max", "m1"]) == "m4-max"


def test_what_is_near_nothing_is_no_question() -> None:
    assert choices("zzz", ["add", "sum"]) == "there are add, sum"
