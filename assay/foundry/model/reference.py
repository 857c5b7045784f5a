"""The decoder in NumPy, in double precision: what the kernels are held to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from assay.compiler.foundry.formats import Format

from .weights import Matrix, Weights

Numbers = NDArray[np.float64]


def reference_logits(
    weights: Weights, tokens: Sequence[int], cache: Format | None = None
) -> Numbers:
    """Logits [tokens, vocabulary] of each token after those before it.

    With `cache`, keys and values are rounded to that format, as a cache in it has them.
    """
    c = weights.config
    x = weights.embedding.values[np.asarray(tokens)].astype(np.float64)
    for number, layer in enumerate(weights.layers):
        normal = _normal(x, layer.attention_norm, c.epsilon)
        x = x + _attention(weights, number, normal, cache)
        normal = _normal(x, layer.norm, c.epsilon)
        gate, up = _linear(layer.gate, normal), _linear(layer.up, normal)
        x = x + _linear(layer.down, gate / (1 + np.exp(-gate)) * up)
    return _linear(weights.output, _normal(x, weights.norm, c.epsilon))


def _attention(weights: Weights, number: int, x: Numbers, cache: Format | None) -> Numbers:
    c, layer = weights.config, weights.layers[number]
    count = len(x)
    q = _linear(layer.q, x).reshape(count, c.heads, c.head_size)
    k = _linear(layer.k, x).reshape(count, c.kv_heads, c.head_size)
    if number not in c.unturned:
        q, k = _turned(weights, q), _turned(weights, k)
    v = _linear(layer.v, x).reshape(count, c.kv_heads, c.head_size)
    k, v = (_rounded(each, cache) for each in (k, v))
    group = c.heads // c.kv_heads
    k, v = (np.repeat(each, group, axis=1) for each in (k, v))
    scores = np.einsum("qhd,khd->hqk", q, k) / np.sqrt(c.head_size)
    scores += np.triu(np.full((count, count), -np.inf), 1)
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares /= shares.sum(axis=-1, keepdims=True)
    return _linear(layer.output, np.einsum("hqk,khd->qhd", shares, v).reshape(count, -1))


def _turned(weights: Weights, x: Numbers) -> Numbers:
    c = weights.config
    frequencies = c.rope_base ** (-np.arange(c.pairs) / c.pairs)
    if weights.rope_factors is not None:
        frequencies = frequencies / weights.rope_factors
    angles = np.arange(len(x))[:, None, None] * frequencies
    places = np.arange(2 * c.pairs)
    first = places[: c.pairs] if c.is_neox else places[::2]
    second = places[c.pairs :] if c.is_neox else places[1::2]
    made = x.copy()
    made[..., first] = x[..., first] * np.cos(angles) - x[..., second] * np.sin(angles)
    made[..., second] = x[..., first] * np.sin(angles) + x[..., second] * np.cos(angles)
    return made


def _rounded(x: Numbers, cache: Format | None) -> Numbers:
    if cache is None:
        return x
    rows = x.reshape(-1, x.shape[-1]).astype(np.float32)
    return cache.unpack(cache.pack(rows)).astype(np.float64).reshape(x.shape)


def _linear(matrix: Matrix, x: Numbers) -> Numbers:
    made: Numbers = x @ matrix.values.T.astype(np.float64)
    return made if matrix.bias is None else made + matrix.bias


def _normal(x: Numbers, weight: NDArray[np.float32], epsilon: float) -> Numbers:
    made: Numbers = x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + epsilon) * weight
    return made
