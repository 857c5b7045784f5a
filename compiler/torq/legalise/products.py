"""Convolutions, products of matrices, pooling and reductions."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation, SSAValue

from ...graph.elements import NUMPY, Array, is_float
from ...graph.tosa import ops
from ..hl.moves import Repeat
from ..hl.products import Convolution, DepthwiseConvolution, FullyConnected, MatMul
from ..hl.reductions import Pool, Reduce
from ..hl.types import Tensor, tensor_of
from .builder import DIRECT, Builder, Legaliser, NotForNpu, result
from .float32 import Float32
from .floats import ordered_short, short_of
from .integers import Numbers

_MOST_BIAS = 1 << 31
_MOST_BYTES = 256
"""Products of int16 and a byte whose sum fits 32 bits."""
_NARROW = ("int8", "int16")
"""Types of results that sums are cut to; the NPU makes sums of 32 bits."""


def conv2d(op: Operation, b: Builder) -> SSAValue:
    """CONV2D; of one pixel by one it is a fully connected layer."""
    weights = _weights(op, b)
    x, y = op.operands[0], result(op)
    pads, stride = ops.integers(op, "pad"), ops.integers(op, "stride")
    zeros = zeros_of(op, b)
    bias = _bias(op, b, weights.shape[0])
    if ops.shape(x)[1:3] == (1, 1) == weights.shape[1:3] and not any(pads):
        shape = (ops.shape(x)[0], weights.shape[0])
        flat = b.view(b.value(x), (shape[0], weights.shape[3]))
        matrix = b.const(weights.reshape(shape[1], -1), ops.dtype(op.operands[1]))
        made = b.emit(FullyConnected, [flat, matrix, bias], y.like(shape=shape), **zeros)
        return b.view(made, y.shape)
    kernel = b.const(weights.transpose(0, 3, 1, 2), ops.dtype(op.operands[1]))
    return b.emit(
        Convolution,
        [b.value(x), kernel, bias],
        y,
        padding=pads,
        stride=stride,
        dilation=ops.integers(op, "dilation"),
        **zeros,
    )


def depthwise_conv2d(op: Operation, b: Builder) -> SSAValue:
    """DEPTHWISE_CONV2D; with several kernels per channel, channels are repeated before."""
    weights = _weights(op, b)
    kh, kw, channels, many = weights.shape
    x, y = b.value(op.operands[0]), result(op)
    bias = _bias(op, b, channels * many)
    dtype = ops.dtype(op.operands[1])
    fields = {
        "padding": ops.integers(op, "pad"),
        "stride": ops.integers(op, "stride"),
        "dilation": ops.integers(op, "dilation"),
        **zeros_of(op, b),
    }
    if channels == 1 and many > 1:
        kernel = b.const(weights.transpose(3, 2, 0, 1), dtype)
        return b.emit(Convolution, [x, kernel, bias], y, **fields)
    if many > 1:
        kind = tensor_of(x)
        shape = (*kind.shape[:3], channels * many)
        x = b.emit(Repeat, [x], kind.like(shape=shape), factors=(1, 1, 1, many))
    kernel = b.const(weights.transpose(2, 3, 0, 1).reshape(-1, kh, kw), dtype)
    return b.emit(DepthwiseConvolution, [x, kernel, bias], y, **fields)


def matmul(op: Operation, b: Builder) -> SSAValue:
    """MATMUL."""
    zeros = {}
    if not is_float(ops.dtype(op.operands[0])):
        zeros = {"a_zp": b.point(op, 2), "b_zp": b.point(op, 3)}
    operands = [b.value(value) for value in op.operands[:2]]
    y = result(op)
    wide = y if y.dtype not in _NARROW else y.like(dtype="int32")
    if tensor_of(operands[1]).dtype == "int16" and wide.dtype == "int32":
        return Numbers(b).cut(_wrapped(b, operands, wide), y.dtype)
    made = b.emit(MatMul, operands, wide, **zeros)
    return made if wide is y else Numbers(b).cut(made, y.dtype)


def _wrapped(b: Builder, operands: list[SSAValue], y: Tensor) -> SSAValue:
    """Sums of int16 that can be beyond 32 bits, which wrap: of both bytes of a factor apart."""
    n, depth = Numbers(b), tensor_of(operands[0]).shape[2]
    if depth == 1 or depth > _MOST_BYTES:
        return b.emit(MatMul, operands, y)
    a, factor = operands
    low = n.combine("BAND", factor, n.number(0xFF, factor), "int16")
    high = n.combine("ASR", factor, n.number(8, factor), "int16")
    sums, more = (b.emit(MatMul, [a, part], y) for part in (low, high))
    return n.add(sums, n.combine("LSL", more, n.number(8, more), "int32"))


def pool(op: Operation, b: Builder) -> SSAValue:
    """MAX_POOL2D and AVG_POOL2D."""
    kind = "max" if ops.name_of(op) == "tosa.max_pool2d" else "mean"
    zeros = {}
    if kind == "mean" and not is_float(ops.dtype(op.operands[0])):
        zeros = {"input_zp": b.point(op, 1), "output_zp": b.point(op, 2)}
    windows = {
        "kernel": ops.integers(op, "kernel"),
        "stride": ops.integers(op, "stride"),
        "padding": ops.integers(op, "pad"),
    }
    x, y = b.value(op.operands[0]), result(op)
    if kind == "max" and y.dtype == "bfloat16":
        n = Numbers(b)
        places = ordered_short(n, x)
        return short_of(n, b.emit(Pool, [places], y.like(dtype="int16"), kind=kind, **windows))
    if y.dtype == "bfloat16":
        return _short_mean(op, b, x)
    return b.emit(Pool, [x], y, kind=kind, **windows, **zeros)


def _short_mean(op: Operation, b: Builder, x: SSAValue) -> SSAValue:
    """AVG_POOL2D of bfloat16: sums in float32, by the reciprocal of how many there are."""
    y, kernel = result(op), ops.integers(op, "kernel")
    stride, pads = ops.integers(op, "stride"), ops.integers(op, "pad")
    channels = y.shape[3]
    ones = b.const(np.ones((channels, *kernel), NUMPY["bfloat16"]), "bfloat16")
    nothing = b.const(np.zeros(channels, np.float32), "float32")
    wide = y.like(dtype="float32")
    windows = {"stride": stride, "padding": pads, "dilation": (1, 1)}
    sums = b.emit(DepthwiseConvolution, [x, ones, nothing], wide, **windows)
    starts = [
        np.arange(outputs) * step - before
        for outputs, step, before in zip(y.shape[1:3], stride, (pads[0], pads[2]), strict=True)
    ]
    rows, columns = (
        np.minimum(start + taps, size) - np.maximum(start, 0)
        for start, taps, size in zip(starts, kernel, tensor_of(x).shape[1:3], strict=True)
    )
    many = np.multiply.outer(rows, columns)[None, :, :, None]
    parts = b.const((1 / many).astype(np.float32), "float32")
    return Numbers(b).shorter_float(Float32(b).multiply(sums, parts))


def reduce(op: Operation, b: Builder) -> SSAValue:
    """REDUCE_SUM, _MAX, _MIN, _ALL and _ANY, and ARGMAX."""
    kind = ops.name_of(op).removeprefix("tosa.").removeprefix("reduce_")
    x = b.value(op.operands[0])
    if kind == "argmax" and tensor_of(x).dtype == "bfloat16":
        x = ordered_short(Numbers(b), x)
    return b.emit(Reduce, [x], result(op), kind=kind, axis=ops.integer(op, "axis"))


def _weights(op: Operation, b: Builder) -> Array:
    return b.known(op.operands[1], "weights")


def zeros_of(op: Operation, b: Builder) -> dict[str, int]:
    """The zero points of a product's operands, as fields; floats have none."""
    if is_float(ops.dtype(op.operands[0])):
        return {}
    return {"input_zp": b.point(op, 3), "weight_zp": b.point(op, 4)}


