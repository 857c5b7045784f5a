"""A decoder's logits are those that MLX computes on the CPU, from the same random weights."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.foundry import MlxAffine
from assay.foundry.model import SMALL, Llama, write_seeded
from assay.foundry.model.weights import Matrix, Weights

mx = pytest.importorskip("mlx.core")
TINY = replace(SMALL, width=128, hidden=192, heads=4, head_size=32, pairs=16, vocabulary=90)
FLOATS = {"mlx_mxfp4": (32, "mxfp4"), "mlx_nvfp4": (16, "nvfp4")}


def linear(matrix: Matrix, x: Any) -> Any:
    """x times the matrix: by MLX's own product of packed weights where they are in its format."""
    packed, rows = matrix.packed, matrix.packed.rows
    if isinstance(matrix.format, MlxAffine):
        scales, biases = packed.scales.view("<f2").astype(np.float32).reshape(2, rows, -1)
        options = {"group_size": matrix.format.group, "bits": matrix.format.bits}
        planes = (mx.array(scales), mx.array(biases))
    elif matrix.format.name in FLOATS:
        group, mode = FLOATS[matrix.format.name]
        options = {"group_size": group, "bits": 4, "mode": mode}
        planes = (mx.array(packed.scales.reshape(rows, -1)),)
    else:
        return x @ mx.array(matrix.values).T
    words = mx.array(packed.matrix.view("<u4").reshape(rows, -1))
    return mx.quantized_matmul(x, words, *planes, transpose=True, **options)


def mlx_logits(weights: Weights, tokens: list[int]) -> np.ndarray:
    """Logits [tokens, vocabulary], by MLX's functions for each part."""
    c = weights.config
    x = mx.array(weights.embedding.values)[mx.array(tokens)][None]

    def heads(values: Any, count: int) -> Any:
        return values.reshape(1, len(tokens), count, c.head_size).transpose(0, 2, 1, 3)

    def turned(values: Any) -> Any:
        options = {"traditional": not c.is_neox, "base": c.rope_base, "scale": 1.0, "offset": 0}
        return mx.fast.rope(values, 2 * c.pairs, **options)

    for layer in weights.layers:
        normal = mx.fast.rms_norm(x, mx.array(layer.attention_norm), c.epsilon)
        q = turned(heads(linear(layer.q, normal), c.heads))
        k = turned(heads(linear(layer.k, normal), c.kv_heads))
        v = heads(linear(layer.v, normal), c.kv_heads)
        scale = c.head_size**-0.5
        found = mx.fast.scaled_dot_product_attention(q, k, v, scale=scale, mask="causal")
        x = x + linear(layer.output, found.transpose(0, 2, 1, 3).reshape(1, len(tokens), -1))
        normal = mx.fast.rms_norm(x, mx.array(layer.norm), c.epsilon)
        gate, up = linear(layer.gate, normal), linear(layer.up, normal)
        x = x + linear(layer.down, gate * mx.sigmoid(gate) * up)
    x = mx.fast.rms_norm(x, mx.array(weights.norm), c.epsilon)
    return np.array(linear(weights.output, x))[0]


@pytest.mark.parametrize(
    ("stored", "packed"),
    [
        ("q8_0", None),
        pytest.param("f16", "mlx_affine_4_64", marks=pytest.mark.slow),
        pytest.param("f16", "mlx_affine_8_64", marks=pytest.mark.slow),
        pytest.param("f16", "mlx_mxfp4", marks=pytest.mark.slow),
        pytest.param("f16", "mlx_nvfp4", marks=pytest.mark.slow),
    ],
)
def test_a_prompt_and_tokens_behind_it_give_mlx_s_logits(
    tmp_path: Path, stored: str, packed: str | None
) -> None:
    path = write_seeded(tmp_path / "m.gguf", TINY, weights=stored)
    model = Llama.load(path, weights=packed, cache="f32", context=16)
    tokens = [5, 71, 3, 0, 44]
    expected = mlx_logits(model.weights, tokens)
    bound = 2e-5 * np.abs(expected).max()
    assert np.abs(model.feed(tokens[:3]) - expected[2]).max() <= bound
    for place in (3, 4):
        assert np.abs(model.feed(tokens[place : place + 1]) - expected[place]).max() <= bound
