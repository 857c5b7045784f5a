"""Sorting and scanning."""

import numpy as np
import pytest

from tests.support.metal_kernel import kernel, run


def shuffled(dtype: type, rows: int, length: int) -> np.ndarray:
    rng = np.random.default_rng(length)
    if dtype is np.float32:
        values = rng.standard_normal((rows, length)).astype(np.float32)
        values[0, ::7] = np.nan
        values[-1, 1] = np.inf
        return values
    span = {np.uint8: (0, 256), np.int64: (-(2**62), 2**62)}[dtype]
    return rng.integers(*span, (rows, length)).astype(dtype)


@pytest.mark.parametrize(
    ("name", "threads", "dtype", "length"),
    [
        ("float32_bn64_tn4", 64, np.float32, 200),
        ("float32_bn64_tn4", 64, np.float32, 256),
        ("uint8_bn32_tn8", 32, np.uint8, 33),
    ],
)
def test_rows_are_sorted_by_merging(name: str, threads: int, dtype: type, length: int) -> None:
    values = shuffled(dtype, 3, length)
    result = np.zeros_like(values)

    run(
        kernel("merge_sort", f"sort_{name}"),
        values,
        result,
        np.int32(length),
        np.int64(1),
        np.int64(length),
        threadgroups=(1, 3),
        threadgroup=threads,
    )

    np.testing.assert_array_equal(result, np.sort(values, axis=1))


@pytest.mark.parametrize(
    ("name", "threads", "dtype", "length"),
    [("float32_bn64_tn4", 64, np.float32, 250), ("int64_bn128_tn2", 128, np.int64, 100)],
)
def test_the_order_of_rows_is_found_by_merging(
    name: str, threads: int, dtype: type, length: int
) -> None:
    values = shuffled(dtype, 2, length)
    result = np.zeros((2, length), dtype=np.uint32)

    run(
        kernel("merge_sort", f"argsort_{name}"),
        values,
        result,
        np.int32(length),
        np.int64(1),
        np.int64(length),
        threadgroups=(1, 2),
        threadgroup=threads,
    )

    np.testing.assert_array_equal(result, np.argsort(values, axis=1, kind="stable"))


@pytest.mark.parametrize(("length", "threads"), [(1000, 64), (37, 32), (515, 128)])
def test_running_sums_and_counts(length: int, threads: int) -> None:
    rng = np.random.default_rng(length)
    values = rng.standard_normal((3, length)).astype(np.float32)
    flags = rng.random((3, length)) < 0.5
    sums, counts = np.zeros_like(values), np.zeros(values.shape, dtype=np.int32)

    for name, source, target in (("float32", values, sums), ("bool", flags, counts)):
        run(
            kernel("scan", f"inclusive_sum_{name}"),
            source,
            target,
            np.uint64(length),
            threadgroups=(1, 3),
            threadgroup=threads,
        )

    np.testing.assert_allclose(sums, values.astype(np.float64).cumsum(axis=1), atol=1e-4)
    np.testing.assert_array_equal(counts, flags.cumsum(axis=1))


def test_a_running_sum_of_64_bits_without_the_element_itself() -> None:
    values = np.random.default_rng(6).integers(2**30, 2**31, (2, 300)).astype(np.int32)
    result = np.zeros(values.shape, dtype=np.int64)

    run(
        kernel("scan", "exclusive_sum_int64"),
        values,
        result,
        np.uint64(300),
        threadgroups=(1, 2),
        threadgroup=96,
    )

    wide = values.astype(np.int64)
    np.testing.assert_array_equal(result, wide.cumsum(axis=1) - wide)


def test_products_and_maxima_from_the_end() -> None:
    rng = np.random.default_rng(7)
    values = rng.integers(-3, 4, (2, 150)).astype(np.int32) | 1
    products = np.zeros_like(values)
    short = rng.integers(-30000, 30000, (2, 150)).astype(np.int16)
    maxima = np.zeros_like(short)

    for name, source, target in (
        ("inclusive_prod_int32", values, products),
        ("exclusive_max_int16", short, maxima),
    ):
        run(
            kernel("scan", f"reverse_{name}"),
            source,
            target,
            np.uint64(150),
            threadgroups=(1, 2),
            threadgroup=32,
        )

    with np.errstate(over="ignore"):
        expected = values[:, ::-1].cumprod(axis=1, dtype=np.int32)[:, ::-1]
    np.testing.assert_array_equal(products, expected)
    running = np.maximum.accumulate(short[:, ::-1], axis=1)[:, ::-1]
    np.testing.assert_array_equal(maxima[:, :-1], running[:, 1:])
    np.testing.assert_array_equal(maxima[:, -1], np.iinfo(np.int16).min)
