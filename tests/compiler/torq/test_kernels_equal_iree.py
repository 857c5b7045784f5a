"""Kernels on the emulated slice against IREE's CPU backend, which runs the operators of TOSA."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.compiler.torq.trials.convolutions import Case, floating
from tests.compiler.torq.trials.drawn import DRAWN
from tests.compiler.torq.trials.fixed import FIXED
from tests.compiler.torq.trials.trial import Trials, all_equal

from . import iree_tosa

pytest.importorskip("iree.compiler", reason="the second opinion needs IREE's compiler")
pytest.importorskip("iree.runtime", reason="the second opinion needs IREE's runtime")

QUICK = {family: tuple(makers)[::9] for family, makers in FIXED.items()}
"""Trials of each family that are not slow, which are compiled apart from the others."""
FAMILIES = {
    (family, is_quick): Trials(
        {name: make for name, make in makers.items() if (name in QUICK[family]) == is_quick}
    )
    for family, makers in FIXED.items()
    for is_quick in (True, False)
}


@pytest.mark.parametrize(
    ("family", "name"),
    [
        pytest.param(family, name, marks=[] if is_quick else [pytest.mark.slow])
        for (family, is_quick), trials in FAMILIES.items()
        for name in trials.names
    ],
)
def test_kernels_equal_reference_and_iree(family: str, name: str) -> None:
    FAMILIES[family, name in QUICK[family]].check(name)


@pytest.mark.parametrize("stride", [1, 2])
def test_bfloat16_sums_in_another_order_are_at_most_one_step_off(stride: int) -> None:
    trial = floating(Case(stride=stride, channels=7))
    (answer,) = iree_tosa.results([trial.iree])
    found, other = (values.view(np.int16).astype(np.int32) for values in (trial.found, answer))
    assert np.abs(found - other).max() <= 1


@pytest.mark.slow
@pytest.mark.parametrize("kernel", DRAWN)
@given(data=st.data())
@settings(max_examples=3, deadline=None)
def test_any_use_of_a_kernel_equals_iree(kernel: str, data: st.DataObject) -> None:
    all_equal(data.draw(st.lists(DRAWN[kernel], min_size=1, max_size=12)))
