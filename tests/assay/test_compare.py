"""How far apart two results are."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.compare import EXACT, Tolerance, compare


def f32(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def test_equal_results_have_no_error() -> None:
    result = compare(f32(1, np.nan, np.inf), f32(1, np.nan, np.inf))
    assert result.equal
    assert (result.max_absolute, result.max_relative, result.max_ulp) == (0, 0, 0)


def test_the_first_bad_element_is_named() -> None:
    got, wanted = np.zeros((2, 3), np.float32), np.zeros((2, 3), np.float32)
    got[1, 1] = 0.5
    result = compare(got, wanted)
    assert not result.equal
    assert result.bad == 1
    assert result.first_bad is not None
    assert (result.first_bad.index, result.first_bad.got) == ((1, 1), 0.5)


def test_neighbouring_floats_are_one_ulp_apart_through_zero() -> None:
    assert compare(f32(1), np.nextafter(f32(1), f32(2)), EXACT).max_ulp == 1
    tiny = np.nextafter(f32(0), f32(1))
    assert compare(-tiny, tiny, EXACT).max_ulp == 2
    assert compare(f32(0), f32(-0.0), EXACT).equal


def test_integers_may_be_some_steps_apart() -> None:
    one, other = np.array([1, 5], np.int8), np.array([2, 7], np.int8)
    assert compare(one, other).bad == 2
    assert compare(one, other, Tolerance(steps=1)).bad == 1
    assert compare(one, other, Tolerance(steps=2)).equal
    assert not compare(one > 1, other > 1, Tolerance(steps=2)).equal


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float64])
def test_ulps_are_counted_in_the_type_of_the_values(dtype: type) -> None:
    one = np.array([1], dtype)
    bits = one.view(f"u{one.itemsize}")
    next_one = (bits + bits.dtype.type(3)).view(dtype)
    assert compare(next_one, one).max_ulp == 3


@pytest.mark.parametrize(
    ("got", "wanted"),
    [(np.nan, 1.0), (1.0, np.nan), (np.inf, 1.0), (1.0, np.inf), (np.inf, -np.inf)],
)
def test_what_is_not_finite_must_be_the_same(got: float, wanted: float) -> None:
    loose = Tolerance(relative=1e9, absolute=1e9)
    assert not compare(f32(got), f32(wanted), loose).equal


def test_integers_must_be_equal_whatever_the_tolerance() -> None:
    loose = Tolerance(relative=1, absolute=100)
    result = compare(np.array([5], np.int64), np.array([7], np.int64), loose)
    assert not result.equal
    assert result.max_ulp == 2
    extreme = compare(np.array([-(2**63)]), np.array([2**63 - 1]))
    assert extreme.max_ulp == 2**64 - 1


def test_other_shapes_and_types_are_different_in_words() -> None:
    assert "4xf32" in compare(f32(1, 2, 3), f32(1, 2, 3, 4)).problem
    assert "1xf16" in compare(f32(1), np.array([1], np.float16)).problem


def test_narrow_types_get_a_wider_tolerance() -> None:
    got, wanted = np.array([1.005], np.float16), np.array([1], np.float16)
    assert compare(got, wanted).equal
    assert not compare(got, wanted, Tolerance(widen=False)).equal


def test_empty_results_are_equal() -> None:
    assert compare(np.zeros((0, 3), np.float32), np.zeros((0, 3), np.float32)).equal


def test_scalars_are_compared_too() -> None:
    assert compare(3, 3).equal
    assert not compare(3, 4).equal
    assert compare(1.0, 1.0 + 1e-6).equal


@given(st.floats(width=32), st.floats(width=32))
def test_within_tolerance_is_what_the_formula_says(a: float, b: float) -> None:
    result = compare(f32(a), f32(b), Tolerance(relative=1e-3, absolute=1e-3))
    if np.isfinite(a) and np.isfinite(b):
        assert result.equal == (abs(a - b) <= 1e-3 + 1e-3 * abs(b))
