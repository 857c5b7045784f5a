"""Between real numbers and integers: quantisers, dequantisers, and tables of functions."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..elements import LIMITS, Array
from .model import Node
from .state import Convert, State, reason_of, zero_point_of
from .values import (
    OFFSETS,
    SIGNED,
    Constant,
    Integers,
    Mapped,
    NotForNpu,
    Real,
    Scale,
    Tensor,
    Value,
)

_CLOSE = 1e-6
"""Relative difference of scales that are meant to be the same."""
_TABLE_BITS = 7
"""Bits that a table of 16-bit integers adds."""


def quantize_linear(state: State, node: Node) -> Value:
    """QuantizeLinear; of an input of floats, the input is there in integers already."""
    value = state.operand(node, 0)
    scale = _scale(state, node, 1)
    point, dtype = zero_point_of(state, node, 2)
    if not state.given(node, 2) and node.attributes.get("output_dtype"):
        raise NotForNpu("its type is told by an attribute: give it a zero point")
    if scale.size > 1:
        raise NotForNpu("a tensor that is computed is quantised by channel")
    return quantised(state, value, float(scale.reshape(-1)[0]), point, dtype)


def dequantize_linear(state: State, node: Node) -> Value:
    """DequantizeLinear."""
    value = state.operand(node, 0)
    if node.attributes.get("block_size"):
        raise NotForNpu("its scales are for blocks, which integers cannot be scaled by")
    axis = int(node.attributes.get("axis", 1))
    return dequantised(state, value, _scale(state, node, 1), _point(state, node, 2), axis)


def _scale(state: State, node: Node, index: int) -> Scale:
    return scale_of(state.known(node, index, "a scale"))


def scale_of(array: Array) -> Scale:
    """Scales as numbers. Raises NotForNpu."""
    scale = np.asarray(array, np.float64)
    if not np.all(np.isfinite(scale)) or np.any(scale <= 0):
        raise NotForNpu("a scale that is not greater than 0")
    return scale.reshape(()) if scale.size == 1 else scale.reshape(-1)


def _point(state: State, node: Node, index: int) -> int | None:
    """The zero point as ONNX has it; None if it is left out."""
    if not state.given(node, index):
        return None
    point, dtype = zero_point_of_any(state.known(node, index, "a zero point"))
    return point + OFFSETS.get(dtype, 0)


def zero_point_of_any(points: Array) -> tuple[int, str]:
    """(zero point of the program's integers, ONNX's type) of weights of any width."""
    if points.size and np.any(points != points.flat[0]):
        raise NotForNpu("its channels have different zero points")
    dtype = points.dtype.name
    return int(points.flat[0]) - OFFSETS.get(dtype, 0), dtype


def dequantised(
    state: State, value: Value, scale: Scale, point: int | None, axis: int = 1
) -> Value:
    """Integers as real numbers; `point` is ONNX's zero point."""
    if isinstance(value, Constant):
        return _constant(value.array, scale, point or 0, axis)
    if not isinstance(value, Integers):
        raise NotForNpu(reason_of(value))
    zero = (point or 0) - value.offset
    if value.tensor.dtype == "int16" and zero:
        raise NotForNpu(f"its zero point is {point}: that of {value.dtype} must be {value.offset}")
    rank = max(len(value.tensor.shape), 1)
    return Real(tensor=value.tensor, scale=scale, zero_point=zero, axis=axis % rank)


def _constant(array: Array, scale: Scale, point: int, axis: int) -> Constant:
    if array.dtype.kind == "f" and array.dtype.name not in ("int4", "uint4"):
        raise NotForNpu(f"a constant of {array.dtype.name} is dequantised")
    name = array.dtype.name
    offset = OFFSETS.get(name, 0)
    integers = (array.astype(np.int64) - offset).astype(_kept(name))
    axis %= max(array.ndim, 1)
    along = scale
    if scale.size > 1:
        if array.ndim == 0 or scale.size != array.shape[axis]:
            raise NotForNpu(f"{scale.size} scales for a constant of {array.shape}")
        along = scale.reshape([-1 if n == axis else 1 for n in range(array.ndim)])
    zero = point - offset
    real = ((integers.astype(np.float64) - zero) * along).astype(np.float32)
    return Constant(array=real, integers=integers, scale=scale, zero_point=zero, axis=axis)


