"""What each arithmetic instruction computes, on Python numbers, as C defines it.

i32 and i64 values are signed Python integers in range; f32 values are floats rounded to single
precision. Source of the definitions: `runtime/src/iree/vm/ops.h` of iree-org/iree.
"""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..status import invalid_argument

Function = Callable[..., Any]

_M32 = 0xFFFFFFFF
_M64 = 0xFFFFFFFFFFFFFFFF


def wrap32(value: int) -> int:
    """The low 32 bits as a signed number."""
    return ((value + 0x80000000) & _M32) - 0x80000000


def wrap64(value: int) -> int:
    """The low 64 bits as a signed number."""
    return ((value + 0x8000000000000000) & _M64) - 0x8000000000000000


def single(value: float) -> float:
    """A float rounded to single precision; too large becomes infinite."""
    return ctypes.c_float(value).value


def _divide(a: int, b: int) -> int:
    if b == 0:
        raise invalid_argument("integer division by zero")
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _remainder(a: int, b: int) -> int:
    return a - b * _divide(a, b)


def _integer_operations(bits: int, wrap: Callable[[int], int]) -> dict[str, Function]:
    mask = (1 << bits) - 1
    shift = bits - 1
    kind = f"i{bits}"
    table: dict[str, Function] = {
        "add": lambda a, b: wrap(a + b),
        "sub": lambda a, b: wrap(a - b),
        "mul": lambda a, b: wrap(a * b),
        "fma": lambda a, b, c: wrap(a * b + c),
        "not": lambda a: ~a,
        "and": lambda a, b: a & b,
        "or": lambda a, b: a | b,
        "xor": lambda a, b: a ^ b,
        "shl": lambda a, n: wrap(a << (n & shift)),
        "abs": lambda a: wrap(abs(a)),
        "ctlz": lambda a: bits - (a & mask).bit_length(),
        "cmp.eq": lambda a, b: int(a == b),
        "cmp.ne": lambda a, b: int(a != b),
        "cmp.nz": lambda a: int(a != 0),
    }
    signed: dict[str, Function] = {
        "div.{}.s": lambda a, b: wrap(_divide(a, b)),
        "div.{}.u": lambda a, b: wrap(_divide(a & mask, b & mask)),
        "rem.{}.s": lambda a, b: wrap(_remainder(a, b)),
        "rem.{}.u": lambda a, b: wrap(_remainder(a & mask, b & mask)),
        "shr.{}.s": lambda a, n: a >> (n & shift),
        "shr.{}.u": lambda a, n: wrap((a & mask) >> (n & shift)),
        "min.{}.s": min,
        "max.{}.s": max,
        "min.{}.u": lambda a, b: b if b & mask < a & mask else a,
        "max.{}.u": lambda a, b: b if a & mask < b & mask else a,
        "cmp.lt.{}.s": lambda a, b: int(a < b),
        "cmp.lt.{}.u": lambda a, b: int(a & mask < b & mask),
    }
    return {f"{name}.{kind}": function for name, function in table.items()} | {
        name.format(kind): function for name, function in signed.items()
    }


def _half_away(value: float) -> float:
    """C's `round`: to nearest, halves away from zero."""
    if not math.isfinite(value) or abs(value) >= 2.0**52:
        return value
    whole = float(math.floor(abs(value)))
    return math.copysign(whole + (abs(value) - whole >= 0.5), value)


def _half_even(value: float) -> float:
    return float(np.rint(value))


def _to_integer(value: float, bits: int) -> int:
    """A float rounded half away and truncated to `bits`; out of 64-bit range is x86's 1 << 63."""
    value = _half_away(value)
    if not -(2.0**63) <= value < 2.0**64:
        return wrap32(0) if bits == 32 else -(1 << 63)
    return wrap32(int(value)) if bits == 32 else wrap64(int(value))


def _quiet(function: Function) -> Function:
    """A numpy function of doubles without warnings: domain errors give NaN, overflow infinity."""

    def call(*arguments: float) -> float:
        with np.errstate(all="ignore"):
            return float(function(*map(np.float64, arguments)))

    return call


def _ieee_remainder(a: float, b: float) -> float:
    try:
        return math.remainder(a, b)
    except ValueError:
        return math.nan


