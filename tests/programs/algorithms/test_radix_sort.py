"""A radix sort of several kernels, and a prefix sum over many blocks."""

import numpy as np
import pytest

from tests.support.metal_kernel import Scratch, kernel, run

TILE = 512


def radix_sort(keys: np.ndarray, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Sorted keys, and where they were."""
    count, tiles = keys.size, -(-keys.size // TILE)
    order = np.arange(count, dtype=np.uint32)
    for shift in range(0, 32, 4):
        info = np.array([count, shift, tiles], dtype=np.uint32).tobytes()
        histograms = np.zeros(16 * tiles, dtype=np.uint32)
        sorted_keys, sorted_order = np.zeros_like(keys), np.zeros_like(order)
        run(
            kernel("radix_sort", f"radix_histogram_{name}"),
            keys,
            histograms,
            info,
            threadgroups=tiles,
            threadgroup=128,
        )
        run(
            kernel("radix_sort", "radix_scan"),
            histograms,
            info,
            Scratch(36 * 4),
            threadgroups=1,
            threadgroup=64,
        )
        run(
            kernel("radix_sort", f"radix_scatter_{name}"),
            keys,
            order,
            sorted_keys,
            sorted_order,
            histograms,
            info,
            threadgroups=tiles,
            threadgroup=128,
        )
        keys, order = sorted_keys, sorted_order
    return keys, order


@pytest.mark.parametrize("count", [100, 3333])
@pytest.mark.parametrize("name", ["uint", "int", "float"])
def test_keys_are_sorted_with_their_payload(name: str, count: int) -> None:
    rng = np.random.default_rng(count)
    if name == "float":
        keys = rng.standard_normal(count).astype(np.float32)
    else:
        dtype = {"uint": np.uint32, "int": np.int32}[name]
        info = np.iinfo(dtype)
        keys = rng.integers(info.min, info.max, count, dtype=dtype) // 50000 * 50000

    result, order = radix_sort(keys, name)

    np.testing.assert_array_equal(order, np.argsort(keys, kind="stable"))
    np.testing.assert_array_equal(result, keys[order])


def exclusive_scan(values: np.ndarray, threads: int) -> np.ndarray:
    blocks = -(-values.size // threads)
    sums = np.zeros(blocks, dtype=np.uint32)
    run(
        kernel("radix_sort", "block_sums"),
        values,
        sums,
        np.uint32(values.size),
        threadgroups=blocks,
        threadgroup=threads,
    )
    before = exclusive_scan(sums, threads) if blocks > 1 else np.zeros(1, dtype=np.uint32)
    result = np.zeros_like(values)
    run(
        kernel("radix_sort", "block_scan"),
        values,
        before,
        result,
        np.uint32(values.size),
        threadgroups=blocks,
        threadgroup=threads,
    )
    return result


@pytest.mark.parametrize(("count", "threads"), [(5000, 64), (5000, 1024), (31, 32)])
def test_a_prefix_sum_over_blocks(count: int, threads: int) -> None:
    values = np.random.default_rng(count).integers(0, 1000, count, dtype=np.uint32)

    result = exclusive_scan(values, threads)

    np.testing.assert_array_equal(result, values.cumsum() - values)
