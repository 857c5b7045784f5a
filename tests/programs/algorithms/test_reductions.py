"""Reductions over rows, columns and everything, and places of extremes."""

from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest

from tests.support.metal_kernel import kernel, run


def numbers(dtype: type, *shape: int) -> np.ndarray:
    rng = np.random.default_rng(sum(shape))
    if np.dtype(dtype).kind in "iu":
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
    return rng.standard_normal(shape).astype(dtype)


@pytest.mark.parametrize(
    ("name", "source", "target", "reference"),
    [
        ("sum_float32", np.float32, np.float32, np.sum),
        ("sum_int64", np.int32, np.int64, np.sum),
        ("max_float16", np.float16, np.float16, np.max),
        ("max_int8", np.int8, np.int8, np.max),
    ],
)
@pytest.mark.parametrize(("rows", "columns", "threads"), [(3, 1000, 96), (5, 77, 32)])
def test_rows(
    name: str,
    source: type,
    target: type,
    reference: Callable[..., np.ndarray],
    rows: int,
    columns: int,
    threads: int,
) -> None:
    values = numbers(source, rows, columns)
    result = np.zeros(rows, dtype=target)

    run(
        kernel("reduce", f"row_{name}"),
        values,
        result,
        np.uint32(columns),
        threadgroups=(1, rows),
        threadgroup=threads,
    )

    expected = reference(values.astype(target), axis=1)
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-4)


def test_a_maximum_with_a_nan_is_nan() -> None:
    values = numbers(np.float16, 4, 200)
    values[1, 150] = np.nan
    result = np.zeros(4, dtype=np.float16)

    run(
        kernel("reduce", "row_max_float16"),
        values,
        result,
        np.uint32(200),
        threadgroups=(1, 4),
        threadgroup=64,
    )

    np.testing.assert_array_equal(result, values.max(axis=1))


def test_whether_rows_are_all_true() -> None:
    values = np.ones((3, 90), dtype=np.bool_)
    values[1, 89] = False
    result = np.zeros(3, dtype=np.bool_)

    run(
        kernel("reduce", "row_and_bool"),
        values,
        result,
        np.uint32(90),
        threadgroups=(1, 3),
        threadgroup=64,
    )

    np.testing.assert_array_equal(result, [True, False, True])


@pytest.mark.parametrize(
    ("name", "source", "target", "reference", "shape"),
    [
        ("sum_bfloat16", ml_dtypes.bfloat16, np.float32, np.sum, (8, 8)),
        ("max_int32", np.int32, np.int32, np.max, (16, 4)),
    ],
)
@pytest.mark.parametrize(("rows", "columns"), [(100, 33), (3, 64)])
def test_columns(
    name: str,
    source: type,
    target: type,
    reference: Callable[..., np.ndarray],
    shape: tuple[int, int],
    rows: int,
    columns: int,
) -> None:
    values = numbers(source, rows, columns)
    result = np.zeros(columns, dtype=target)

    run(
        kernel("reduce", f"col_{name}"),
        values,
        result,
        np.int32(rows),
        np.int32(columns),
        threadgroups=-(-columns // (2 * shape[0])),
        threadgroup=shape,
    )

    expected = reference(values.astype(target), axis=0)
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize(
    ("name", "source", "target"),
    [("float32", np.float32, np.float32), ("uint8", np.uint8, np.int32)],
)
def test_everything_with_atomics(name: str, source: type, target: type) -> None:
    values = numbers(source, 5003)
    result = np.zeros(1, dtype=target)

    run(
        kernel("reduce", f"all_sum_{name}"),
        values,
        result,
        np.uint64(values.size),
        threads=500,
        threadgroup=128,
    )

    np.testing.assert_allclose(result[0], values.astype(np.float64).sum(), rtol=1e-5, atol=1e-3)


@pytest.mark.parametrize(
    ("name", "dtype", "reference"),
    [("argmin_float32", np.float32, np.argmin), ("argmax_int16", np.int16, np.argmax)],
)
@pytest.mark.parametrize(("size", "threads"), [(500, 128), (20, 32)])
def test_places_of_extremes(
    name: str, dtype: type, reference: Callable[..., np.ndarray], size: int, threads: int
) -> None:
    values = (numbers(dtype, size, 3) / (1 if dtype is np.float32 else 4000)).astype(dtype)
    result = np.zeros(3, dtype=np.uint32)

    run(
        kernel("reduce", name),
        values,
        result,
        np.uint64(3),
        np.uint32(size),
        threads=(threads, 3),
        threadgroup=(threads, 1),
    )

    np.testing.assert_array_equal(result, reference(values, axis=0))