def _kept(name: str) -> str:
    if name in ("int4", "uint4", "int2", "uint2"):
        return "int8"
    if name not in SIGNED:
        raise NotForNpu(f"the NPU does not compute with {name}")
    return SIGNED[name]


def quantised(state: State, value: Value, scale: float, point: int, dtype: str) -> Value:
    """Real numbers as integers of ONNX's type; `point` is that of the program's integers."""
    if isinstance(value, Constant):
        return Constant(array=_rounded(value.array, scale, point, dtype))
    kept = SIGNED[dtype]
    if kept == "int16" and point:
        zero = point + OFFSETS.get(dtype, 0)
        raise NotForNpu(
            f"its zero point is {zero}: that of {dtype} must be {OFFSETS.get(dtype, 0)}"
        )
    if isinstance(value, Mapped):
        return Integers(tensor=_table(state, value, scale, point, kept), dtype=dtype)
    if not isinstance(value, Real):
        raise NotForNpu(reason_of(value))
    tensor = value.tensor
    if not _is_alike(value, scale, point, kept):
        factors = value.scale / scale
        tensor = state.writer.rescale(
            tensor,
            factors,
            kept,
            axis=value.axis,
            input_zp=value.zero_point,
            output_zp=point,
        )
    return Integers(tensor=_limited(state, tensor, value.limits, scale, point), dtype=dtype)


def _rounded(array: Array, scale: float, point: int, dtype: str) -> Array:
    low, high = LIMITS[dtype]
    integers = np.rint(array.astype(np.float32) / np.float32(scale)) + point
    kept: Array = np.clip(integers + OFFSETS.get(dtype, 0), low, high).astype(dtype)
    return kept


def _is_alike(x: Real, scale: float, point: int, dtype: str) -> bool:
    same = x.is_even and math.isclose(x.step, scale, rel_tol=_CLOSE)
    return same and x.zero_point == point and x.tensor.dtype == dtype


def _limited(
    state: State, x: Tensor, limits: tuple[float, float], scale: float, point: int
) -> Tensor:
    """Limits of real numbers as those of their integers: rounding keeps the order of numbers."""
    least, most = LIMITS[x.dtype]
    low, high = (
        int(np.clip(np.rint(np.clip(limit / scale, least * 4, most * 4)) + point, least, most))
        for limit in limits
    )
    return x if (low, high) == (least, most) else state.writer.clamp(x, low, high)


def _table(state: State, value: Mapped, scale: float, point: int, dtype: str) -> Tensor:
    """A function looked up: of int8 exactly, of int16 between every 128th integer linearly."""
    writer, x = state.writer, value.x.tensor
    if not np.all(np.isfinite(value.values)):
        raise NotForNpu("the function is not finite for all numbers that the tensor can have")
    wanted = value.values / scale
    if x.dtype == dtype == "int8":
        return _looked_up(state, x, _entries(wanted + point, dtype), "int8")
    if x.dtype == "int8":  # every entry is met exactly at 128 times the integer
        x = writer.rescale(x, float(1 << _TABLE_BITS), "int16")
        wanted = np.append(wanted, wanted[-1])
    finer = 0 if dtype == "int16" else _TABLE_BITS
    found = _looked_up(state, x, _entries(wanted * (1 << finer), "int16"), "int32")
    return writer.rescale(found, 2.0 ** -(_TABLE_BITS + finer), dtype, output_zp=point)


def _entries(values: NDArray[np.float64], dtype: str) -> Array:
    low, high = LIMITS[dtype]
    entries: Array = np.clip(np.rint(values), low, high).astype(dtype)
    return entries


def _looked_up(state: State, x: Tensor, entries: Array, dtype: str) -> Tensor:
    table = state.writer.const(entries, entries.dtype.name)
    made = state.writer.emit("table", [x.value, table], dtype, x.stored)
    return Tensor(value=made, dtype=dtype, shape=x.shape, last=x.last)


OPERATORS: dict[tuple[str, str], Convert] = {
    (domain, op): convert
    for domain in ("", "com.microsoft")
    for op, convert in (
        ("QuantizeLinear", quantize_linear),
        ("DequantizeLinear", dequantize_linear),
    )
}
"""By domain and name."""
