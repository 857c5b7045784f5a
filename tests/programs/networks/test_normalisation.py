"""Softmax and norms of rows."""

import ml_dtypes
import numpy as np
import pytest

from tests.support.metal_kernel import kernel, run

BF16 = ml_dtypes.bfloat16
TOLERANCE = {"float32": 1e-5, "float16": 2e-3, "bfloat16": 2e-2}


def rows(dtype: type, count: int, length: int) -> np.ndarray:
    rng = np.random.default_rng(length)
    return (rng.standard_normal((count, length)) * 3 + 1).astype(dtype)


@pytest.mark.parametrize(
    ("name", "dtype", "length", "threads"),
    [
        ("block_softmax_float32", np.float32, 250, 64),
        ("block_softmax_float32", np.float32, 3, 32),
        ("block_softmax_precise_float16", np.float16, 512, 128),
        ("looped_softmax_float32", np.float32, 1001, 64),
        ("looped_softmax_precise_bfloat16", BF16, 700, 96),
    ],
)
def test_softmax(name: str, dtype: type, length: int, threads: int) -> None:
    values = rows(dtype, 4, length)
    result = np.zeros_like(values)

    run(
        kernel("normalise", name),
        values,
        result,
        np.int32(length),
        threadgroups=4,
        threadgroup=threads,
    )

    exact = np.exp(values.astype(np.float64) - values.astype(np.float64).max(axis=1)[:, None])
    exact /= exact.sum(axis=1)[:, None]
    tolerance = TOLERANCE[str(values.dtype)]
    np.testing.assert_allclose(result.astype(np.float64), exact, rtol=tolerance, atol=1e-6)


@pytest.mark.parametrize(
    ("dtype", "length", "threads", "affine"),
    [(np.float32, 333, 128, True), (np.float16, 64, 32, False)],
)
def test_layer_norm(dtype: type, length: int, threads: int, affine: bool) -> None:
    values = rows(dtype, 3, length)
    rng = np.random.default_rng(4)
    weight = rng.standard_normal(length if affine else 1).astype(dtype)
    bias = rng.standard_normal(length if affine else 1).astype(dtype)
    result = np.zeros_like(values)

    run(
        kernel("normalise", f"layer_norm{values.dtype}"),
        values,
        weight,
        bias,
        result,
        np.float32(1e-5),
        np.uint32(length),
        np.uint32(affine),
        np.uint32(affine),
        threadgroups=3,
        threadgroup=threads,
    )

    x = values.astype(np.float64)
    exact = (x - x.mean(axis=1)[:, None]) / np.sqrt(x.var(axis=1)[:, None] + 1e-5)
    tolerance = 3 * TOLERANCE[str(values.dtype)]
    np.testing.assert_allclose(result, exact * weight + bias, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    ("dtype", "length", "weighted"), [(np.float32, 381, True), (BF16, 130, False), (BF16, 8, True)]
)
def test_rms_norm(dtype: type, length: int, weighted: bool) -> None:
    values = rows(dtype, 3, length)
    weight = rows(dtype, 1, length)[0]
    result = np.zeros_like(values)

    run(
        kernel("normalise", f"rms{values.dtype}", {20: weighted}),
        values,
        weight if weighted else None,
        result,
        np.float32(1e-6),
        np.uint32(length),
        threadgroups=3,
        threadgroup=-(-length // 128) * 32,
    )

    x = values.astype(np.float64)
    exact = x / np.sqrt((x * x).mean(axis=1)[:, None] + 1e-6)
    if weighted:
        exact = exact * weight.astype(np.float64)
    tolerance = TOLERANCE[str(values.dtype)]
    np.testing.assert_allclose(result.astype(np.float64), exact, rtol=tolerance, atol=tolerance)
