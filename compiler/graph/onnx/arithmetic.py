"""Element by element: sums, products, extremes and limits of real numbers in integers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..elements import LIMITS
from .model import Node
from .state import Convert, State, attribute, reason_of
from .values import Constant, Mapped, NotForNpu, Real, Tensor, Value, sampled

_LEFT_BITS = {"int8": 20, "int16": 15}
"""Bits that numbers are shifted left before they are added, as TFLite does."""
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Div": np.divide,
    "Pow": np.power,
    "Max": np.maximum,
    "Min": np.minimum,
}


def combine(state: State, node: Node) -> Value:
    """Add, Sub, Mul, Div, Pow, Max and Min of two; of more, one behind the other."""
    found = state.operand(node, 0)
    for index in range(1, len(node.inputs)):
        found = _combined(state, node, found, state.operand(node, index))
    return found


def _combined(state: State, node: Node, a: Value, b: Value) -> Value:
    number, other = (_number(a), b) if _number(b) is None else (_number(b), a)
    if number is not None and isinstance(other, Real):
        simple = _with_number(node.op, other, number, is_right=other is a)
        if simple is not None:
            return simple
    table = _as_function(node.op, a, b)
    if table is not None:
        return table
    if node.op in ("Add", "Sub"):
        return _sum(state, node, a, b)
    if node.op == "Div" and isinstance(b, Constant):
        return _product(state, node, a, Constant(array=1 / b.array))
    if node.op == "Mul":
        return _product(state, node, a, b)
    if node.op in ("Max", "Min"):
        return _extreme(state, node, a, b)
    raise NotForNpu("of two tensors that are both computed")


def _number(value: Value) -> float | None:
    """The value, if it is one constant number."""
    if isinstance(value, Constant) and value.array.size == 1 and value.array.dtype.kind == "f":
        return float(value.array.reshape(-1)[0])
    return None


def _with_number(op: str, x: Real, number: float, *, is_right: bool) -> Real | None:
    """What changes the meaning of integers only: limits, and positive factors."""
    if op == "Max":
        return limited(x, number, np.inf)
    if op == "Min":
        return limited(x, -np.inf, number)
    factor = number if op == "Mul" else 1 / number if op == "Div" and is_right and number else 0.0
    if not factor > 0:
        return None
    low, high = x.limits
    return replace(x, scale=x.scale * factor, limits=(low * factor, high * factor))


def limited(x: Real, low: float, high: float) -> Real:
    """The same numbers within (further) limits."""
    least, most = x.limits
    return replace(x, limits=(min(max(least, low), high), min(max(most, low), high)))


def _as_function(op: str, a: Value, b: Value) -> Mapped | None:
    """The result as a function of one tensor of few bits, if it is one that has to be."""
    x = next((base for value in (a, b) if (base := _base(value)) is not None), None)
    if x is None:
        return None
    sides = [_side(value, x) for value in (a, b)]
    if sides[0] is None or sides[1] is None:
        return None
    # Sums and products of 16 bits are exact, functions of them are not.
    if isinstance(a, Real) and isinstance(b, Real) and x.tensor.dtype != "int8" and op != "Div":
        return None
    with np.errstate(all="ignore"):
        return Mapped(x=x, values=np.asarray(_FUNCTIONS[op](*sides), np.float64))


def _base(value: Value) -> Real | None:
    """What a value is a function of, if that has 8 or 16 bits."""
    if isinstance(value, Mapped):
        return value.x
    if isinstance(value, Real) and value.is_even and value.tensor.dtype in ("int8", "int16"):
        return value
    return None


def _side(value: Value, x: Real) -> Any:
    """The value as numbers for each integer of x; None if it depends on something else."""
    number = _number(value)
    if number is not None:
        return np.float64(number)
    if isinstance(value, Mapped) and value.x.tensor.value is x.tensor.value:
        return value.values
    same = isinstance(value, Real) and value.tensor.value is x.tensor.value
    return sampled(value) if same and isinstance(value, Real) else None


def _sum(state: State, node: Node, a: Value, b: Value) -> Real:
    """a + b, or a - b: in 32 bits of a common scale."""
    sign = -1 if node.op == "Sub" else 1
    is_sum = isinstance(a, Real) and a.tensor.dtype in ("int32", "int48")
    if is_sum and isinstance(a, Real) and isinstance(b, Constant):
        found = _with_bias(state, node, a, b, sign)
        if found is not None:
            return found
    if isinstance(a, Constant) and isinstance(b, Real) and sign > 0:
        return _sum(state, node, b, a)
    x, y = (state.as_real(_even(state, node, value)) for value in (a, b))
    bits = min(_LEFT_BITS.get(each.tensor.dtype, 0) for each in (x, y))
    if not bits:
        target = state.scale_behind(node)
        if target is None:
            raise NotForNpu("no scale before it and none behind: quantise the tensor")
        common, bits = target[0], 8
    else:
        common = 2 * max(x.step, y.step)
    sides = [_aligned(state, each, common, bits) for each in (x, y)]
    made = state.writer.binary("add" if sign > 0 else "sub", sides[0], sides[1])
    return Real(tensor=made, scale=np.asarray(common / (1 << bits)))


def _even(state: State, node: Node, value: Value) -> Value:
    if isinstance(value, Mapped):
        raise NotForNpu(reason_of(value))
    return state.even(node, value)


def _with_bias(state: State, node: Node, a: Real, b: Constant, sign: int) -> Real | None:
    """Sums with a constant added to them, which is rounded to their scale; None if that is along
    another axis than their scales.
    """
    x = state.settled(a)
    rank = len(x.tensor.shape)
    bias = b.array.reshape((1,) * (rank - b.array.ndim) + b.array.shape)
    scale = x.scale
    if scale.size > 1:
        scale = scale.reshape([-1 if axis == x.axis else 1 for axis in range(rank)])
    integers = np.rint(sign * bias.astype(np.float64) / scale)
    low, high = LIMITS["int32"]
    if integers.size > x.scale.size * bias.size or np.any((integers < low) | (integers > high)):
        return None
    only = len(state.model.readers.get(node.inputs[0], ())) == 1
    if only and integers.size in (1, integers.shape[x.axis]):
        added = np.broadcast_to(integers.reshape(-1), (x.tensor.shape[x.axis],))
        if state.writer.add_to_bias(x.tensor.value, added):
            return x
    made = state.writer.const(integers, x.tensor.dtype)
    constant = Tensor(value=made, dtype=x.tensor.dtype, shape=integers.shape)
    if x.tensor.last:
        constant = _turned_constant(state, constant, integers)
    return x.of(state.writer.binary("add", x.tensor, constant))


def _turned_constant(state: State, constant: Tensor, integers: Any) -> Tensor:
    turned = np.moveaxis(integers, 1, -1)
    made = state.writer.const(turned, constant.dtype)
    return Tensor(value=made, dtype=constant.dtype, shape=constant.shape, last=True)


def _aligned(state: State, x: Real, common: float, bits: int) -> Tensor:
    """Integers at 2**-bits of the common scale; the order of the steps is TFLite's."""
    writer, factor = state.writer, x.step / common
    if x.tensor.dtype == "int32":
        return writer.rescale(x.tensor, factor * (1 << bits), "int32")
    if factor == 0.5:
        return writer.rescale(x.tensor, 2.0 ** (bits - 1), "int32", input_zp=x.zero_point)
    wide = writer.rescale(x.tensor, 2.0**bits, "int32", input_zp=x.zero_point)
    return writer.rescale(wide, factor, "int32")


