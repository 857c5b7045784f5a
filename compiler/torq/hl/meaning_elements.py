"""What TorqHL's other operations compute, in NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from xdsl.dialects.builtin import StringAttr, TensorType, UnregisteredOp
from xdsl.ir import Attribute, Operation

from ...graph.elements import LIMITS, NUMPY, Array, element_type, is_float
from ...graph.meaning import arithmetic, moves
from ...graph.meaning.arithmetic import narrowed, saturated, wide
from ...graph.tosa.elementwise import cast
from ...graph.tosa.evaluate import result_of
from . import elementwise as element_ops
from . import moves as move_ops
from .meaning_sums import Meaning, rescaled
from .operation import HlOp
from .types import Tensor, tensor_of

_PLAIN: dict[str, Callable[[Array, Array], Array]] = {
    "MAX": np.maximum,
    "MIN": np.minimum,
    "GT": np.greater,
    "GE": np.greater_equal,
    "EQ": np.equal,
    "AND": np.logical_and,
    "OR": np.logical_or,
    "XOR": np.logical_xor,
    "BAND": np.bitwise_and,
    "BOR": np.bitwise_or,
    "BXOR": np.bitwise_xor,
}


def _add(op: element_ops.Add, x: Sequence[Array]) -> Array:
    first, second = op.field("weights_ab")
    total = wide(x[0]) * first + wide(x[1]) * second + op.field("bias")
    return rescaled(total, op.field("rescale"), op.type)


def _mul(op: element_ops.Mul, x: Sequence[Array]) -> Array:
    if is_float(op.type.dtype):
        product = x[0].astype(np.float32) * x[1].astype(np.float32)
    else:
        product = (wide(x[0]) - op.field("a_zp")) * (wide(x[1]) - op.field("b_zp"))
    return rescaled(product, op.field("rescale"), op.type)


def _elementwise(op: element_ops.Elementwise, x: Sequence[Array]) -> Array:
    kind, y = op.field("kind"), op.type
    if kind in _PLAIN:
        return np.asarray(_PLAIN[kind](x[0], x[1])).astype(NUMPY[y.dtype])
    if kind in ("ADD", "SUB"):
        return _sum(x[0], x[1], -1 if kind == "SUB" else 1, y)
    if kind == "LSL":
        return narrowed(wide(x[0]) << wide(x[1]), y.dtype)
    if kind == "LSR":
        low, high = LIMITS[y.dtype]
        return narrowed((wide(x[0]) & (high - low)) >> wide(x[1]), y.dtype)
    return arithmetic.shifted_right(x[0], x[1], rounding=kind == "ASR_ROUND")


def _sum(a: Array, b: Array, sign: int, y: Tensor) -> Array:
    if is_float(y.dtype):
        other = b.astype(np.float32) * np.float32(sign)
        return (a.astype(np.float32) + other).astype(NUMPY[y.dtype])
    return saturated(wide(a) + sign * wide(b), y.dtype)


def _unary(op: element_ops.Unary, x: Sequence[Array]) -> Array:
    kind, source, y = op.field("kind"), tensor_of(op.x), op.type
    if kind == "CAST":
        return cast(x[0], source.dtype, y.dtype)
    if kind == "CLZ":
        return arithmetic.leading_zeros(x[0], 8 * NUMPY[source.dtype].itemsize)
    if kind in ("CEIL", "FLOOR"):
        rounded = np.ceil if kind == "CEIL" else np.floor
        return np.asarray(rounded(x[0].astype(np.float32))).astype(NUMPY[y.dtype])
    if is_float(y.dtype):
        return np.abs(x[0]) if kind == "ABS" else np.negative(x[0])
    value = wide(x[0])
    return saturated(np.abs(value) if kind == "ABS" else -value, y.dtype)


def _scale(op: element_ops.Scale, x: Sequence[Array]) -> Array:
    return rescaled(wide(x[0]) - op.field("input_zp"), op.field("rescale"), op.type)


def _clamp(op: element_ops.Clamp, x: Sequence[Array]) -> Array:
    return arithmetic.clamped(x[0], op.field("low"), op.field("high"))


def _table(op: element_ops.Table, x: Sequence[Array]) -> Array:
    entries = np.array(op.field("entries"), np.int64)
    found = arithmetic.looked_up(x[0], entries)
    if x[0].dtype == np.int16 and op.type.dtype != "int32":
        found = (wide(found) + 64) >> 7
    return found.astype(NUMPY[op.type.dtype])


def _select(op: element_ops.Select, x: Sequence[Array]) -> Array:
    return np.where(x[0], x[1], x[2])


def _const(op: move_ops.Const, x: Sequence[Array]) -> Array:
    return op.array


def _view(op: move_ops.View, x: Sequence[Array]) -> Array:
    y = op.type
    return np.ascontiguousarray(x[0]).view(NUMPY[y.dtype]).reshape(y.shape)


def _same(op: HlOp, x: Sequence[Array]) -> Array:
    return x[0]


def _transpose(op: move_ops.Transpose, x: Sequence[Array]) -> Array:
    return np.transpose(x[0], op.field("order"))


def _pad(op: move_ops.Pad, x: Sequence[Array]) -> Array:
    around = list(zip(op.field("before"), op.field("after"), strict=True))
    return np.pad(x[0], around, constant_values=np.asarray(op.field("fill"), x[0].dtype))


def _concat(op: move_ops.Concat, x: Sequence[Array]) -> Array:
    return np.concatenate(list(x), axis=op.field("axis"))


def _slice(op: move_ops.Slice, x: Sequence[Array]) -> Array:
    every = zip(op.field("starts"), op.type.shape, op.steps_, strict=True)
    return x[0][tuple(slice(a, a + (n - 1) * step + 1, step) for a, n, step in every)]


def _broadcast(op: move_ops.Broadcast, x: Sequence[Array]) -> Array:
    return np.broadcast_to(x[0], op.type.shape)


def _repeat(op: move_ops.Repeat, x: Sequence[Array]) -> Array:
    result = x[0]
    for axis, factor in enumerate(op.field("factors")):
        result = np.repeat(result, factor, axis) if factor > 1 else result
    return result


def _gather(op: move_ops.Gather, x: Sequence[Array]) -> Array:
    return moves.gathered(x[0], x[1])


def _host(op: move_ops.Host, x: Sequence[Array]) -> Array:
    return result_of(original(op), x)


def original(op: move_ops.Host) -> Operation:
    """The model's operator that the host runs, on values of its own."""
    kinds = [_builtin(tensor_of(value)) for value in (*op.inputs, op.y)]
    given = dict(op.given.data) if op.given is not None else {}
    operands = UnregisteredOp.with_name("torq_hl.inputs").create(result_types=kinds[:-1])
    return UnregisteredOp.with_name(op.operator.data).create(
        operands=operands.results,
        result_types=kinds[-1:],
        properties=given,
        attributes={"op_name__": StringAttr(op.operator.data)},
    )


def _builtin(kind: Tensor) -> Attribute:
    return TensorType(element_type(kind.dtype), kind.shape)


MEANINGS: dict[type[HlOp], Meaning] = {
    element_ops.Add: _add,
    element_ops.Mul: _mul,
    element_ops.Elementwise: _elementwise,
    element_ops.Unary: _unary,
    element_ops.Scale: _scale,
    element_ops.Clamp: _clamp,
    element_ops.Table: _table,
    element_ops.Select: _select,
    move_ops.Const: _const,
    move_ops.View: _view,
    move_ops.Copy: _same,
    move_ops.Segment: _same,
    move_ops.Transpose: _transpose,
    move_ops.Pad: _pad,
    move_ops.Concat: _concat,
    move_ops.Slice: _slice,
    move_ops.Broadcast: _broadcast,
    move_ops.Repeat: _repeat,
    move_ops.Gather: _gather,
    move_ops.Host: _host,
}
"""By operation."""
