"""Every kernel on the emulated slice, bit for bit against the reference of TOSA."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.compiler.torq.trials.convolutions import Case, floating
from tests.compiler.torq.trials.drawn import DRAWN
from tests.compiler.torq.trials.fixed import FIXED


@pytest.mark.parametrize(
    ("family", "name"), [(family, name) for family, makers in FIXED.items() for name in makers]
)
def test_kernels_equal_the_reference(family: str, name: str) -> None:
    FIXED[family][name]().equals_reference()


@pytest.mark.parametrize("stride", [1, 2])
def test_bfloat16_sums_are_rounded_after_each_product(stride: int) -> None:
    floating(Case(stride=stride, channels=7)).equals_reference()


@pytest.mark.parametrize("kernel", DRAWN)
@given(data=st.data())
@settings(max_examples=8, deadline=None)
def test_any_use_of_a_kernel_equals_the_reference(kernel: str, data: st.DataObject) -> None:
    data.draw(DRAWN[kernel])().equals_reference()
