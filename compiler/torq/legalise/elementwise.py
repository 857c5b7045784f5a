"""Operators that go element by element."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Block, Operation, SSAValue

from ...graph.elements import LIMITS, Array, is_float, unsigned
from ...graph.tosa import evaluate, ops
from ..hl.elementwise import Add, Clamp, Elementwise, Mul, Scale, Select, Table, Unary
from ..hl.types import tensor_of
from ..operators.quantisation import Rescale
from .builder import DIRECT, GENERAL, Builder, Legaliser, NotForNpu, identity, result, single
from .float32 import Float32
from .integers import Numbers
from .linalg_tables import arguments, looked_up

KINDS = {
    "tosa.add": "ADD",
    "tosa.sub": "SUB",
    "tosa.maximum": "MAX",
    "tosa.minimum": "MIN",
    "tosa.greater": "GT",
    "tosa.greater_equal": "GE",
    "tosa.equal": "EQ",
    "tosa.logical_and": "AND",
    "tosa.logical_or": "OR",
    "tosa.logical_xor": "XOR",
    "tosa.bitwise_and": "BAND",
    "tosa.bitwise_or": "BOR",
    "tosa.bitwise_xor": "BXOR",
    "tosa.logical_left_shift": "LSL",
    "tosa.logical_right_shift": "LSR",
}
_UNARIES = {"tosa.abs": "ABS", "tosa.clz": "CLZ", "tosa.ceil": "CEIL", "tosa.floor": "FLOOR"}
_LOOKED_UP = (
    "tosa.exp",
    "tosa.log",
    "tosa.tanh",
    "tosa.erf",
    "tosa.sin",
    "tosa.cos",
    "tosa.reciprocal",
    "tosa.rsqrt",
    "tosa.sigmoid",
)
_SIGNS = {"ADD": 1, "SUB": -1}
_QUANTISED = ("int8", "uint8", "int16")


def combine(op: Operation, b: Builder) -> SSAValue:
    """Two tensors, element by element."""
    operands = [b.value(value) for value in op.operands[:2]]
    kind, y = KINDS[ops.name_of(op)], result(op)
    if kind in _SIGNS and y.dtype == "int32" and any(map(_is_given, operands)):
        return Numbers(b).add(operands[0], operands[1], _SIGNS[kind])
    return b.emit(Elementwise, operands, y, kind=kind)


def _is_given(value: SSAValue) -> bool:
    """Whether a value is the caller's: it can be any number, and sums of it can overflow."""
    return isinstance(value.owner, Block)


def shift_right(op: Operation, b: Builder) -> SSAValue:
    """ARITHMETIC_RIGHT_SHIFT, with or without rounding."""
    operands = [b.value(value) for value in op.operands[:2]]
    kind = "ASR_ROUND" if ops.integer(op, "round") else "ASR"
    return b.emit(Elementwise, operands, result(op), kind=kind)


def mul(op: Operation, b: Builder) -> SSAValue:
    """MUL; a shift becomes a scaling."""
    shift = b.point(op, 2)
    y = result(op)
    scaling = None
    if shift:
        low, high = LIMITS[y.dtype]
        scaling = Rescale(shifts=(shift,), low=low, high=high)
    operands = [b.value(value) for value in op.operands[:2]]
    if not shift and {tensor_of(value).dtype for value in operands} == {"int32"}:
        factors = [array for value in op.operands[:2] if (array := b.constant(value)) is not None]
        if not any(map(_is_shift, factors)):
            return Numbers(b).multiply(*operands)
    return b.emit(Mul, operands, y, rescale=scaling)


def _is_shift(factor: Array) -> bool:
    """Whether products by these numbers are shifts to the left."""
    return bool(np.all(factor > 0) and np.all(factor & (factor - 1) == 0))


def rescale(op: Operation, b: Builder) -> SSAValue:
    """RESCALE; unsigned numbers are looked at as such."""
    multipliers = b.known(op.operands[1], "a multiplier")
    shifts = b.known(op.operands[2], "a shift")
    x, y = b.value(op.operands[0]), result(op)
    dtype, kind = y.dtype, tensor_of(x)
    zeros = [b.point(op, 3), b.point(op, 4)]
    # Zero points of unsigned numbers are written as signed ones.
    if ops.integer(op, "input_unsigned"):
        source = unsigned(kind.dtype)
        x = b.view(x, kind.shape, source)
        zeros[0] &= LIMITS[source][1]
    if ops.integer(op, "output_unsigned"):
        dtype = unsigned(dtype)
        zeros[1] &= LIMITS[dtype][1]
    low, high = LIMITS[dtype]
    scaling = Rescale(
        multipliers=tuple(int(m) for m in multipliers.reshape(-1)),
        shifts=tuple(int(s) for s in shifts.reshape(-1)),
        zero_point=zeros[1],
        low=low,
        high=high,
        double_round=ops.word(op, "rounding_mode") == "DOUBLE_ROUND" and int(shifts.max()) > 31,
    )
    typed = y.like(dtype=dtype)
    if dtype in _QUANTISED:
        typed = type(typed)(dtype=dtype, shape=typed.shape, zero_point=zeros[1])
    made = b.emit(Scale, [x], typed, input_zp=zeros[0], rescale=scaling)
    return b.view(made, y.shape, y.dtype)