def _product(state: State, node: Node, a: Value, b: Value) -> Real:
    sides = []
    scale = 1.0
    for value in (a, b):
        if isinstance(value, Mapped):
            raise NotForNpu(reason_of(value))
        x = state.as_real(state.even(node, value))
        if x.tensor.dtype not in ("int8", "int16"):
            raise NotForNpu("an operand of the product has no scale: quantise the tensor")
        scale *= x.step
        sides.append(state.writer.rescale(x.tensor, 1.0, "int32", input_zp=x.zero_point))
    shift = state.writer.one(0, "int8")
    made = state.writer.binary("mul", sides[0], sides[1], [shift])
    return Real(tensor=made, scale=np.asarray(scale))


def _extreme(state: State, node: Node, a: Value, b: Value) -> Real:
    """The larger or smaller ones, at the scale of what is coarser."""
    name = "maximum" if node.op == "Max" else "minimum"
    x, y = (state.as_real(_even(state, node, value)) for value in (a, b))
    if x.tensor.dtype == y.tensor.dtype and (x.step, x.zero_point) == (y.step, y.zero_point):
        return x.of(state.writer.binary(name, x.tensor, y.tensor))
    if "int32" in (x.tensor.dtype, y.tensor.dtype):
        raise NotForNpu("an operand has no scale: quantise the tensor")
    bits = min(_LEFT_BITS[each.tensor.dtype] for each in (x, y))
    common = 2 * max(x.step, y.step)
    sides = [_aligned(state, each, common, bits) for each in (x, y)]
    return Real(
        tensor=state.writer.binary(name, sides[0], sides[1]), scale=np.asarray(common / (1 << bits))
    )


def relu(state: State, node: Node) -> Value:
    """Relu."""
    return _clipped(state.operand(node, 0), 0.0, np.inf)


def clip(state: State, node: Node) -> Value:
    """Clip, whose limits are attributes or constants."""
    bounds = []
    for index, (name, default) in enumerate((("min", -np.inf), ("max", np.inf)), 1):
        bound = attribute(node, name, default)
        if state.given(node, index):
            bound = state.known(node, index, "a limit").reshape(-1)[0]
        bounds.append(float(bound))
    return _clipped(state.operand(node, 0), *bounds)


def _clipped(value: Value, low: float, high: float) -> Value:
    if isinstance(value, Mapped):
        return replace(value, values=np.clip(value.values, low, high))
    if isinstance(value, Real):
        return limited(value, low, high)
    raise NotForNpu(reason_of(value))


OPERATORS: dict[tuple[str, str], Convert] = {
    **{("", name): combine for name in _FUNCTIONS},
    ("", "Relu"): relu,
    ("", "Clip"): clip,
}
"""By domain and name."""
