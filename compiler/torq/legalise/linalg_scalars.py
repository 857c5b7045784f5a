"""Operations of arith and math on values of TorqHL, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from xdsl.ir import Operation, SSAValue

from ...graph.elements import LIMITS
from ...graph.linalg.scalars import predicate
from ...graph.tosa import ops
from ..hl.elementwise import Mul, Scale, Select, Unary
from ..hl.types import tensor_of
from ..operators.quantisation import Rescale
from .builder import NotForNpu
from .float32 import Float32
from .floats import extreme_of
from .integers import Item, Numbers, bits_of
from .linalg_tables import arguments, looked_up

Emit = Callable[[Operation, Numbers, Sequence[Item]], SSAValue]
_KINDS = {
    "arith.andi": "BAND",
    "arith.ori": "BOR",
    "arith.xori": "BXOR",
    "arith.maxsi": "MAX",
    "arith.minsi": "MIN",
    "arith.maxui": "MAX",
    "arith.minui": "MIN",
    "arith.shli": "LSL",
    "arith.shrsi": "ASR",
    "arith.shrui": "LSR",
    "arith.addf": "ADD",
    "arith.subf": "SUB",
    "arith.maximumf": "MAX",
    "arith.minimumf": "MIN",
    "arith.maxnumf": "MAX",
    "arith.minnumf": "MIN",
}
_LOGIC = {"arith.andi": "AND", "arith.ori": "OR", "arith.xori": "XOR"}
_SWAPPED = {"lt": "GT", "le": "GE"}
_ORDERED = {"gt": "GT", "ge": "GE", "eq": "EQ"}


def _operands(op: Operation, n: Numbers, x: Sequence[Item]) -> list[SSAValue]:
    return [n.tensor(item, ops.dtype(value)) for item, value in zip(x, op.operands, strict=True)]


def _refuse_wide(op: Operation, *dtypes: str) -> None:
    if "float32" in dtypes:
        raise NotForNpu(f"{ops.name_of(op)} of float32, which the NPU does not compute with")


def _combined(op: Operation, n: Numbers, x: Sequence[Item]) -> SSAValue:
    """Bits, extremes, shifts; sums and extremes of bfloat16."""
    name, dtype = ops.name_of(op), ops.dtype(op.results[0])
    a, b = _operands(op, n, x)
    if dtype == "float32":
        if name in ("arith.addf", "arith.subf"):
            return Float32(n.builder).add(a, b, negate=name == "arith.subf")
        return extreme_of(n, _KINDS[name], a, b)
    if dtype == "bool":
        if name not in _LOGIC:
            raise NotForNpu(f"{name} of truth values")
        return n.combine(_LOGIC[name], a, b, dtype)
    if name in ("arith.maxui", "arith.minui"):
        return n.flipped(n.combine(_KINDS[name], n.flipped(a), n.flipped(b), dtype))
    return n.combine(_KINDS[name], a, b, dtype)


def _sum(op: Operation, n: Numbers, x: Sequence[Item]) -> SSAValue:
    a, b = _operands(op, n, x)
    if ops.dtype(op.results[0]) == "bool":
        return n.combine("XOR", a, b, "bool")
    return n.add(a, b, -1 if ops.name_of(op) == "arith.subi" else 1)


def _product(op: Operation, n: Numbers, x: Sequence[Item]) -> SSAValue:
    a, b = _operands(op, n, x)
    if ops.dtype(op.results[0]) == "bool":
        return n.combine("AND", a, b, "bool")
    return n.multiply(a, b)


def _float_product(op: Operation, n: Numbers, x: Sequence[Item]) -> SSAValue:
    dtype = ops.dtype(op.results[0])
    a, b = _operands(op, n, x)
    return Float32(n.builder).multiply(a, b) if dtype == "float32" else _multiplied(n, a, b)


def _multiplied(n: Numbers, a: SSAValue, b: SSAValue) -> SSAValue:
    shape = np.broadcast_shapes(tensor_of(a).shape, tensor_of(b).shape)
    return n.builder.emit(Mul, [a, b], tensor_of(a).like(shape=shape))


def _quotient(op: Operation, n: Numbers, x: Sequence[Item]) -> SSAValue:
    """A product with the reciprocal, which is rounded to bfloat16 before."""
    _refuse_wide(op, ops.dtype(op.results[0]))
    a, b = _operands(op, n, x)
    with np.errstate(all="ignore"):
        numbers = arguments("bfloat16")
        results = (1 / numbers.astype(np.float32)).astype(numbers.dtype)
    return _multiplied(n, a, looked_up(n, b, results, "bfloat16"))


def _compare(op: Operation, n: Numbers, x: Sequence[Item]) -> SSAValue:
    name = predicate(op)
    a, b = (n.integers(value) for value in _operands(op, n, x))
    if ops.dtype(op.operands[0]) == "bool" and name[0] == "s":
        a, b = b, a  # truth is -1
    kind = tensor_of(a).dtype
    if name in ("eq", "ne"):
        same = n.combine("EQ", a, b, kind, "bool")
        return _inverted(n, same) if name == "ne" else same
    if name[0] == "u" and ops.dtype(op.operands[0]) != "bool":
        a, b = n.flipped(a), n.flipped(b)
    return _ordered(n, name[1:], a, b, kind)


def _ordered(n: Numbers, name: str, a: SSAValue, b: SSAValue, kind: str) -> SSAValue:
    if name in _SWAPPED:
        return n.combine(_SWAPPED[name], b, a, kind, "bool")
    return n.combine(_ORDERED[name], a, b, kind, "bool")


def _inverted(n: Numbers, x: SSAValue) -> SSAValue:
    return n.combine("XOR", x, n.number(1, x), "bool")


def _compare_floats(op: Operation, n: Numbers, x: Sequence[Item]) -> SSAValue:
    """Of numbers that are no NaN; where one is, the result is that of the comparison unit."""
    name, dtype = predicate(op), ops.dtype(op.operands[0])
    a, b = _operands(op, n, x)
    if dtype == "float32":
        return _compare_wide_floats(op, n, a, b)
    if name in ("ord", "uno", "one", "ueq", "true", "false"):
        raise NotForNpu(f"the comparison {name} of two computed floats")
    if name == "une":
        return _inverted(n, n.combine("EQ", a, b, dtype, "bool"))
    if name[0] == "o":
        return _ordered(n, name[1:], a, b, dtype)
    opposite = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt"}[name[1:]]
    return _inverted(n, _ordered(n, opposite, a, b, dtype))


def _compare_wide_floats(op: Operation, n: Numbers, a: SSAValue, b: SSAValue) -> SSAValue:
    """Of float32; a NaN is not ordered with anything."""
    name = predicate(op)
    if name[1:] not in (*_ORDERED, *_SWAPPED, "ne") or name == "one":
        raise NotForNpu(f"the comparison {name} of two computed floats")
    if name[0] == "u":  # the opposite of the opposite, which a NaN makes false
        opposite = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "ne": "eq"}.get(name[1:])
        if opposite is None:
            raise NotForNpu(f"the comparison {name} of two computed floats")
        return _inverted(n, _ordered_floats(n, opposite, a, b))
    return _ordered_floats(n, name[1:], a, b)


def _ordered_floats(n: Numbers, name: str, a: SSAValue, b: SSAValue) -> SSAValue:
    if name in _SWAPPED:
        return Float32(n.builder).compare(_SWAPPED[name], b, a)
    return Float32(n.builder).compare(_ORDERED[name], a, b)


def _select(op: Operation, n: Numbers, x: Sequence[Item]) -> SSAValue:
    condition, a, b = _operands(op, n, x)
    dtype = ops.dtype(op.results[0])
    a, b = n.integers(a), n.integers(b)
    shape = np.broadcast_shapes(*(tensor_of(v).shape for v in (condition, a, b)))
    made = n.builder.emit(Select, [condition, a, b], tensor_of(a).like(shape=shape))
    return n.seen_as(made, dtype)


def _extend(op: Operation, n: Numbers, x: Sequence[Item]) -> SSAValue:
    (a,) = _operands(op, n, x)
    dtype = ops.dtype(op.results[0])
    if ops.dtype(op.operands[0]) == "bool":
        bits = n.seen_as(a, "int8")
        return n.widened(n.add(n.number(0, bits), bits, -1), dtype)
    return n.widened(a, dtype)


def _extend_unsigned(op: Operation, n: Numbers, x: Sequence[Item]) -> SSAValue:
    (a,) = _operands(op, n, x)
    return n.unsigned(a, ops.dtype(op.results[0]))


def _cut(op: Operation, n: Numbers, x: Sequence[Item]) -> SSAValue:
    (a,) = _operands(op, n, x)
    return n.cut(a, ops.dtype(op.results[0]))


def _wider_float(op: Operation, n: Numbers, x: Sequence[Item]) -> SSAValue:
    return n.wider_float(_operands(op, n, x)[0])


def _shorter_float(op: Operation, n: Numbers, x: Sequence[Item]) -> SSAValue:
    return n.shorter_float(_operands(op, n, x)[0])


def _bits(op: Operation, n: Numbers, x: Sequence[Item]) -> SSAValue:
    (a,) = _operands(op, n, x)
    return n.seen_as(a, ops.dtype(op.results[0]))


def _sign(op: Operation, n: Numbers, x: Sequence[Item]) -> SSAValue:
    """NEGF and ABSF, of the bits."""
    (a,) = _operands(op, n, x)
    bits = n.integers(a)
    dtype = tensor_of(bits).dtype
    low, high = LIMITS[dtype]
    negate = ops.name_of(op) == "arith.negf"
    kind, mask = ("BXOR", low) if negate else ("BAND", high)
    made = n.combine(kind, bits, n.number(mask, bits), dtype)
    return n.seen_as(made, ops.dtype(op.results[0]))


def _absolute(op: Operation, n: Numbers, x: Sequence[Item]) -> SSAValue:
    (a,) = _operands(op, n, x)
    dtype = tensor_of(a).dtype
    sign = n.combine("ASR", a, n.number(bits_of(dtype) - 1, a), dtype)
    return n.add(n.combine("BXOR", a, sign, dtype), sign, -1)


def _to_float(op: Operation, n: Numbers, x: Sequence[Item]) -> SSAValue:
    (a,) = _operands(op, n, x)
    source, dtype = ops.dtype(op.operands[0]), ops.dtype(op.results[0])
    if ops.name_of(op) == "arith.uitofp":
        if source == "int32" and n.bounds(a)[0] < 0:
            raise NotForNpu("floats of unsigned integers of 32 bits")
        a = a if source == "int32" else n.unsigned(a, "int32")
    elif source == "bool":
        raise NotForNpu("floats of truth values as signed numbers")
    return n.builder.emit(Unary, [a], tensor_of(a).like(dtype=dtype), kind="CAST")


def _scaled(op: Operation, n: Numbers, x: Sequence[Item]) -> SSAValue:
    value = n.tensor(x[0], ops.dtype(op.operands[0]))
    multiplier, shift = x[1:]
    if isinstance(multiplier, SSAValue) or isinstance(shift, SSAValue):
        raise NotForNpu("a scaling whose multiplier or shift is computed")
    factors, shifts = np.unique(multiplier), np.unique(shift)
    if len(factors) > 1 or len(shifts) > 1:
        raise NotForNpu("a scaling with several multipliers or shifts")
    low, high = LIMITS["int32"]
    scaling = Rescale(
        multipliers=(int(factors[0]),),
        shifts=(int(shifts[0]),),
        low=low,
        high=high,
        double_round=ops.word(op, "rounding_mode") == "DOUBLE_ROUND" and int(shifts[0]) > 31,
    )
    return n.builder.emit(Scale, [value], tensor_of(value).like(dtype="int32"), rescale=scaling)


EMIT: dict[str, Emit] = {
    **dict.fromkeys(_KINDS, _combined),
    "arith.addi": _sum,
    "arith.subi": _sum,
    "arith.muli": _product,
    "arith.mulf": _float_product,
    "arith.divf": _quotient,
    "arith.cmpi": _compare,
    "arith.cmpf": _compare_floats,
    "arith.select": _select,
    "arith.extsi": _extend,
    "arith.extui": _extend_unsigned,
    "arith.trunci": _cut,
    "arith.extf": _wider_float,
    "arith.truncf": _shorter_float,
    "arith.bitcast": _bits,
    "arith.negf": _sign,
    "math.absf": _sign,
    "math.absi": _absolute,
    "arith.sitofp": _to_float,
    "arith.uitofp": _to_float,
    "tosa.apply_scale": _scaled,
}
"""What stands for an operation, by its name."""
CHEAP = frozenset(
    [name for name in _KINDS if name not in ("arith.maxui", "arith.minui")]
    + [
        "arith.addi",
        "arith.subi",
        "arith.muli",
        "arith.mulf",
        "arith.cmpi",
        "arith.select",
        "arith.extsi",
    ]
    + ["arith.extui", "arith.trunci", "arith.extf", "arith.bitcast", "arith.negf", "math.absf"]
)
"""What is better done by itself than looked up among 65536 entries."""
