"""TRANSPOSE_CONV2D: a convolution that makes a block of pixels for each of the input."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation, SSAValue

from ...graph.elements import Array
from ...graph.tosa import ops
from ..hl.moves import Slice, Transpose
from ..hl.products import Convolution
from .builder import GENERAL, Builder, Legaliser, NotForNpu, result
from .products import bias_of, zeros_of


def transpose_conv2d(op: Operation, b: Builder) -> SSAValue:
    """Each output row is a row of a block: the taps that meet it are every `stride`-th."""
    weights = b.known(op.operands[1], "weights")
    stride = ops.integers(op, "stride")
    pads = ops.integers(op, "out_pad")
    y = result(op)
    n, height, width, _ = ops.shape(op.operands[0])
    count = weights.shape[0]
    taps = [-(-weights.shape[1 + i] // stride[i]) for i in (0, 1)]
    whole = [(size + t - 1) * s for size, t, s in zip((height, width), taps, stride, strict=True)]
    starts = [-pads[0], -pads[2]]
    for start, size, most in zip(starts, y.shape[1:3], whole, strict=True):
        if start < 0 or start + size > most:
            raise NotForNpu(f"padding {pads} of the result, beyond its windows")
    bias = np.tile(bias_of(op, b, count), stride[0] * stride[1])
    blocks = b.emit(
        Convolution,
        [
            b.value(op.operands[0]),
            b.const(_blocks(weights, stride, taps), ops.dtype(op.operands[1])),
            b.const(bias, "int32" if bias.dtype.kind in "iu" else ops.dtype(op.operands[2])),
        ],
        y.like(shape=(n, height + taps[0] - 1, width + taps[1] - 1, len(bias))),
        padding=(taps[0] - 1, taps[0] - 1, taps[1] - 1, taps[1] - 1),
        stride=(1, 1),
        dilation=(1, 1),
        **zeros_of(op, b),
    )
    rows, columns = height + taps[0] - 1, width + taps[1] - 1
    apart = b.view(blocks, (n, rows, columns, stride[0], stride[1], count))
    shape = (n, rows, stride[0], columns, stride[1], count)
    turned = b.emit(Transpose, [apart], y.like(shape=shape), order=(0, 1, 3, 2, 4, 5))
    made = b.view(turned, (n, *whole, count))
    if (*whole, count) == y.shape[1:]:
        return made
    return b.emit(Slice, [made], y, starts=(0, *starts, 0))


def _blocks(weights: Array, stride: tuple[int, ...], taps: list[int]) -> Array:
    """Weights (o, kh, kw, c) as (rows * columns * o, c, taps, taps) of a block, turned round."""
    count, rows, columns, channels = weights.shape
    around = [(0, taps[0] * stride[0] - rows), (0, taps[1] * stride[1] - columns)]
    wide = np.pad(weights, [(0, 0), *around, (0, 0)])
    apart = wide.reshape(count, taps[0], stride[0], taps[1], stride[1], channels)
    turned = apart[:, ::-1, :, ::-1].transpose(2, 4, 0, 5, 1, 3)
    return turned.reshape(-1, channels, *taps)


LEGALISERS: dict[str, tuple[str, Legaliser]] = {
    "tosa.transpose_conv2d": (GENERAL, transpose_conv2d)
}
"""By the operator's name, with the way that it goes."""
