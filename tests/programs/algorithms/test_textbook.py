"""Kernels as courses teach them: their guards make legal what would be out of bounds without."""

import numpy as np
import pytest

from tests.support.metal_kernel import kernel, run

SIZES = [(256, 64), (128, 128), (97, 97), (200, 40)]


def numbers(count: int) -> np.ndarray:
    return np.random.default_rng(count).integers(0, 700, count, dtype=np.uint32)


def execute(name: str, values: np.ndarray, size: int, *more: np.generic) -> np.ndarray:
    result = np.zeros_like(values)
    run(kernel("textbook", name), values, result, *more, threads=len(values), threadgroup=size)
    return result


@pytest.mark.parametrize(
    "name",
    ["scan_by_choice", "scan_by_signed_places", "scan_between_two_arrays", "scan_backwards"],
)
@pytest.mark.parametrize(("threads", "size"), SIZES)
def test_scans_add_up_what_comes_before(name: str, threads: int, size: int) -> None:
    values = numbers(threads)

    result = execute(name, values, size)

    np.testing.assert_array_equal(result.reshape(-1, size), values.reshape(-1, size).cumsum(1))


@pytest.mark.parametrize(("threads", "size"), SIZES)
def test_halves_of_any_size_add_up(threads: int, size: int) -> None:
    values = numbers(threads)

    result = execute("sum_by_halves", values, size)

    sums = values.reshape(-1, size).sum(1, keepdims=True)
    np.testing.assert_array_equal(
        result.reshape(-1, size), np.broadcast_to(sums, (len(sums), size))
    )


@pytest.mark.parametrize(
    "name", ["window_of_ints", "window_that_wraps", "window_by_choice", "window_by_pointer"]
)
@pytest.mark.parametrize(("threads", "size"), [(256, 64), (97, 97), (65, 33)])
def test_windows_leave_out_what_is_outside(name: str, threads: int, size: int) -> None:
    values = numbers(threads)

    result = execute(name, values, size, np.uint32(threads))

    padded = np.pad(values, 3)
    expected = sum(padded[d : d + threads] for d in range(7))
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("name", ["reverse_by_complement", "reverse_lanes", "reverse_from_behind"])
@pytest.mark.parametrize(("threads", "size"), [(256, 64), (97, 97), (65, 33)])
def test_reversals_begin_at_the_end(name: str, threads: int, size: int) -> None:
    values = numbers(threads)

    result = execute(name, values, size, np.uint32(threads))

    np.testing.assert_array_equal(result, values[::-1])


def test_places_below_zero_are_rounded_down() -> None:
    values, threads = numbers(128), np.arange(128)

    shifted = execute("shift_below_zero", values, 64)
    masked = execute("mask_below_zero", values, 64)

    np.testing.assert_array_equal(shifted, 2 * values[((threads - 64) >> 2) + 16])
    np.testing.assert_array_equal(masked, 2 * values[((threads - 64) & ~3) + 64])


@pytest.mark.parametrize("size", [64, 45])
def test_searches_that_end_in_different_ways_know_how(size: int) -> None:
    values = numbers(128)
    values[[3, 50]], values[20] = 810, 995
    # Before all see the 995, only those find something large that start up to 20 before it.
    starts = np.arange(128)
    near = np.array([np.isin([3, 20, 50], (t + np.arange(20)) % 128).any() for t in starts])

    result = execute("search", values, size, np.uint32(128))

    expected = np.where(near, 4 + 20 * (values[0] + 1), 3 + 10 * (values[0] + 1))
    np.testing.assert_array_equal(result, expected)
