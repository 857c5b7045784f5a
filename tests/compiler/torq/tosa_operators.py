"""TOSA's operators as lines of a function for IREE; shapes of results follow from the operands."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .iree_tosa import Value, array

_TRUE, _FALSE = "true", "false"


def cast(x: Value, dtype: str) -> Value:
    """CAST: integers are sign-extended or cut, floats rounded, and bool is `!= 0`."""
    return x if x.dtype == dtype else x.function.tosa("cast", [x], x.shape, dtype)


def rescale(
    x: Value,
    multipliers: Sequence[int],
    shifts: Sequence[int],
    *,
    input_zp: int = 0,
    output_zp: int = 0,
    dtype: str = "int8",
) -> Value:
    """RESCALE; of int48 the multipliers have 16 bits."""
    f = x.function
    wide = x.dtype != "int48"
    operands = [
        x,
        f.constant(multipliers, "int32" if wide else "int16"),
        f.constant(shifts, "int8"),
        f.constant([input_zp], x.dtype),
        f.constant([output_zp], dtype),
    ]
    return f.tosa(
        "rescale",
        operands,
        x.shape,
        dtype,
        scale32=_TRUE if wide else _FALSE,
        rounding_mode="#tosa.rounding_mode<SINGLE_ROUND>",
        per_channel=_TRUE if len(multipliers) > 1 else _FALSE,
        input_unsigned=_TRUE if x.dtype == "uint8" else _FALSE,
        output_unsigned=_TRUE if dtype == "uint8" else _FALSE,
    )


def accumulator(dtype: str) -> str:
    """The type of sums of products of this type."""
    if "float" in dtype:
        return "float32"
    return "int48" if dtype == "int16" else "int32"


def convolution(
    op: str,
    x: Value,
    weights: Value,
    bias: Value,
    outputs: tuple[int, int, int],
    *,
    pad: Sequence[int],
    stride: Sequence[int],
    input_zp: int = 0,
) -> Value:
    """CONV2D or DEPTHWISE_CONV2D, whose result has `outputs` rows, columns and channels."""
    f = x.function
    sums = accumulator(x.dtype)
    if sums == "int48":
        bias = f.arith("extsi", bias, sums)
    operands = [x, weights, bias, zero(x, input_zp), zero(weights)]
    return f.tosa(
        op,
        operands,
        (x.shape[0], *outputs),
        sums,
        acc_type={"int32": "i32", "int48": "i48", "float32": "f32"}[sums],
        pad=array(pad),
        stride=array(stride),
        dilation=array((1, 1)),
    )


def zero(x: Value, point: int = 0) -> Value:
    """The zero point of a tensor, as an operand."""
    return x.function.constant([float(point) if "float" in x.dtype else point], x.dtype)


def matmul(a: Value, b: Value) -> Value:
    """MATMUL of (n, h, c) and (n, c, w)."""
    shape = (*a.shape[:2], b.shape[2])
    return a.function.tosa("matmul", [a, b, zero(a), zero(b)], shape, accumulator(a.dtype))


def pool(
    op: str,
    x: Value,
    outputs: tuple[int, int],
    *,
    kernel: Sequence[int],
    stride: Sequence[int],
    pad: Sequence[int],
    zero_points: Sequence[int] | None = None,
) -> Value:
    """MAX_POOL2D, or AVG_POOL2D with zero points of input and output."""
    attributes = {"kernel": array(kernel), "stride": array(stride), "pad": array(pad)}
    operands = [x]
    if zero_points is not None:
        attributes["acc_type"] = "i32"
        operands += [zero(x, point) for point in zero_points]
    shape = (x.shape[0], *outputs, x.shape[3])
    return x.function.tosa(op, operands, shape, x.dtype, **attributes)


def binary(op: str, a: Value, b: Value, dtype: str | None = None, **attributes: str) -> Value:
    """An operator of two tensors, which broadcast."""
    shape = np.broadcast_shapes(a.shape, b.shape)
    return a.function.tosa(op, [a, b], shape, dtype or a.dtype, **attributes)


def mul(a: Value, b: Value) -> Value:
    """MUL without a shift; products of integers have 32 bits."""
    shape = np.broadcast_shapes(a.shape, b.shape)
    shift = a.function.constant([0], "int8")
    dtype = "int32" if a.dtype.startswith("int") else a.dtype
    return a.function.tosa("mul", [a, b, shift], shape, dtype)


def unary(op: str, x: Value, **attributes: str) -> Value:
    """An operator of one tensor."""
    return x.function.tosa(op, [x], x.shape, x.dtype, **attributes)


def negate(x: Value) -> Value:
    """NEGATE, saturated."""
    return x.function.tosa("negate", [x, zero(x), zero(x)], x.shape, x.dtype)


def clamp(x: Value, low: int, high: int) -> Value:
    """CLAMP; TOSA has none of int32, so there MAXIMUM and MINIMUM."""
    if x.dtype == "int32":
        ones = (1,) * len(x.shape)
        limits = [reshape(x.function.constant([n], x.dtype), ones) for n in (low, high)]
        return binary("minimum", binary("maximum", x, limits[0]), limits[1])
    kind = {"int8": "i8", "int16": "i16"}[x.dtype]
    return unary("clamp", x, min_val=f"{low} : {kind}", max_val=f"{high} : {kind}")


def saturated(x: Value, dtype: str) -> Value:
    """The nearest number of another type of integers: RESCALE by 1."""
    bits = 14 if x.dtype == "int48" else 30
    return x if x.dtype == dtype else rescale(x, [1 << bits], [bits], dtype=dtype)


def table(x: Value, entries: Value) -> Value:
    """TABLE: int8 gives int8, int16 gives int32 with 7 more bits."""
    dtype = "int8" if x.dtype == "int8" else "int32"
    return x.function.tosa("table", [x, entries], x.shape, dtype)


def select(condition: Value, a: Value, b: Value) -> Value:
    """SELECT."""
    return a.function.tosa("select", [condition, a, b], a.shape, a.dtype)


def reduce(op: str, x: Value, axis: int) -> Value:
    """A reduction; the axis stays, with length 1."""
    shape = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
    return x.function.tosa(op, [x], shape, x.dtype, axis=f"{axis} : i32")


def argmax(x: Value, axis: int) -> Value:
    """ARGMAX: the first of equals."""
    shape = (*x.shape[:axis], *x.shape[axis + 1 :])
    return x.function.tosa("argmax", [x], shape, "int32", axis=f"{axis} : i32")


def transpose(x: Value, order: Sequence[int]) -> Value:
    """TRANSPOSE: dimension i of the result is dimension order[i] of x."""
    shape = [x.shape[axis] for axis in order]
    perms = f"array<i32: {', '.join(str(axis) for axis in order)}>"
    return x.function.tosa("transpose", [x], shape, x.dtype, perms=perms)


def reshape(x: Value, shape: Sequence[int]) -> Value:
    """RESHAPE."""
    return x.function.tosa("reshape", [x, x.function.sizes(shape)], shape, x.dtype)


def tile(x: Value, times: Sequence[int]) -> Value:
    """TILE."""
    shape = [n * many for n, many in zip(x.shape, times, strict=True)]
    return x.function.tosa("tile", [x, x.function.sizes(times)], shape, x.dtype)


def concat(parts: Sequence[Value], axis: int) -> Value:
    """CONCAT."""
    first = parts[0]
    total = sum(part.shape[axis] for part in parts)
    shape = (*first.shape[:axis], total, *first.shape[axis + 1 :])
    return first.function.tosa("concat", parts, shape, first.dtype, axis=f"{axis} : i32")


def slice_(x: Value, start: Sequence[int], sizes: Sequence[int]) -> Value:
    """SLICE."""
    f = x.function
    return f.tosa("slice", [x, f.sizes(start), f.sizes(sizes)], sizes, x.dtype)


def gather(values: Value, indices: Value) -> Value:
    """GATHER of values (n, k, c) at indices (n, w)."""
    shape = (*indices.shape, values.shape[2])
    return values.function.tosa("gather", [values, indices], shape, values.dtype)


def resize_nearest(
    x: Value,
    outputs: tuple[int, int],
    *,
    scale: Sequence[int],
    offset: Sequence[int],
    border: Sequence[int],
) -> Value:
    """RESIZE in nearest-neighbour mode."""
    f = x.function
    operands = [x, f.sizes(scale), f.sizes(offset), f.sizes(border)]
    shape = (x.shape[0], *outputs, x.shape[3])
    mode = "#tosa.resize_mode<NEAREST_NEIGHBOR>"
    return f.tosa("resize", operands, shape, x.dtype, mode=mode)
