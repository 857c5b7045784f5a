"""Products of matrices: with constant weights a convolution of one pixel, else TOSA's MATMUL."""

from __future__ import annotations

import math

import numpy as np

from .convolution import Weights, bias_of, weights_of
from .model import Node
from .state import Convert, State, attribute
from .values import Constant, NotForNpu, Real, Tensor, Value
from .windows import array_text
from .writer import accumulator, broadcast


def matmul(state: State, node: Node) -> Value:
    """MatMul."""
    return multiplied(state, state.operand(node, 0), state.operand(node, 1))


def multiplied(state: State, a: Value, b: Value) -> Real:
    """The sums of a product of matrices of any rank. Raises NotForNpu."""
    if isinstance(b, Constant) and b.array.ndim == 2:
        x = _narrow(state, a)
        if len(x.tensor.shape) < 2:
            x = x.of(state.writer.reshape(x.tensor, (1, *x.tensor.shape)))
        return connected(state, x, weights_of(b, axis=1), None)
    return _batched(state, _narrow(state, a), _narrow(state, b))


def _narrow(state: State, value: Value) -> Real:
    if isinstance(value, Constant) and value.integers is None:
        raise NotForNpu("a constant operand is not quantised")
    x = state.as_real(value)
    if x.tensor.dtype not in ("int8", "int16") or not x.is_even:
        raise NotForNpu("an operand of the product has no scale: quantise the tensor")
    return x


def connected(state: State, x: Real, weights: Weights, bias: Value | None) -> Real:
    """The rows (..., k) of x times the weights (o, k), plus a bias."""
    writer, (count, depth) = state.writer, weights.integers.shape
    *outer, columns = x.tensor.shape
    if columns != depth:
        raise NotForNpu(f"{columns} columns times {depth} rows")
    scale = x.step * weights.scale
    added = bias_of(bias, scale, count)
    many = math.prod(outer)
    flat = writer.reshape(x.tensor, (many, 1, 1, depth))
    wide = accumulator(x.tensor.dtype)
    kind = wide.replace("i", "int")
    operands = [
        flat.value,
        writer.const(weights.integers.reshape(count, 1, 1, depth), "int8"),
        writer.const(added, kind),
        writer.one(x.zero_point, x.tensor.dtype),
        writer.one(weights.zero_point, "int8"),
    ]
    made = writer.emit(
        "conv2d",
        operands,
        kind,
        (many, 1, 1, count),
        acc_type=wide,
        pad=array_text((0, 0, 0, 0)),
        stride=array_text((1, 1)),
        dilation=array_text((1, 1)),
    )
    total = Tensor(value=made, dtype=kind, shape=(many, 1, 1, count))
    total = writer.reshape(total, (*outer, count))
    return Real(tensor=total, scale=scale, axis=len(outer))


def _batched(state: State, a: Real, b: Real) -> Real:
    """Both operands computed, or a constant for each batch."""
    if a.tensor.dtype != b.tensor.dtype:
        raise NotForNpu("its operands have different types: quantise both alike")
    if min(len(a.tensor.shape), len(b.tensor.shape)) < 2:
        raise NotForNpu("a product with a vector")
    (*outer_a, rows, depth), (*outer_b, other, columns) = a.tensor.shape, b.tensor.shape
    if depth != other:
        raise NotForNpu(f"{depth} columns times {other} rows")
    outer = broadcast(outer_a, outer_b)
    batch = math.prod(outer)
    left = _batches(state, a.tensor, outer_a, outer, (rows, depth))
    right = _batches(state, b.tensor, outer_b, outer, (depth, columns))
    kind = accumulator(a.tensor.dtype).replace("i", "int")
    zeros = [state.writer.one(x.zero_point, x.tensor.dtype) for x in (a, b)]
    operands = [left.value, right.value, *zeros]
    value = state.writer.emit("matmul", operands, kind, (batch, rows, columns))
    made = Tensor(value=value, dtype=kind, shape=(batch, rows, columns))
    made = state.writer.reshape(made, (*outer, rows, columns))
    return Real(tensor=made, scale=np.asarray(a.step * b.step))


def _batches(
    state: State, x: Tensor, own: list[int], outer: tuple[int, ...], matrix: tuple[int, int]
) -> Tensor:
    """(batch, rows, columns), repeated where other operands have more batches."""
    padded = (1,) * (len(outer) - len(own)) + tuple(own)
    repeats = [n // m for n, m in zip(outer, padded, strict=True)]
    if any(n > 1 for n in repeats):
        x = state.writer.reshape(x, (*padded, *matrix))
        operands = [x.value, state.writer.sizes((*repeats, 1, 1))]
        value = state.writer.emit("tile", operands, x.dtype, (*outer, *matrix))
        x = Tensor(value=value, dtype=x.dtype, shape=(*outer, *matrix))
    return state.writer.reshape(x, (math.prod(outer), *matrix))


def gemm(state: State, node: Node) -> Value:
    """Gemm: a product of two matrices, each possibly transposed, plus a bias for each column."""
    if attribute(node, "alpha", 1.0) != 1.0 or attribute(node, "beta", 1.0) != 1.0:
        raise NotForNpu("its factors alpha and beta are not 1")
    if attribute(node, "transA", 0):
        raise NotForNpu("its first operand is transposed")
    bias = state.operand(node, 2) if state.given(node, 2) else None
    return matrix_product(state, node, state.operand(node, 0), state.operand(node, 1), bias)


def matrix_product(state: State, node: Node, a: Value, b: Value, bias: Value | None) -> Real:
    """The sums of a Gemm."""
    x = _narrow(state, a)
    weights = weights_of(b, axis=0 if attribute(node, "transB", 0) else 1)
    if weights.integers.ndim != 2:
        raise NotForNpu("its weights are no matrix")
    return connected(state, x, weights, bias)


OPERATORS: dict[tuple[str, str], Convert] = {
    ("", "MatMul"): matmul,
    ("", "Gemm"): gemm,
}
"""By domain and name."""
