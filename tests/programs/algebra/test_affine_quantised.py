"""Weights with a scale and a bias per group."""

import ml_dtypes
import numpy as np
import pytest

from tests.support.metal_kernel import kernel, run

DTYPES = {"float": np.float32, "half": np.float16, "bfloat": ml_dtypes.bfloat16}


def packed(quants: np.ndarray, bits: int) -> np.ndarray:
    """Rows of quants as rows of bytes, least significant bit first."""
    each = quants[..., None] >> np.arange(bits) & 1
    return np.packbits(each.reshape(len(quants), -1).astype(np.uint8), axis=1, bitorder="little")


@pytest.mark.parametrize(
    ("dtype", "group", "bits"),
    [("float", 32, 2), ("half", 64, 3), ("bfloat", 32, 4), ("float", 64, 6), ("half", 32, 8)],
)
def test_vectors_times_quantised_weights(dtype: str, group: int, bits: int) -> None:
    rng = np.random.default_rng(bits)
    vectors, columns, rows = 2, 448, 19
    kind = DTYPES[dtype]
    quants = rng.integers(0, 1 << bits, (rows, columns))
    scales = rng.uniform(0.01, 0.1, (rows, columns // group)).astype(kind)
    biases = rng.uniform(-0.5, 0.5, (rows, columns // group)).astype(kind)
    x = rng.standard_normal((vectors, columns)).astype(kind)
    result = np.zeros((vectors, rows), dtype=kind)

    run(
        kernel("affine_quantised", f"qmv_{dtype}_gs_{group}_b_{bits}"),
        packed(quants, bits),
        scales,
        biases,
        x,
        result,
        np.int32(columns),
        np.int32(rows),
        threadgroups=(vectors, -(-rows // 8)),
        threadgroup=(32, 2),
    )

    wide = [a.astype(np.float64).repeat(group, axis=1) for a in (scales, biases)]
    expected = x.astype(np.float64) @ (quants * wide[0] + wide[1]).T
    tolerance = {"float": 1e-4, "half": 2e-3, "bfloat": 1e-2}[dtype]
    np.testing.assert_allclose(
        result.astype(np.float64), expected, rtol=tolerance, atol=100 * tolerance
    )


@pytest.mark.parametrize(("group", "bits"), [(32, 2), (64, 3), (64, 4), (32, 6), (64, 8)])
def test_weights_are_packed_by_groups(group: int, bits: int) -> None:
    rng = np.random.default_rng(group + bits)
    groups = 6
    weights = rng.standard_normal((groups, group)).astype(np.float32)
    result = np.zeros((groups, group * bits // 8), dtype=np.uint8)
    scales, biases = np.zeros((2, groups), dtype=np.float32)

    run(
        kernel("affine_quantised", f"quantize_float_gs_{group}_b_{bits}"),
        weights,
        result,
        scales,
        biases,
        threads=(32, groups),
        threadgroup=(32, 2),
    )

    unpacked = np.unpackbits(result, axis=1, bitorder="little").reshape(groups, group, bits)
    quants = (unpacked.astype(np.int64) << np.arange(bits)).sum(axis=-1)
    error = quants * scales[:, None] + biases[:, None] - weights
    assert (np.abs(error) <= np.abs(scales)[:, None] * 1.01).all()
    step = (weights.max(axis=1) - weights.min(axis=1)) / (2**bits - 1)
    np.testing.assert_allclose(np.abs(scales), step, rtol=0.5)
    edges = np.where(
        np.abs(weights.min(axis=1)) > np.abs(weights.max(axis=1)),
        weights.min(axis=1),
        weights.max(axis=1),
    )
    np.testing.assert_array_equal(biases[biases != 0], edges[biases != 0])
