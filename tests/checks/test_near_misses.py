"""Correct kernels that look like bugs have no findings."""

from __future__ import annotations

import pytest

from assay.sim.check import DEFAULT_CHECKS

from .cases import Case, near_misses
from .judge import complaints
from .pending import parameters
from .run import findings_of

CASES = parameters(near_misses())


def _checks(case: Case) -> frozenset[str]:
    return frozenset((*DEFAULT_CHECKS, case.check))


@pytest.mark.parametrize("case", parameters(near_misses(), one_in=8))
def test_nothing_is_found_in_a_correct_kernel(case: Case) -> None:
    wrong = complaints(case, findings_of(case, _checks(case)))
    assert not wrong, "\n".join([f"{case.path}:", *wrong])


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_nothing_is_found_under_any_schedule(case: Case) -> None:
    # Tickets are handed out in the order of arrival, so results may depend on the order.
    found = findings_of(case, _checks(case), seeds=(1, 2, 3, 4, 5))
    wrong = complaints(case, [f for f in found if f.kind != "order-dependent-result"])
    assert not wrong, "\n".join([f"{case.path}:", *wrong])
