"""What TorqHL's sums and reductions compute, in NumPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...graph.elements import LIMITS, NUMPY, Array, is_float
from ...graph.meaning import pooling, products
from ...graph.meaning.arithmetic import narrowed, scaled, wide
from ..operators.quantisation import FloatRange, Rescale
from ..operators.tensors import Layout
from . import products as product_ops
from . import reductions as reduction_ops
from .operation import HlOp
from .types import Tensor, tensor_of

Meaning = Callable[[Any, Sequence[Array]], Array]
_BITWISE = {"band": np.bitwise_and, "bor": np.bitwise_or, "bxor": np.bitwise_xor}


def rescaled(
    value: Array, scaling: Rescale | FloatRange | None, y: Tensor, axis: int = -1
) -> Array:
    """Sums as results; channels lie along `axis`."""
    if isinstance(scaling, FloatRange):
        bounds = np.float32(scaling.low), np.float32(scaling.high)
        return np.clip(value.astype(np.float32), *bounds).astype(NUMPY[y.dtype])
    if scaling is None:
        return value.astype(NUMPY[y.dtype]) if is_float(y.dtype) else narrowed(value, y.dtype)
    low, high = LIMITS[y.dtype]
    return scaled(
        value,
        along(scaling.multipliers, value.ndim, axis),
        along(scaling.shifts, value.ndim, axis),
        output_zp=scaling.zero_point,
        dtype=y.dtype,
        double_round=scaling.double_round,
        limits=(max(low, scaling.low), min(high, scaling.high)),
    )


def along(numbers: Sequence[int], rank: int, axis: int) -> Array:
    """Numbers that lie along one axis of many."""
    if len(numbers) == 1:
        return np.array(numbers[0], np.int64)
    places = [1] * rank
    places[axis] = len(numbers)
    return np.array(numbers, np.int64).reshape(places)


def by_rows(x: Array, kind: Tensor) -> Array:
    """(n, h, w, c) of any layout."""
    return x if kind.layout is Layout.ROWS else x.transpose(0, 2, 3, 1)


def as_laid_out(y: Array, kind: Tensor) -> Array:
    """(n, h, w, c) as the layout has it."""
    return y if kind.layout is Layout.ROWS else np.ascontiguousarray(y.transpose(0, 3, 1, 2))


def _windows(op: HlOp) -> dict[str, Any]:
    fields: Mapping[str, Any] = op.fields
    return {
        "pads": fields["padding"],
        "stride": fields["stride"],
        "dilation": fields["dilation"],
        "input_zp": fields["input_zp"],
        "weight_zp": fields["weight_zp"],
    }


def _convolution(op: product_ops.Convolution, x: Sequence[Array]) -> Array:
    data = by_rows(x[0], tensor_of(op.x))
    total = products.convolved(data, x[1].transpose(0, 2, 3, 1), x[2], **_windows(op))
    return as_laid_out(rescaled(total, op.field("rescale"), op.type), op.type)


def _depthwise(op: product_ops.DepthwiseConvolution, x: Sequence[Array]) -> Array:
    data = by_rows(x[0], tensor_of(op.x))
    weights = x[1].transpose(1, 2, 0)[..., None]
    total = products.convolved_by_channel(data, weights, x[2], **_windows(op))
    return as_laid_out(rescaled(total, op.field("rescale"), op.type), op.type)


def _fully_connected(op: product_ops.FullyConnected, x: Sequence[Array]) -> Array:
    zeros = {"a_zp": op.field("input_zp"), "b_zp": op.field("weight_zp")}
    total = products.matrix_product(x[0], x[1].T, **zeros)
    bias = x[2].astype(np.float32) if total.dtype == np.float32 else wide(x[2])
    return rescaled(total + bias, op.field("rescale"), op.type)


def _matmul(op: product_ops.MatMul, x: Sequence[Array]) -> Array:
    total = products.matrix_product(x[0], x[1], a_zp=op.field("a_zp"), b_zp=op.field("b_zp"))
    return rescaled(total, op.field("rescale"), op.type)


def _pool(op: reduction_ops.Pool, x: Sequence[Array]) -> Array:
    kind = tensor_of(op.x)
    data, fields = by_rows(x[0], kind), op.fields
    shape = {"kernel": fields["kernel"], "stride": fields["stride"], "pads": fields["padding"]}
    if fields["kind"] == "max":
        return as_laid_out(pooling.largest(data, kind.dtype, **shape), op.type)
    zeros = {"input_zp": fields["input_zp"], "output_zp": fields["output_zp"]}
    return as_laid_out(pooling.mean(data, kind.dtype, **shape, **zeros), op.type)


def _mean(op: reduction_ops.Mean, x: Sequence[Array]) -> Array:
    data = by_rows(x[0], tensor_of(op.x))
    total = (wide(data) - op.field("input_zp")).sum(axis=(1, 2))
    return rescaled(total, op.field("rescale"), op.type)


def _reduce(op: reduction_ops.Reduce, x: Sequence[Array]) -> Array:
    kind, axis, y = op.field("kind"), op.field("axis"), op.type
    if kind in ("argmax", "argmin"):
        found = (np.argmax if kind == "argmax" else np.argmin)(x[0], axis=axis)
        return np.asarray(found).reshape(y.shape).astype(NUMPY[y.dtype])
    if kind in _BITWISE:
        return np.asarray(_BITWISE[kind].reduce(x[0], axis=axis)).reshape(y.shape)
    if kind == "product" and is_float(y.dtype):
        return _product(np.moveaxis(x[0], axis, 0)).reshape(y.shape)
    return pooling.reduced(kind, x[0], [axis], y.dtype).reshape(y.shape)


def _product(steps: Array) -> Array:
    """Rounded at each step."""
    total = steps[0]
    for step in steps[1:]:
        total = (total.astype(np.float32) * step.astype(np.float32)).astype(total.dtype)
    return np.asarray(total)


MEANINGS: dict[type[HlOp], Meaning] = {
    product_ops.Convolution: _convolution,
    product_ops.DepthwiseConvolution: _depthwise,
    product_ops.FullyConnected: _fully_connected,
    product_ops.MatMul: _matmul,
    reduction_ops.Pool: _pool,
    reduction_ops.Mean: _mean,
    reduction_ops.Reduce: _reduce,
}
"""By operation."""
