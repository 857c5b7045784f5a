"""Correct kernels that look like bugs have no findings."""

from __future__ import annotations

import pytest

from assay.sim.check import DEFAULT_CHECKS

from .cases import Case, near_misses
from .judge import complaints
from .run import findings_of

CASES = [pytest.param(case, id=case.name) for case in near_misses()]


@pytest.mark.parametrize("case", CASES)
def test_nothing_is_found_in_a_correct_kernel(case: Case) -> None:
    wrong = complaints(case, findings_of(case, {*DEFAULT_CHECKS, case.check}))
    assert not wrong, "\n".join([f"{case.path}:", *wrong])


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_nothing_is_found_under_any_schedule(case: Case) -> None:
    for seed in range(5):
        wrong = complaints(case, findings_of(case, {*DEFAULT_CHECKS, case.check}, seed=seed))
        assert not wrong, "\n".join([f"{case.path}, seed {seed}:", *wrong])