def _bias(op: Operation, b: Builder, channels: int) -> SSAValue:
    """The bias of every channel."""
    bias, dtype = bias_of(op, b, channels), ops.dtype(op.operands[2])
    return b.const(bias, "int32" if dtype == "int48" else dtype)


def bias_of(op: Operation, b: Builder, channels: int) -> Array:
    """The bias of every channel: of integers of 32 bits. Raises NotForNpu."""
    bias = np.broadcast_to(b.known(op.operands[2], "a bias").reshape(-1), (channels,))
    if ops.dtype(op.operands[2]) == "int48" and np.any((bias < -_MOST_BIAS) | (bias >= _MOST_BIAS)):
        raise NotForNpu("a bias does not fit 32 bits")
    return bias


LEGALISERS: dict[str, tuple[str, Legaliser]] = {
    "tosa.conv2d": (DIRECT, conv2d),
    "tosa.depthwise_conv2d": (DIRECT, depthwise_conv2d),
    "tosa.matmul": (DIRECT, matmul),
    "tosa.max_pool2d": (DIRECT, pool),
    "tosa.avg_pool2d": (DIRECT, pool),
    **{f"tosa.reduce_{kind}": (DIRECT, reduce) for kind in ("sum", "max", "min", "all", "any")},
    "tosa.argmax": (DIRECT, reduce),
}
"""By the operator's name, with the way that it goes."""
