"""The library's kernels equal NumPy within stated bounds, for any shape, without findings."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.foundry import SILU, FoundryError, Kernel, bias, format_of, residual
from assay.foundry.library import (
    argmax,
    attention,
    dequantise,
    embedding,
    gemm,
    gemv,
    layer_norm,
    qkv,
    rms_norm,
    rope,
    softmax,
    swiglu,
)
from assay.foundry.types import bfloat, half

TYPES = [(float, np.float32), (half, np.float16), (bfloat, ml_dtypes.bfloat16)]
# Parts of the largest value: float sums of some thousand numbers, then one rounding to the type.
BOUNDS = {"float32": 2e-6, "float16": 2**-11 + 2e-6, "bfloat16": 2**-8 + 2e-6}
few = settings(
    max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
rows = st.integers(1, 4)
columns = st.integers(1, 1100)
types = st.sampled_from(TYPES)
seeds = st.integers(0, 2**32 - 1)
KNOWN: dict[Any, Kernel] = {}
BYTES = np.zeros(1000, np.uint8)


def once(make: Any, *args: Any, **options: Any) -> Kernel:
    """The same kernel for the same arguments, compiled once."""
    key = (make, *map(str, args), str(options))
    if key not in KNOWN:
        KNOWN[key] = make(*args, **options)
    return KNOWN[key]


def drawn(seed: int, *shape: int, of: Any = np.float32) -> np.ndarray:
    made: np.ndarray = np.random.default_rng(seed).normal(size=shape).astype(of)
    return made


def agrees(kernel: Kernel, expected: np.ndarray, **values: Any) -> None:
    made = kernel(**values).astype(np.float64)
    bound = BOUNDS[kernel(**values).dtype.name] * max(np.abs(expected).max(), 1e-3)
    assert np.abs(made - expected).max() <= bound
    assert not kernel.check(**values).findings


@few
@given(rows, columns, types, seeds)
def test_softmax(rows: int, columns: int, of: Any, seed: int) -> None:
    x = drawn(seed, rows, columns, of=of[1])
    exponentials = np.exp(x.astype(np.float64) - x.astype(np.float64).max(axis=1, keepdims=True))
    agrees(once(softmax, of[0]), exponentials / exponentials.sum(axis=1, keepdims=True), x=x)


def test_softmax_of_what_is_masked_out_is_zero() -> None:
    x = np.array([[0, -np.inf, 1, -np.inf]], np.float32)
    made = once(softmax, float)(x=x)
    assert made[0, 1] == made[0, 3] == 0
    assert np.isclose(made.sum(), 1)


@few
@given(rows, columns, types, seeds)
def test_rms_norm(rows: int, columns: int, of: Any, seed: int) -> None:
    x, weight = drawn(seed, rows, columns, of=of[1]), drawn(seed + 1, columns, of=of[1])
    wide = x.astype(np.float64)
    scale = 1 / np.sqrt((wide**2).mean(axis=1, keepdims=True) + 1e-5)
    agrees(once(rms_norm, of[0]), wide * scale * weight.astype(np.float64), x=x, weight=weight)


@few
@given(rows, columns, types, seeds, st.sampled_from([0, 100]))
def test_layer_norm(rows: int, columns: int, of: Any, seed: int, mean: int) -> None:
    x = (drawn(seed, rows, columns) + mean).astype(of[1])
    weight, shift = drawn(seed + 1, columns, of=of[1]), drawn(seed + 2, columns, of=of[1])
    wide = x.astype(np.float64)
    apart = wide - wide.mean(axis=1, keepdims=True)
    normal = apart / np.sqrt((apart**2).mean(axis=1, keepdims=True) + 1e-5)
    expected = normal * weight.astype(np.float64) + shift.astype(np.float64)
    # The mean itself is a float: what it is wrong by shows in the difference.
    kernel = once(layer_norm, of[0])
    made = kernel(x=x, weight=weight, bias=shift).astype(np.float64)
    spread = max(float(np.sqrt((apart**2).mean(axis=1).min())), 3e-3)
    bound = BOUNDS[np.dtype(of[1]).name] * np.abs(expected).max() + 1e-6 * max(mean, 1) / spread * 8
    assert np.abs(made - expected).max() <= bound
    assert not kernel.check(x=x, weight=weight, bias=shift).findings


@few
@given(st.integers(1, 5), st.integers(1, 3), st.integers(1, 40), st.booleans(), types, seeds)
def test_rope(tokens: int, heads: int, pairs: int, is_neox: bool, of: Any, seed: int) -> None:
    x = drawn(seed, tokens, heads, 2 * pairs, of=of[1])
    positions = np.random.default_rng(seed).integers(0, 100, tokens).astype(np.int32)
    angles = positions[:, None] * 10000.0 ** (-np.arange(pairs) / pairs)
    cos, sin = np.cos(angles)[:, None], np.sin(angles)[:, None]
    wide = x.astype(np.float64)
    first, second = (
        (wide[..., :pairs], wide[..., pairs:]) if is_neox else (wide[..., 0::2], wide[..., 1::2])
    )
    turned = (first * cos - second * sin, first * sin + second * cos)
    if is_neox:
        expected = np.concatenate(turned, axis=-1)
    else:
        expected = np.stack(turned, axis=-1).reshape(x.shape)
    kernel = once(rope, of[0], is_neox=is_neox)
    made = kernel(x=x, positions=positions).astype(np.float64)
    # An angle up to 100 is a float: 8e-6 beside it.
    bound = (BOUNDS[np.dtype(of[1]).name] + 2e-5) * np.abs(wide).max() * 2
    assert np.abs(made - expected).max() <= bound
    assert not kernel.check(x=x, positions=positions).findings


@few
@given(st.integers(1, 1000), types, seeds)
def test_swiglu(count: int, of: Any, seed: int) -> None:
    gate, up = drawn(seed, count, of=of[1]), drawn(seed + 1, count, of=of[1])
    wide = gate.astype(np.float64)
    expected = wide / (1 + np.exp(-wide)) * up.astype(np.float64)
    agrees(once(swiglu, of[0]), expected, gate=gate, up=up)


@few
@given(rows, columns, types, seeds)
def test_argmax_is_the_first_of_the_largest(rows: int, columns: int, of: Any, seed: int) -> None:
    x = np.random.default_rng(seed).integers(-3, 4, (rows, columns)).astype(of[1])
    kernel = once(argmax, of[0])
    assert np.array_equal(kernel(x=x), x.astype(np.float32).argmax(axis=1))
    assert not kernel.check(x=x).findings


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["f16", "q8_0", "q4_0", "q4_k", "q6_k", "mlx_affine_4_64"])
@pytest.mark.parametrize("count", [1, 13])
def test_gemv(name: str, count: int) -> None:
    weights = format_of(name)
    packed = weights.pack(drawn(1, count, 768))
    x = drawn(2, 2, 768)
    kernel = gemv(weights, count, epilogue=[bias(float), SILU])
    shift = drawn(3, count)
    values = {"matrix": packed.matrix, "scales": packed.scales, "x": x, "bias": shift}
    sums = x.astype(np.float64) @ weights.unpack(packed).astype(np.float64).T + shift
    made = kernel(**values)
    assert made.shape == (2, count)
    assert np.abs(made - sums / (1 + np.exp(-sums))).max() <= 2e-5 * np.abs(sums).max()
    assert not kernel.check(**values).findings


def test_a_residual_belongs_to_its_vector_and_a_bias_to_all() -> None:
    weights = format_of("f32")
    packed = weights.pack(drawn(1, 5, 16))
    x, rest, shift = drawn(2, 3, 16), drawn(3, 3, 5), drawn(4, 5)
    kernel = gemv(weights, 5, epilogue=[bias(float), residual(float)])
    values = {"matrix": packed.matrix, "scales": packed.scales, "x": x}
    made = kernel(**values, bias=shift, residual=rest)
    assert np.allclose(made, x @ weights.unpack(packed).T + shift + rest, atol=1e-5)


CACHE = np.zeros((1, 8, 2, 128), np.uint8)
ORDER = {"positions": np.zeros(1, np.int32), "sequences": np.zeros(1, np.uint32)}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: gemv(format_of("q4_0"), 4)(matrix=BYTES, scales=BYTES, x=drawn(0, 33)),
            r"q4_0 holds 32 weights together; rows of 33 are no multiple \[format-shape\]",
        ),
        (
            lambda: gemm(format_of("q4_k"), 4)(matrix=BYTES, scales=BYTES, x=drawn(0, 2, 128)),
            r"q4_k holds 256 weights together; rows of 128",
        ),
        (
            lambda: qkv(format_of("q8_0"), [1, 1, 1])(
                x=drawn(0, 40),
                gamma=drawn(0, 40),
                **{f"{kind}_{name}": BYTES for kind in ("matrix", "scales") for name in "qkv"},
            ),
            r"q8_0 holds 32 weights together; rows of 40",
        ),
        (lambda: embedding(format_of("q4_0"), 4, 33), r"rows of 33 are no multiple"),
        (lambda: dequantise(format_of("q4_0"), 4, 33), r"rows of 33 are no multiple"),
        (
            lambda: rope()(x=drawn(0, 2, 4), positions=np.zeros(2, np.int32)),
            r"rope: it does not take arrays of these shapes, x \(2, 4\), .*\[kernel-call\]",
        ),
        (
            lambda: rope()(x=drawn(0, 2, 1, 5), positions=np.zeros(2, np.int32)),
            r"rope: heads of 5 numbers; they turn in pairs",
        ),
        (
            lambda: attention(64, format_of("f16"))(
                q=drawn(0, 1, 2, 64), keys=CACHE[..., :100], values=CACHE[..., :100], **ORDER
            ),
            r"keys are \(1, 8, 2, 100\) .* capacity, kv_heads, 128 bytes of a row\]",
        ),
        (
            lambda: attention(64, format_of("f16"))(
                q=drawn(0, 1, 2, 32), keys=CACHE, values=CACHE, **ORDER
            ),
            r"q is \(1, 2, 32\); it is \[tokens, heads, 64\]",
        ),
    ],
)
def test_arrays_that_do_not_fit_are_refused(call: Any, message: str) -> None:
    with pytest.raises(FoundryError, match=message):
        call()


def test_gemv_of_rows_that_end_anywhere() -> None:
    weights = format_of("f32")
    packed = weights.pack(drawn(1, 5, 19))
    x = drawn(2, 19)
    values = {"matrix": packed.matrix, "scales": packed.scales, "x": x}
    kernel = gemv(weights, 5)
    assert np.allclose(kernel(**values), weights.unpack(packed) @ x, rtol=1e-5, atol=1e-5)
    assert not kernel.check(**values).findings


@pytest.mark.parametrize("name", ["f16", "q6_k"])
def test_embedding(name: str) -> None:
    weights = format_of(name)
    packed = weights.pack(drawn(1, 9, 512))
    tokens = np.array([[3, 8], [0, 9]], np.uint32)
    values = {"matrix": packed.matrix, "scales": packed.scales, "tokens": tokens}
    kernel = embedding(weights, 9, 512)
    table = np.concatenate([weights.unpack(packed), np.zeros((1, 512), np.float32)])
    assert np.array_equal(kernel(**values), table[tokens])
    assert not kernel.check(**values).findings
