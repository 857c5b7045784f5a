"""Operators on integers: those with scales among their operands, and those without."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .arithmetic import combine
from .convolution import convolved, weights_of
from .functions import of_one
from .model import Node
from .moves import concat
from .pooling import average_pool, global_average_pool, reduce_mean
from .products import matrix_product, multiplied
from .quantisation import dequantised, quantised, scale_of, zero_point_of_any
from .softmax import softmax
from .state import Convert, State, attribute, zero_point_of
from .values import OFFSETS, Constant, Integers, NotForNpu, Real, Value

_ONE = np.asarray(1.0)


def plain(state: State, node: Node, index: int, point: int) -> Value:
    """An operand of integers as the numbers that they are less their zero point."""
    return _dequantised(state, node, index, None, point)


def as_integers(x: Real) -> Integers:
    """Sums of plain integers. Raises NotForNpu if they have more than 32 bits."""
    if x.tensor.dtype != "int32":
        raise NotForNpu("its operands have more than 8 bits")
    return Integers(tensor=x.tensor, dtype="int32")


def _dequantised(
    state: State, node: Node, index: int, scale: int | None, point: int | None, axis: int = 0
) -> Value:
    """An operand as real numbers; `scale` and `point` are the operands that say how."""
    zero = None
    if point is not None and state.given(node, point):
        found, dtype = zero_point_of_any(state.known(node, point, "a zero point"))
        zero = found + OFFSETS.get(dtype, 0)
    factor = _ONE if scale is None else scale_of(state.known(node, scale, "a scale"))
    return dequantised(state, state.operand(node, index), factor, zero, axis)


def _quantised(state: State, node: Node, value: Value, scale: int) -> Value:
    """A result as integers; the operands at `scale` and behind it say how."""
    factor = scale_of(state.known(node, scale, "a scale"))
    if factor.size > 1:
        raise NotForNpu("its result is quantised by channel")
    point, dtype = zero_point_of(state, node, scale + 1)
    return quantised(state, value, float(factor), point, dtype)


def qlinear_conv(state: State, node: Node) -> Value:
    """QLinearConv: x, its scale and zero point, weights and theirs, those of the result, bias."""
    x = state.as_real(_dequantised(state, node, 0, 1, 2))
    weights = weights_of(_dequantised(state, node, 3, 4, 5), axis=0)
    bias = None
    if state.given(node, 8):
        integers = state.known(node, 8, "a bias").astype(np.int32)
        scale = np.broadcast_to(x.step * weights.scale.reshape(-1), integers.shape)
        bias = Constant(array=integers * scale, integers=integers, scale=scale.reshape(-1))
    scale = scale_of(state.known(node, 6, "a scale"))
    target = (float(scale), *zero_point_of(state, node, 7)) if scale.size == 1 else None
    return _quantised(state, node, convolved(state, node, x, weights, bias, target), 6)


def conv_integer(state: State, node: Node) -> Value:
    """ConvInteger."""
    x = state.as_real(plain(state, node, 0, 2))
    return as_integers(convolved(state, node, x, weights_of(plain(state, node, 1, 3), axis=0)))


def matmul_integer(state: State, node: Node) -> Value:
    """MatMulInteger."""
    return as_integers(multiplied(state, plain(state, node, 0, 2), plain(state, node, 1, 3)))


def qlinear_matmul(state: State, node: Node) -> Value:
    """QLinearMatMul."""
    b = _dequantised(state, node, 3, 4, 5, axis=-1)
    return _quantised(state, node, multiplied(state, _dequantised(state, node, 0, 1, 2), b), 6)


def qgemm(state: State, node: Node) -> Value:
    """QGemm of com.microsoft, whose bias has the scale of the sums."""
    if attribute(node, "alpha", 1.0) != 1.0 or attribute(node, "transA", 0):
        raise NotForNpu("its factor alpha is not 1, or its first operand is transposed")
    axis = 0 if attribute(node, "transB", 0) else 1
    a = _dequantised(state, node, 0, 1, 2)
    b = _dequantised(state, node, 3, 4, 5, axis=axis)
    bias: Value | None = None
    if state.given(node, 6):
        integers = state.known(node, 6, "a bias").astype(np.int32).reshape(-1)
        scale = state.as_real(a).step * weights_of(b, axis=axis).scale.reshape(-1)
        along = np.broadcast_to(scale, integers.shape)
        bias = Constant(array=integers * along, integers=integers, scale=along)
    total = matrix_product(state, node, a, b, bias)
    if not state.given(node, 7):
        return total
    return _quantised(state, node, total, 7)


def _named(node: Node, op: str, inputs: int) -> Node:
    """The node of real numbers that one of com.microsoft's has inside."""
    return replace(node, op=op, domain="", inputs=tuple(f"{n}" for n in range(inputs)))


def _inside(convert: Convert, op: str, operands: int) -> Convert:
    """Operands with a scale and zero point each, and those of the result behind them."""

    def converted(state: State, node: Node) -> Value:
        values = {
            f"{n}": _dequantised(state, node, 3 * n, 3 * n + 1, 3 * n + 2) for n in range(operands)
        }
        own = State(model=state.model, writer=state.writer, values=values)
        found = convert(own, _named(node, op, operands))
        assert not isinstance(found, Sequence)
        return _quantised(state, node, found, 3 * operands)

    return converted


def qlinear_concat(state: State, node: Node) -> Value:
    """QLinearConcat: the result's scale and zero point, then parts with theirs."""
    point, dtype = zero_point_of(state, node, 1)
    scale = float(scale_of(state.known(node, 0, "a scale")))
    parts = []
    for first in range(2, len(node.inputs), 3):
        part = _dequantised(state, node, first, first + 1, first + 2)
        parts.append(quantised(state, part, scale, point, dtype))
    return concat(state, node, parts)


_INSIDE: dict[str, tuple[Convert, str, int]] = {
    "QLinearAdd": (combine, "Add", 2),
    "QLinearMul": (combine, "Mul", 2),
    "QLinearSigmoid": (of_one, "Sigmoid", 1),
    "QLinearLeakyRelu": (of_one, "LeakyRelu", 1),
    "QLinearSoftmax": (softmax, "Softmax", 1),
    "QLinearAveragePool": (average_pool, "AveragePool", 1),
    "QLinearGlobalAveragePool": (global_average_pool, "GlobalAveragePool", 1),
    "QLinearReduceMean": (reduce_mean, "ReduceMean", 1),
}
OPERATORS: dict[tuple[str, str], Convert] = {
    ("", "QLinearConv"): qlinear_conv,
    ("", "ConvInteger"): conv_integer,
    ("", "MatMulInteger"): matmul_integer,
    **{(domain, "QLinearMatMul"): qlinear_matmul for domain in ("", "com.microsoft")},
    ("com.microsoft", "QGemm"): qgemm,
    ("com.microsoft", "QLinearConcat"): qlinear_concat,
    **{
        ("com.microsoft", name): _inside(convert, op, operands)
        for name, (convert, op, operands) in _INSIDE.items()
    },
}
"""By domain and name."""
