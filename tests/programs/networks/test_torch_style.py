"""A framework's back end: helpers in namespaces, NaN kept, sorts with indices."""

import math

import ml_dtypes
import numpy as np
import pytest

from tests.support.metal_kernel import Scratch, kernel, run


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("float", np.float32),
        ("half", np.float16),
        ("bfloat", ml_dtypes.bfloat16),
        ("long", np.int64),
    ],
)
def test_clamping_keeps_nan(name: str, dtype: type) -> None:
    rng = np.random.default_rng(1)
    x, low, width = rng.integers(-100, 100, (3, 70)).astype(dtype)
    high = low + np.abs(width)
    if np.dtype(dtype).kind != "i":
        x[3], low[7], high[11] = np.nan, np.nan, np.nan
    result = np.zeros_like(x)

    run(
        kernel("torch_mps", f"clamp_dense_{name}"),
        result,
        x,
        low,
        high,
        threads=70,
        threadgroup=32,
    )

    wide = [a.astype(np.float64) for a in (x, low, high)]
    expected = np.minimum(np.maximum(wide[0], wide[1]), wide[2])
    np.testing.assert_array_equal(result.astype(expected.dtype), expected)


@pytest.mark.parametrize(
    ("name", "dtype", "tolerance"), [("float", np.float32, 1e-5), ("half", np.float16, 2e-3)]
)
def test_log_gamma(name: str, dtype: type, tolerance: float) -> None:
    x = np.random.default_rng(2).uniform(0.05, 20, 100).astype(dtype)
    result = np.zeros_like(x)

    run(kernel("torch_mps", f"lgamma_dense_{name}"), result, x, threads=100, threadgroup=64)

    expected = np.array([math.lgamma(v) for v in x])
    np.testing.assert_allclose(result, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(("name", "dtype"), [("float", np.float32), ("char", np.int8)])
@pytest.mark.parametrize(("length", "threads", "descending"), [(64, 32, False), (75, 64, True)])
def test_a_bitonic_sort_with_indices_is_stable(
    name: str, dtype: type, length: int, threads: int, descending: bool
) -> None:
    values = np.random.default_rng(3).integers(-9, 9, (3, length)).astype(dtype)
    result, indices = values.copy(), np.zeros(values.shape, dtype=np.int64)

    run(
        kernel("torch_mps", f"bitonic_sort_{name}"),
        result,
        indices,
        np.uint32(length),
        np.bool_(descending),
        Scratch(2 * threads * values.itemsize),
        Scratch(4 * threads),
        threadgroups=3,
        threadgroup=threads,
    )

    keys = -values.astype(np.int64) if descending else values
    expected = np.argsort(keys, axis=1, kind="stable")
    np.testing.assert_array_equal(indices, expected)
    np.testing.assert_array_equal(result, np.take_along_axis(values, expected, axis=1))


@pytest.mark.parametrize(("name", "dtype"), [("float", np.float32), ("bfloat", ml_dtypes.bfloat16)])
def test_the_least_so_far_and_its_place(name: str, dtype: type) -> None:
    values = np.random.default_rng(4).integers(-50, 50, (5, 40)).astype(dtype)
    values[2, 17] = np.nan
    least, places = np.zeros_like(values), np.zeros(values.shape, dtype=np.int64)

    run(
        kernel("torch_mps", f"cummin_{name}"),
        values,
        least,
        places,
        np.int64(40),
        np.array([40, 1], dtype=np.int64),
        threads=5,
        threadgroup=32,
    )

    expected = np.minimum.accumulate(values.astype(np.float64), axis=1)
    np.testing.assert_array_equal(least.astype(np.float64), expected)
    kept = np.take_along_axis(values, places, axis=1).astype(np.float64)
    np.testing.assert_array_equal(kept, expected)


def test_cross_products_of_packed_vectors() -> None:
    a, b = np.random.default_rng(5).standard_normal((2, 20, 3)).astype(np.float32)
    result = np.zeros((40, 3), dtype=np.float32)

    run(
        kernel("torch_mps", "cross_float"),
        result,
        a,
        b,
        np.array([2, 1, 1, 0], dtype=np.uint32),
        threads=20,
        threadgroup=8,
    )

    np.testing.assert_allclose(result[::2], np.cross(a, b), rtol=1e-5, atol=1e-6)
    assert not result[1::2].any()


@pytest.mark.parametrize("right", [False, True])
def test_a_binary_search(right: bool) -> None:
    rng = np.random.default_rng(6)
    boundaries = np.sort(rng.integers(0, 30, 21)).astype(np.float16)
    values = rng.integers(-2, 32, 50).astype(np.float16)
    result = np.zeros(50, dtype=np.int32)

    run(
        kernel("torch_mps", "searchsorted_half_int"),
        values,
        boundaries,
        result,
        np.int64(21),
        np.bool_(right),
        threads=50,
        threadgroup=16,
    )

    side = "right" if right else "left"
    np.testing.assert_array_equal(result, np.searchsorted(boundaries, values, side=side))
