"""Flash attention against softmax(Q K^T) V."""

from dataclasses import dataclass

import ml_dtypes
import numpy as np
import pytest

from tests.support.metal_kernel import Scratch, kernel, run

ARGS = np.dtype(
    [
        *((name, "<i4") for name in ("queries", "keys", "heads", "heads_per_kv")),
        *((name, "<u8") for name in ("nbq1", "nbq2", "nbk1", "nbk2", "nbv1", "nbv2", "nbm1")),
        *((name, "<f4") for name in ("scale", "logit_softcap")),
    ],
    align=True,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Queries (heads, n, d), keys and values (kv heads, m, d), a mask (n, m) of 0 and -inf."""

    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    mask: np.ndarray
    softcap: float

    def args(self) -> bytes:
        args = np.zeros((), dtype=ARGS)
        heads, args["queries"], size = self.q.shape
        args["heads"], args["keys"] = heads, self.k.shape[1]
        args["heads_per_kv"] = heads // self.k.shape[0]
        for name, array in (("nbq", self.q), ("nbk", self.k), ("nbv", self.v)):
            args[f"{name}1"], args[f"{name}2"] = array.strides[1], array.strides[0]
        args["nbm1"] = self.mask.strides[0]
        args["scale"] = size**-0.5 / (self.softcap or 1.0)
        args["logit_softcap"] = self.softcap
        return args.tobytes()

    def expected(self, masked: bool) -> np.ndarray:
        """(n, heads, d) in float64."""
        heads, _, size = self.q.shape
        k = self.k.astype(np.float64).repeat(heads // self.k.shape[0], axis=0)
        v = self.v.astype(np.float64).repeat(heads // self.v.shape[0], axis=0)
        scores = self.q.astype(np.float64) @ k.transpose(0, 2, 1) * size**-0.5
        if self.softcap:
            scores = self.softcap * np.tanh(scores / self.softcap)
        if masked:
            scores = scores + self.mask.astype(np.float64)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        return (weights @ v).transpose(1, 0, 2)


def problem(queries: int, keys: int, size: int, dtype: type, softcap: float = 0.0) -> Problem:
    rng = np.random.default_rng(queries * keys)
    heads, kv_heads = 4, 2
    causal = np.arange(keys) > np.arange(queries)[:, None] + keys - queries
    return Problem(
        q=rng.standard_normal((heads, queries, size)).astype(np.float32),
        k=rng.standard_normal((kv_heads, keys, size)).astype(dtype),
        v=rng.standard_normal((kv_heads, keys, size)).astype(dtype),
        mask=np.where(causal, -np.inf, 0).astype(np.float16),
        softcap=softcap,
    )


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("name", "size", "dtype"),
    [("f16", 64, np.float16), ("bf16", 96, ml_dtypes.bfloat16), ("f32", 128, np.float32)],
)
@pytest.mark.parametrize(
    ("simdgroups", "masked", "softcap"), [(1, True, 0.0), (3, False, 2.0), (4, True, 5.0)]
)
def test_attention_of_single_queries(
    name: str, size: int, dtype: type, simdgroups: int, masked: bool, softcap: float
) -> None:
    p = problem(3, 37, size, dtype, softcap)
    result = np.full((3, 4, size), np.nan, dtype=np.float32)

    run(
        kernel("flash_attention", f"flash_attn_vec_{name}_h{size}", {0: masked, 1: softcap > 0}),
        p.args(),
        p.q,
        p.k,
        p.v,
        p.mask if masked else None,
        result,
        Scratch((1 + simdgroups) * size * 4 + simdgroups * 16),
        threadgroups=(3, 4),
        threadgroup=(32, simdgroups),
    )

    np.testing.assert_allclose(result, p.expected(masked), rtol=1e-4, atol=1e-5)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("name", "size", "dtype", "tolerance"),
    [("f16", 64, np.float16, 4e-3), ("bf16", 32, ml_dtypes.bfloat16, 3e-2)],
)
@pytest.mark.parametrize(("queries", "keys", "masked"), [(16, 32, False), (21, 43, True)])
def test_attention_by_tiles(
    name: str, size: int, dtype: type, tolerance: float, queries: int, keys: int, masked: bool
) -> None:
    p = problem(queries, keys, size, dtype)
    result = np.full((queries, 4, size), np.nan, dtype=np.float32)

    run(
        kernel("flash_attention", f"flash_attn_{name}_h{size}", {0: masked, 1: False}),
        p.args(),
        p.q,
        p.k,
        p.v,
        p.mask if masked else None,
        result,
        threadgroups=(-(-queries // 16), 4),
        threadgroup=64,
    )

    np.testing.assert_allclose(result, p.expected(masked), rtol=0, atol=tolerance)


@pytest.mark.parametrize(
    ("name", "dtype", "size", "keys", "tolerance"),
    [("bf16", ml_dtypes.bfloat16, 32, 40, 1e-4), ("f32", np.float32, 16, 64, 1e-5)],
)
def test_weights_of_attention_by_tiles_as_types(
    name: str, dtype: type, size: int, keys: int, tolerance: float
) -> None:
    rng = np.random.default_rng(keys)
    q = rng.standard_normal((2, 3, 48, size)).astype(dtype)
    k = rng.standard_normal((2, 3, keys, size)).astype(dtype)
    result = np.zeros((2, 3, 48, keys), dtype=np.float32)

    run(
        kernel("tiles", f"scores_{name}_{size}_{keys}"),
        q,
        k,
        result,
        np.array([2, 3, 48, 0], dtype=np.int32),
        threadgroups=(3, 3, 2),
        threadgroup=64,
    )

    scores = q.astype(np.float64) @ k.astype(np.float64).swapaxes(2, 3) * size**-0.5
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(result, weights, rtol=1e-3, atol=tolerance)