def _float_operations(kind: str, rounded: Callable[[float], float]) -> dict[str, Function]:
    def compare(name: str, test: Function) -> dict[str, Function]:
        def ordered(a: float, b: float) -> int:
            return int(a == a and b == b and test(a, b))

        def unordered(a: float, b: float) -> int:
            return int(a != a or b != b or test(a, b))

        return {f"cmp.{name}.{kind}.o": ordered, f"cmp.{name}.{kind}.u": unordered}

    exact: dict[str, Function] = {
        "abs": abs,
        "neg": lambda a: -a,
        "ceil": lambda a: math.copysign(math.ceil(a), a) if math.isfinite(a) else a,
        "floor": lambda a: math.copysign(math.floor(a), a) if math.isfinite(a) else a,
        "round": _half_away,
        "min": lambda a, b: b if b < a else a,
        "max": lambda a, b: b if a < b else a,
        "rem": _ieee_remainder,
        "cmp.nan": lambda a: int(a != a),
    }
    computed: dict[str, Function] = {
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "mul": lambda a, b: a * b,
        "div": _quiet(np.divide),
        "fma": lambda a, b, c: rounded(a * b) + c,
        "atan": _quiet(np.arctan),
        "atan2": _quiet(np.arctan2),
        "cos": _quiet(np.cos),
        "sin": _quiet(np.sin),
        "exp": _quiet(np.exp),
        "exp2": _quiet(np.exp2),
        "expm1": _quiet(np.expm1),
        "log": _quiet(np.log),
        "log10": _quiet(np.log10),
        "log1p": _quiet(np.log1p),
        "log2": _quiet(np.log2),
        "pow": _quiet(np.power),
        "rsqrt": _quiet(lambda a: 1.0 / np.float64(rounded(float(np.sqrt(a))))),
        "sqrt": _quiet(np.sqrt),
        "tanh": _quiet(np.tanh),
        "erf": math.erf,
    }
    table = {f"{name}.{kind}": function for name, function in exact.items()}
    table[f"round.{kind}.even"] = _half_even
    for name, function in computed.items():
        table[f"{name}.{kind}"] = _rounding(function, rounded)
    return (
        table
        | compare("eq", lambda a, b: a == b)
        | compare("ne", lambda a, b: a != b)
        | compare("lt", lambda a, b: a < b)
        | compare("lte", lambda a, b: a <= b)
    )


def _rounding(function: Function, rounded: Callable[[float], float]) -> Function:
    return lambda *arguments: rounded(function(*arguments))


def _reinterpret(source: str, target: str) -> Function:
    return lambda value: struct.unpack(target, struct.pack(source, value))[0]


_CONVERSIONS: dict[str, Function] = {
    "trunc.i32.i8": lambda a: a & 0xFF,
    "trunc.i32.i16": lambda a: a & 0xFFFF,
    "trunc.i64.i32": wrap32,
    "ext.i8.i32.s": lambda a: ((a + 0x80) & 0xFF) - 0x80,
    "ext.i8.i32.u": lambda a: a & 0xFF,
    "ext.i16.i32.s": lambda a: ((a + 0x8000) & 0xFFFF) - 0x8000,
    "ext.i16.i32.u": lambda a: a & 0xFFFF,
    "ext.i32.i64.s": lambda a: a,
    "ext.i32.i64.u": lambda a: a & _M32,
    "bitcast.i32.f32": _reinterpret("<i", "<f"),
    "bitcast.f32.i32": _reinterpret("<f", "<i"),
    "bitcast.i64.f64": _reinterpret("<q", "<d"),
    "bitcast.f64.i64": _reinterpret("<d", "<q"),
    "trunc.f64.f32": single,
    "ext.f32.f64": lambda a: a,
}


def _casts(kind: str, rounded: Callable[[float], float]) -> dict[str, Function]:
    table: dict[str, Function] = {}
    for bits, mask in ((32, _M32), (64, _M64)):
        table[f"cast.si{bits}.{kind}"] = _from_integer(-1, rounded)
        table[f"cast.ui{bits}.{kind}"] = _from_integer(mask, rounded)
        table[f"cast.{kind}.si{bits}"] = table[f"cast.{kind}.ui{bits}"] = _into_integer(bits)
    return table


def _from_integer(mask: int, rounded: Callable[[float], float]) -> Function:
    return lambda value: rounded(value & mask)


def _into_integer(bits: int) -> Function:
    return lambda value: _to_integer(value, bits)


ARITHMETIC: Final[dict[str, Function]] = {
    **_integer_operations(32, wrap32),
    **_integer_operations(64, wrap64),
    **_float_operations("f32", single),
    **_float_operations("f64", float),
    **_casts("f32", single),
    **_casts("f64", float),
    **_CONVERSIONS,
}
"""The function of each arithmetic mnemonic."""