def clamp(op: Operation, b: Builder) -> SSAValue:
    """CLAMP."""
    x = b.value(op.operands[0])
    low, high = ops.number(op, "min_val"), ops.number(op, "max_val")
    return b.emit(Clamp, [x], tensor_of(x).like(), low=low, high=high)


def table(op: Operation, b: Builder) -> SSAValue:
    """TABLE, whose entries are constants."""
    entries = b.known(op.operands[1], "a table").reshape(-1)
    x = b.value(op.operands[0])
    return b.emit(Table, [x], result(op), entries=tuple(int(e) for e in entries))


def unary(op: Operation, b: Builder) -> SSAValue:
    """ABS, CLZ, CEIL and FLOOR."""
    x = b.value(op.operands[0])
    return b.emit(Unary, [x], result(op), kind=_UNARIES[ops.name_of(op)])


def function(op: Operation, b: Builder) -> SSAValue:
    """EXP, TANH and others: of bfloat16 all results are looked up."""
    x, y = b.value(op.operands[0]), result(op)
    source = tensor_of(x).dtype
    if source != "bfloat16":
        raise NotForNpu(f"the NPU looks functions of bfloat16 up, not of {source}")
    results = evaluate.result_of(op, [arguments(source)])
    return looked_up(Numbers(b), x, results, y.dtype)


def negate(op: Operation, b: Builder) -> SSAValue:
    """NEGATE; with zero points it is their sum less x."""
    x, y = b.value(op.operands[0]), result(op)
    zeros = 0 if is_float(y.dtype) else b.point(op, 1) + b.point(op, 2)
    if not zeros:
        return b.emit(Unary, [x], y, kind="NEG")
    scaling = identity(y.dtype)
    return b.emit(Add, [x, x], y, weights_ab=(-1, 0), bias=zeros, rescale=scaling)


def invert(op: Operation, b: Builder) -> SSAValue:
    """BITWISE_NOT and LOGICAL_NOT: an exclusive or with ones."""
    x, y = b.value(op.operands[0]), result(op)
    ones = b.const(single(1 if y.dtype == "bool" else -1, len(y.shape), y.dtype), y.dtype)
    return b.emit(Elementwise, [x, ones], y, kind="XOR" if y.dtype == "bool" else "BXOR")


def select(op: Operation, b: Builder) -> SSAValue:
    """SELECT."""
    condition, yes, no = (b.value(value) for value in op.operands[:3])
    if is_float(result(op).dtype):
        return Numbers(b).chosen(condition, yes, no, result(op).shape)
    return b.emit(Select, [condition, yes, no], result(op))


def cast(op: Operation, b: Builder) -> SSAValue:
    """CAST; widening is a scaling by one, truth is being other than 0."""
    x, y = b.value(op.operands[0]), result(op)
    source = tensor_of(x).dtype
    if source == y.dtype:
        return x
    if y.dtype == "bool":
        if is_float(source):
            raise NotForNpu("the NPU makes no truth values of floats")
        zero = b.const(single(0, len(y.shape), source), source)
        one = b.const(single(1, len(y.shape), "bool"), "bool")
        none = b.emit(Elementwise, [x, zero], y, kind="EQ")
        return b.emit(Elementwise, [none, one], y, kind="XOR")
    if source == "bool":
        x, source = b.view(x, y.shape, "int8"), "int8"
        if y.dtype == "int8":
            return x
    if (source, y.dtype) == ("bfloat16", "float32"):
        return Numbers(b).wider_float(x)
    if (source, y.dtype) == ("float32", "bfloat16"):
        return Numbers(b).shorter_float(x)
    if source == "float32" and y.dtype in LIMITS and y.dtype != "int48":
        return Float32(b).integers(x, y.dtype)
    if is_float(source) and is_float(y.dtype):
        raise NotForNpu(f"the NPU has no cast of {source} to {y.dtype}")
    if is_float(source) or is_float(y.dtype):
        return b.emit(Unary, [x], y, kind="CAST")
    if LIMITS[source][1] > LIMITS[y.dtype][1] or LIMITS[source][0] < LIMITS[y.dtype][0]:
        if source == "int48":
            raise NotForNpu("the NPU has no integers of 48 bits")
        return Numbers(b).cut(x, y.dtype)
    return b.emit(Scale, [x], y, rescale=identity(y.dtype))


LEGALISERS: dict[str, tuple[str, Legaliser]] = {
    **dict.fromkeys(KINDS, (GENERAL, combine)),
    **dict.fromkeys(_UNARIES, (GENERAL, unary)),
    "tosa.arithmetic_right_shift": (GENERAL, shift_right),
    "tosa.mul": (DIRECT, mul),
    "tosa.rescale": (DIRECT, rescale),
    "tosa.clamp": (DIRECT, clamp),
    "tosa.table": (DIRECT, table),
    **dict.fromkeys(_LOOKED_UP, (GENERAL, function)),
    "tosa.negate": (GENERAL, negate),
    "tosa.bitwise_not": (GENERAL, invert),
    "tosa.logical_not": (GENERAL, invert),
    "tosa.select": (GENERAL, select),
    "tosa.cast": (GENERAL, cast),
}
"""By the operator's name, with the way that it goes."""
