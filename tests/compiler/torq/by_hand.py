"""Operators of tensors that have their places in LRAM, for programs written by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from assay.compiler.torq.kernels.lower import kind, lower
from assay.compiler.torq.operators.elementwise import (
    Add,
    Clamp,
    Elementwise,
    Mul,
    Scale,
    Select,
    Table,
    Unary,
)
from assay.compiler.torq.operators.moves import (
    Broadcast,
    Concat,
    Copy,
    Fill,
    Gather,
    Repeat,
    Segment,
    Slice,
    Transpose,
)
from assay.compiler.torq.operators.products import (
    Convolution,
    DepthwiseConvolution,
    FullyConnected,
    MatMul,
    Padding,
)
from assay.compiler.torq.operators.quantisation import FloatRange, Rescale
from assay.compiler.torq.operators.reductions import Pool, Reduce
from assay.compiler.torq.operators.tensors import Layout, TensorType
from assay.compiler.torq.slice.lram import Lram
from assay.compiler.torq.slice.scaling import sum_bits
from assay.compiler.torq.slice.tensor import Tensor
from assay.hw.torq.words.commands import SliceTask

from .machine import Array

_NOWHERE = Lram(0, 0)
SHIFTS = {"left": "LSL", "right_logical": "LSR", "right_arithmetic": "ASR"}


def _bits(weights: Array, bias: Array, input_zp: int, dtype: str) -> int:
    axes = tuple(range(1, weights.ndim))
    folded = bias.astype(np.int64) - input_zp * weights.astype(np.int64).sum(axis=axes)
    return sum_bits(weights, folded, dtype)


def conv2d(
    lram: Lram,
    x: Tensor,
    weights: Array,
    bias: Array,
    output: Tensor,
    *,
    padding: Padding,
    rescale: Rescale | FloatRange,
    input_zp: int = 0,
    stride: int = 1,
) -> list[SliceTask]:
    """A convolution with weights (o, c, kh, kw), or a depthwise one with (c, kh, kw)."""
    make: Callable[..., Convolution | DepthwiseConvolution]
    make = DepthwiseConvolution if weights.ndim == 3 else Convolution
    op = make(
        x=kind(x, Layout.PLANES if stride == 1 else Layout.QUADRANTS),
        weights=TensorType(dtype=str(weights.dtype), shape=weights.shape),
        y=kind(output, Layout.PLANES),
        padding=padding,
        rescale=rescale,
        input_zp=input_zp,
        stride=stride,
        sum_bits=_bits(weights, bias, input_zp, x.dtype) if x.dtype != "bfloat16" else 0,
    )
    return lower(lram, op, {"x": x, "y": output}, {"weights": weights, "bias": bias})


def fully_connected(
    lram: Lram,
    x: Tensor,
    weights: Array,
    bias: Array,
    output: Tensor,
    *,
    rescale: Rescale,
    input_zp: int = 0,
) -> list[SliceTask]:
    op = FullyConnected(
        x=kind(x),
        weights=TensorType(dtype=str(weights.dtype), shape=weights.shape),
        y=kind(output),
        rescale=rescale,
        input_zp=input_zp,
        sum_bits=_bits(weights, bias, input_zp, x.dtype),
    )
    return lower(lram, op, {"x": x, "y": output}, {"weights": weights, "bias": bias})


def matmul(
    lram: Lram, a: Tensor, b: Tensor, output: Tensor, *, rescale: Rescale | None = None
) -> list[SliceTask]:
    op = MatMul(a=kind(a), b=kind(b), y=kind(output), rescale=rescale)
    return lower(lram, op, {"a": a, "b": b, "y": output})


def mul(
    lram: Lram, a: Tensor, b: Tensor, output: Tensor, *, rescale: Rescale | None = None
) -> list[SliceTask]:
    op = Mul(a=kind(a), b=kind(b), y=kind(output), rescale=rescale)
    return lower(lram, op, {"a": a, "b": b, "y": output})


def add_scaled(
    lram: Lram,
    a: Tensor,
    b: Tensor,
    output: Tensor,
    *,
    weights: tuple[int, int],
    rescale: Rescale,
    bias: int = 0,
) -> list[SliceTask]:
    op = Add(a=kind(a), b=kind(b), y=kind(output), weights_ab=weights, rescale=rescale, bias=bias)
    return lower(lram, op, {"a": a, "b": b, "y": output})


def combine(op: str, a: Tensor, b: Tensor, output: Tensor) -> list[SliceTask]:
    """One of COMBINATIONS."""
    operator = Elementwise(kind=op, a=kind(a), b=kind(b), y=kind(output))
    return lower(_NOWHERE, operator, {"a": a, "b": b, "y": output})


def add(a: Tensor, b: Tensor, output: Tensor) -> list[SliceTask]:
    return combine("ADD", a, b, output)


def sub(a: Tensor, b: Tensor, output: Tensor) -> list[SliceTask]:
    return combine("SUB", a, b, output)


def shift(
    direction: str, a: Tensor, b: Tensor, output: Tensor, *, rounding: bool = False
) -> list[SliceTask]:
    """`left`, `right_logical` or `right_arithmetic`."""
    return combine(SHIFTS[direction] + ("_ROUND" if rounding else ""), a, b, output)


def select(condition: Tensor, a: Tensor, b: Tensor, output: Tensor) -> list[SliceTask]:
    op = Select(condition=kind(condition), a=kind(a), b=kind(b), y=kind(output))
    return lower(_NOWHERE, op, {"condition": condition, "a": a, "b": b, "y": output})


def rescale(
    lram: Lram, x: Tensor, output: Tensor, *, rescale: Rescale, input_zp: int = 0
) -> list[SliceTask]:
    op = Scale(x=kind(x), y=kind(output), rescale=rescale, input_zp=input_zp)
    return lower(lram, op, {"x": x, "y": output})


def clamp(x: Tensor, output: Tensor, low: float, high: float) -> list[SliceTask]:
    op = Clamp(x=kind(x), y=kind(output), low=low, high=high)
    return lower(_NOWHERE, op, {"x": x, "y": output})


def unary(mode: str, x: Tensor, output: Tensor) -> list[SliceTask]:
    """One of UNARIES."""
    op = Unary(kind=mode, x=kind(x), y=kind(output))
    return lower(_NOWHERE, op, {"x": x, "y": output})


def cast(x: Tensor, output: Tensor) -> list[SliceTask]:
    return unary("CAST", x, output)


def table(lram: Lram, x: Tensor, output: Tensor, entries: Sequence[int]) -> list[SliceTask]:
    op = Table(x=kind(x), y=kind(output), entries=tuple(entries))
    return lower(lram, op, {"x": x, "y": output})


def copy(x: Tensor, output: Tensor) -> list[SliceTask]:
    op = Copy(x=kind(x), y=kind(output))
    return lower(_NOWHERE, op, {"x": x, "y": output})


def transpose(x: Tensor, output: Tensor, order: Sequence[int]) -> list[SliceTask]:
    op = Transpose(x=kind(x), y=kind(output), order=tuple(order))
    return lower(_NOWHERE, op, {"x": x, "y": output})


def transpose_blocks(x: Tensor, output: Tensor) -> list[SliceTask]:
    """Of the last two dimensions."""
    last = len(x.shape) - 1
    return transpose(x, output, (*range(last - 1), last, last - 1))


def slice_(x: Tensor, output: Tensor, starts: Sequence[int]) -> list[SliceTask]:
    op = Slice(x=kind(x), y=kind(output), starts=tuple(starts), steps=(1,) * len(starts))
    return lower(_NOWHERE, op, {"x": x, "y": output})


def concat(parts: Sequence[Tensor], output: Tensor, axis: int) -> list[SliceTask]:
    op = Concat(parts=tuple(kind(part) for part in parts), y=kind(output), axis=axis)
    places = {f"x{number}": part for number, part in enumerate(parts)}
    return lower(_NOWHERE, op, {**places, "y": output})


def resize_nearest(x: Tensor, output: Tensor, factors: tuple[int, int]) -> list[SliceTask]:
    """Of rows (n, h, w, c)."""
    op = Repeat(x=kind(x), y=kind(output), factors=(1, *factors, 1))
    return lower(_NOWHERE, op, {"x": x, "y": output})


def broadcast(x: Tensor, output: Tensor) -> list[SliceTask]:
    op = Broadcast(x=kind(x), y=kind(output))
    return lower(_NOWHERE, op, {"x": x, "y": output})


def segmentation(x: Tensor, output: Tensor) -> list[SliceTask]:
    op = Segment(x=kind(x, Layout.PLANES), y=kind(output, Layout.QUADRANTS))
    return lower(_NOWHERE, op, {"x": x, "y": output})


def fill(output: Tensor, value: int) -> list[SliceTask]:
    return lower(_NOWHERE, Fill(y=kind(output), value=value), {"y": output})


def gather(lram: Lram, values: Tensor, indices: Tensor, output: Tensor) -> list[SliceTask]:
    """Of one batch: values (k, c), indices (w)."""
    values, output = _batch(values), _batch(output)
    indices = replace(indices, shape=(1, *indices.shape), strides=(indices.size, *indices.strides))
    op = Gather(x=kind(values), indices=kind(indices), y=kind(output))
    return lower(lram, op, {"x": values, "indices": indices, "y": output})


def _batch(tensor: Tensor) -> Tensor:
    return replace(tensor, shape=(1, *tensor.shape), strides=(tensor.size, *tensor.strides))


def max_pool2d(
    x: Tensor,
    output: Tensor,
    *,
    kernel: tuple[int, int],
    stride: tuple[int, int],
    padding: Sequence[int] = (0, 0),
) -> list[SliceTask]:
    """Of rows (n, h, w, c); `padding` (top, left)."""
    return _pool(_NOWHERE, "max", x, output, kernel, stride, padding, (0, 0))


def avg_pool2d(
    lram: Lram,
    x: Tensor,
    output: Tensor,
    *,
    kernel: tuple[int, int],
    stride: tuple[int, int],
    padding: Sequence[int] = (0, 0),
    input_zp: int = 0,
    output_zp: int = 0,
) -> list[SliceTask]:
    """Of rows (n, h, w, c); `padding` (top, left)."""
    return _pool(lram, "mean", x, output, kernel, stride, padding, (input_zp, output_zp))


def _pool(
    lram: Lram,
    which: str,
    x: Tensor,
    output: Tensor,
    kernel: tuple[int, int],
    stride: tuple[int, int],
    padding: Sequence[int],
    zero_points: tuple[int, int],
) -> list[SliceTask]:
    op = Pool(
        kind=which,
        x=kind(x),
        y=kind(output),
        kernel=kernel,
        stride=stride,
        padding=Padding(top=padding[0], left=padding[1]),
        input_zp=zero_points[0],
        output_zp=zero_points[1],
    )
    return lower(lram, op, {"x": x, "y": output})


def reduce(name: str, x: Tensor, output: Tensor, axis: int) -> list[SliceTask]:
    op = Reduce(kind=name, x=kind(x), y=kind(output), axis=axis)
    return lower(_NOWHERE, op, {"x": x, "y": output})
