"""Every planted bug is found, at the marked lines and nowhere else."""

from __future__ import annotations

import pytest

from .cases import Case, bugs
from .judge import complaints
from .pending import parameters
from .run import findings_of

# What lanes write to one place by one instruction is no matter of lock step, but a race.
CHECKS = {"lanes": frozenset(["race", "lanes"])}


@pytest.mark.parametrize("case", parameters(bugs(), one_in=8))
def test_the_planted_bug_is_found_where_it_is_marked(case: Case) -> None:
    wrong = complaints(case, findings_of(case, CHECKS.get(case.check, frozenset([case.check]))))
    assert not wrong, "\n".join([f"{case.path}:", *wrong])
