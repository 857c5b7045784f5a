"""Rotary position embedding."""

import numpy as np
import pytest

from tests.support.metal_kernel import kernel, run


@pytest.mark.sampled(2)
@pytest.mark.parametrize("traditional", [True, False])
@pytest.mark.parametrize(
    ("name", "dtype", "heads_per_thread", "forward"),
    [("float32", np.float32, 4, True), ("large_float16", np.float16, 2, False)],
)
def test_pairs_are_turned_by_their_position(
    traditional: bool, name: str, dtype: type, heads_per_thread: int, forward: bool
) -> None:
    rng = np.random.default_rng(5)
    batches, heads, length, size = 2, 8, 5, 24
    x = rng.standard_normal((batches * heads, length, size)).astype(dtype)
    offsets = np.array([3, 11], dtype=np.int32)
    base = 10000.0
    result = np.zeros_like(x)
    strides = np.array(x.strides, dtype=np.int64) // x.itemsize

    run(
        kernel("rope", f"rope_{name}", {1: forward, 2: traditional, 3: False}),
        x,
        result,
        offsets,
        np.float32(0.5),
        strides,
        strides,
        np.int32(heads),
        np.float32(np.log2(base)),
        threads=(size // 2, length, batches * heads // heads_per_thread),
        threadgroup=(6, 5, 2),
    )

    position = 0.5 * (np.arange(length) + offsets.repeat(heads)[:, None])
    theta = position[..., None] * base ** (-np.arange(size // 2) / (size // 2))
    turn = np.exp(1j * theta * (1 if forward else -1))
    if traditional:
        turned = (x[..., ::2] + 1j * x[..., 1::2]) * turn
        expected = np.stack([turned.real, turned.imag], axis=-1).reshape(x.shape)
    else:
        turned = (x[..., : size // 2] + 1j * x[..., size // 2 :]) * turn
        expected = np.concatenate([turned.real, turned.imag], axis=-1)
    tolerance = 1e-5 if dtype is np.float32 else 4e-3
    np.testing.assert_allclose(result, expected, rtol=tolerance, atol=tolerance)
