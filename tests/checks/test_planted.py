"""Every planted bug is found, at the marked lines and nowhere else."""

from __future__ import annotations

import pytest

from .cases import Case, bugs
from .judge import complaints
from .pending import parameter
from .run import findings_of


@pytest.mark.parametrize("case", [parameter(case) for case in bugs()])
def test_the_planted_bug_is_found_where_it_is_marked(case: Case) -> None:
    wrong = complaints(case, findings_of(case, frozenset([case.check])))
    assert not wrong, "\n".join([f"{case.path}:", *wrong])
