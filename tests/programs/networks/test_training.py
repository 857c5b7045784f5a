"""Backward passes, losses and an optimiser."""

import ml_dtypes
import numpy as np

from tests.support.metal_kernel import kernel, run


def test_the_gradient_of_gelu_is_added() -> None:
    rng = np.random.default_rng(1)
    x, dout, before = rng.standard_normal((3, 100)).astype(np.float32)
    result = before.copy()

    run(kernel("training", "gelu_backward"), result, x, dout, threads=100, threadgroup=64)

    def gelu(v: np.ndarray) -> np.ndarray:
        return 0.5 * v * (1 + np.tanh(np.sqrt(2 / np.pi) * (v + 0.044715 * v**3)))

    wide = x.astype(np.float64)
    slope = (gelu(wide + 1e-6) - gelu(wide - 1e-6)) / 2e-6
    np.testing.assert_allclose(result, before + slope * dout, rtol=1e-4, atol=1e-5)


def test_the_loss_of_a_classifier_and_its_gradient() -> None:
    rng = np.random.default_rng(2)
    logits = (rng.standard_normal((5, 77)) * 4).astype(np.float32)
    targets = rng.integers(0, 77, 5).astype(np.int32)
    gradient, losses = logits.copy(), np.zeros(5, dtype=np.float32)

    run(
        kernel("training", "fused_classifier"),
        gradient,
        losses,
        targets,
        np.int32(77),
        np.float32(0.2),
        threadgroups=5,
        threadgroup=32,
    )

    weights = np.exp(logits.astype(np.float64))
    weights /= weights.sum(axis=1)[:, None]
    rows = np.arange(5)
    np.testing.assert_allclose(losses, -np.log(weights[rows, targets]), rtol=1e-4)
    weights[rows, targets] -= 1
    np.testing.assert_allclose(gradient, 0.2 * weights, rtol=1e-4, atol=1e-6)


def test_the_gradient_of_a_layer_norm() -> None:
    rng = np.random.default_rng(3)
    rows, width = 6, 50
    x, dout = rng.standard_normal((2, rows, width)).astype(np.float32)
    weight = rng.standard_normal(width).astype(np.float32)
    stats = np.stack([x.mean(axis=1), 1 / x.std(axis=1)], axis=1).astype(np.float32)
    dinp = np.zeros_like(x)
    dweight, dbias = np.zeros((2, width), dtype=np.float32)

    run(
        kernel("training", "layernorm_backward"),
        dinp,
        dweight,
        dbias,
        dout,
        x,
        weight,
        stats,
        np.uint32(width),
        threadgroups=rows,
        threadgroup=32,
    )

    norm = (x - stats[:, :1]).astype(np.float64) * stats[:, 1:]
    dnorm = weight * dout.astype(np.float64)
    inner = dnorm - dnorm.mean(axis=1)[:, None] - norm * (dnorm * norm).mean(axis=1)[:, None]
    np.testing.assert_allclose(dinp, inner * stats[:, 1:], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(dweight, (norm * dout).sum(axis=0), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(dbias, dout.sum(axis=0), rtol=1e-4, atol=1e-5)


def test_halves_are_added_by_compare_and_swap() -> None:
    rng = np.random.default_rng(4)
    table = np.zeros((5, 12), dtype=np.float16)
    tokens = rng.integers(0, 5, 40).astype(np.int32)
    dout = rng.integers(-8, 9, (40, 12)).astype(np.float16)

    run(
        kernel("training", "embedding_backward"),
        table,
        tokens,
        dout,
        np.uint32(6),
        threads=(6, 40),
        threadgroup=(6, 16),
    )

    expected = np.zeros((5, 12))
    np.add.at(expected, tokens, dout.astype(np.float64))
    np.testing.assert_array_equal(table, expected)


def test_a_step_of_adamw_with_chance_rounding() -> None:
    rng = np.random.default_rng(5)
    count = 200
    params, grads = rng.standard_normal((2, count)).astype(np.float32)
    moments = np.abs(rng.standard_normal((count, 2))).astype(np.float32)
    before, first = params.astype(np.float64), moments.astype(np.float64)
    low = np.zeros(count, dtype=ml_dtypes.bfloat16)
    rate, beta1, beta2, eps, decay = 0.1, 0.9, 0.99, 1e-8, 0.01
    options = np.float32((rate, beta1, beta2, 1 - beta1**3, 1 - beta2**3, eps, decay))

    run(
        kernel("training", "adamw"),
        params,
        low,
        grads,
        moments,
        options.tobytes(),
        np.uint32(77),
        threads=count,
        threadgroup=64,
    )

    m = beta1 * first[:, 0] + (1 - beta1) * grads
    v = beta2 * first[:, 1] + (1 - beta2) * grads.astype(np.float64) ** 2
    step = m / (1 - beta1**3) / (np.sqrt(v / (1 - beta2**3)) + eps)
    np.testing.assert_allclose(
        params, before - rate * (step + decay * before), rtol=1e-4, atol=1e-5
    )
    np.testing.assert_allclose(moments, np.stack([m, v], axis=1), rtol=1e-5, atol=1e-6)
    distance = np.abs(low.astype(np.float64) - params)
    assert (distance <= np.abs(params) * 2**-7).all()
    ups = np.abs(low.astype(np.float64)) > np.abs(params)
    assert 0.3 < ups.mean() < 0.7
