"""An attention block of bfloat16 in TOSA, which TFLite cannot say."""

from __future__ import annotations

import numpy as np

from .text import Block


def bf16_attention(seed: int = 10, tokens: int = 32, width: int = 64, heads: int = 4) -> str:
    """Attention with softmax, a residual, and a product whose results go through SiLU."""
    block = Block(seed)
    shape = (1, tokens, width)
    block.input("%x", shape)
    head = width // heads

    def part() -> str:
        made = block.product("%x", block.weights(width, width))
        apart = block.reshape(made, (tokens, heads, head))
        return block.transpose(apart, (1, 0, 2))

    q, k, v = part(), part(), part()
    scores = block.product(q, block.transpose(k, (0, 2, 1)))
    square, row = (heads, tokens, tokens), (heads, tokens, 1)
    scale = block.const(np.full((1, 1, 1), head**-0.5).round(4))
    shift = block.const(np.zeros(1, np.int8), "i8")
    scores = block.op("mul", [scores, scale, shift], square)
    propagate = "nan_mode = #tosa.nan_mode<PROPAGATE>"
    most = block.op("reduce_max", [scores], row, fields=f"axis = 2 : i32, {propagate}")
    chances = block.op("exp", [block.op("sub", [scores, most], square)], square)
    total = block.op("reduce_sum", [chances], row, fields="axis = 2 : i32")
    chances = block.op("mul", [chances, block.op("reciprocal", [total], row), shift], square)
    mixed = block.transpose(block.product(chances, v), (1, 0, 2))
    mixed = block.product(block.reshape(mixed, shape), block.weights(width, width))
    y = block.op("add", ["%x", mixed], shape)
    wide = block.product(y, block.weights(width, width))
    wide = block.op("mul", [wide, block.op("sigmoid", [wide], shape), shift], shape)
    y = block.op("add", [y, wide], shape)
    return block.text([y])
