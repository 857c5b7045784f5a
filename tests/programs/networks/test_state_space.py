"""Selective scans of state space models."""

import numpy as np
import pytest

from tests.support.metal_kernel import kernel, run

ARGS = np.dtype(
    [
        *((name, "<i4") for name in ("d_state", "d_inner", "n_tokens", "n_seqs")),
        *((name, "<u8") for name in ("x_token", "x_seq", "bc_token", "bc_seq")),
    ]
)


@pytest.mark.parametrize("states", [16, 128])
def test_a_selective_scan(states: int) -> None:
    rng = np.random.default_rng(states)
    seqs, tokens, inner = 2, 9, 5
    start = rng.standard_normal((seqs, inner, states)).astype(np.float32)
    x, dt = rng.standard_normal((2, seqs, tokens, inner)).astype(np.float32)
    a = -rng.uniform(0.1, 2, (inner, states)).astype(np.float32)
    both = rng.standard_normal((seqs, tokens, 2 * states)).astype(np.float32)
    b, c = both[..., :states], both[..., states:]
    d = rng.standard_normal(inner).astype(np.float32)
    y, final = np.zeros_like(x), np.zeros_like(start)
    args = np.array(
        (states, inner, tokens, seqs, *x.strides[1::-1], *b.copy().strides[1::-1]), dtype=ARGS
    )

    run(
        kernel("selective_scan", f"selective_scan_{states}"),
        start,
        x,
        dt,
        a,
        b.copy(),
        c.copy(),
        d,
        y,
        final,
        args.tobytes(),
        threadgroups=(inner, seqs),
        threadgroup=max(states, 32),
    )

    state = start.astype(np.float64)
    expected = np.zeros(x.shape)
    for t in range(tokens):
        step = np.log1p(np.exp(dt[:, t].astype(np.float64)))[..., None]
        state = state * np.exp(step * a) + b[:, t, None] * step * x[:, t, :, None]
        expected[:, t] = (state * c[:, t, None]).sum(axis=-1) + d * x[:, t]
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(final, state, rtol=1e-4, atol=1e-4)


def test_a_causal_convolution_with_the_inputs_of_before() -> None:
    rng = np.random.default_rng(1)
    tokens, channels = 7, 20
    before, x = rng.standard_normal((2, tokens, channels)).astype(np.float16)
    before = before[:3]
    weight = rng.standard_normal((channels, 4)).astype(np.float32)
    result = np.zeros_like(x)

    run(
        kernel("selective_scan", "causal_conv"),
        x,
        weight,
        before,
        result,
        np.array([channels, tokens], dtype=np.int32),
        threads=(channels, tokens),
        threadgroup=(8, 4),
    )

    line = np.concatenate([before, x]).astype(np.float64)
    windows = np.lib.stride_tricks.sliding_window_view(line, 4, axis=0)
    sums = (windows * weight).sum(axis=-1)
    np.testing.assert_allclose(result, sums / (1 + np.exp(-sums)), rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("length", [32, 75])
def test_a_gated_scan_by_pairs(length: int) -> None:
    rng = np.random.default_rng(length)
    decay = rng.uniform(0.5, 1, (3, length))
    value = rng.standard_normal((3, length))
    pairs = np.stack([decay, value], axis=-1).astype(np.float32)
    result = np.zeros((3, length), dtype=np.float32)

    run(
        kernel("selective_scan", "gated_scan"),
        pairs,
        result,
        np.int32(length),
        threadgroups=3,
        threadgroup=32,
    )

    expected = np.zeros((3, length))
    for t in range(length):
        expected[:, t] = decay[:, t] * (expected[:, t - 1] if t else 0) + value[:, t]
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)
