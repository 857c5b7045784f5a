"""Products with weights that bit tricks unpack."""

import ml_dtypes
import numpy as np
import pytest

from tests.support.metal_kernel import kernel, run

FP4 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])


def packed(codes: np.ndarray) -> np.ndarray:
    """(K, N) codes of 4 bits as (K / 8, N) words, the first in the lowest bits."""
    groups = codes.reshape(-1, 8, codes.shape[1]).astype(np.uint32)
    shifts = 4 * np.arange(8, dtype=np.uint32)[:, None]
    return np.bitwise_or.reduce(groups << shifts, axis=1)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("name", "threads"), [("int4", 128), ("fp4", 128), ("int4_specialised", 256)]
)
@pytest.mark.parametrize(("m", "n", "k", "group"), [(16, 32, 64, 32), (21, 45, 136, 8)])
def test_products_with_4_bit_weights(
    name: str, threads: int, m: int, n: int, k: int, group: int
) -> None:
    rng = np.random.default_rng(n)
    a = rng.standard_normal((m, k)).astype(np.float16)
    codes = rng.integers(0, 16, (k, n))
    scales = rng.uniform(0.05, 0.2, (-(-k // group), n)).astype(np.float16)
    zeros = rng.integers(4, 12, scales.shape).astype(np.float16)
    result = np.zeros((m, n), dtype=np.float16)
    if name == "fp4":
        values = FP4[codes]
    else:
        values = codes - zeros.astype(np.float64).repeat(group, axis=0)[:k]

    run(
        kernel("marlin_gemm", f"marlin_gemm_{name}"),
        a,
        packed(codes),
        scales,
        zeros,
        result,
        np.array([m, n, k, group], dtype=np.uint32),
        threadgroups=(-(-n // 32), -(-m // 16)),
        threadgroup=threads,
    )

    weights = values * scales.astype(np.float64).repeat(group, axis=0)[:k]
    np.testing.assert_allclose(result, a.astype(np.float64) @ weights, rtol=1e-2, atol=2e-2)


def test_8_bit_floats() -> None:
    codes = np.arange(256, dtype=np.uint8)
    e4m3, e5m2 = np.zeros((2, 256), dtype=np.float16)

    run(
        kernel("marlin_gemm", "dequant_fp8"),
        codes,
        e4m3,
        e5m2,
        threads=256,
        threadgroup=64,
    )

    for result, dtype in ((e4m3, ml_dtypes.float8_e4m3fn), (e5m2, ml_dtypes.float8_e5m2)):
        np.testing.assert_array_equal(result, codes.view(dtype).astype(np.float16))
