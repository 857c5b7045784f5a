"""Number formats as bits, for compiled code: float32 and bfloat16."""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from .compiled import inlined
from .state import Number, Real


def _float_of(_context: Any, bits: Any) -> Any:

    def code(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.FloatType())

    return (types.float32(types.int32), code) if bits == types.int32 else None


def _bits_of(_context: Any, value: Any) -> Any:

    def code(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(32))

    return (types.int32(types.float32), code) if value == types.float32 else None


float_of: Any = intrinsic(_float_of)
"""The float32 whose bits a 32-bit integer has."""
bits_of: Any = intrinsic(_bits_of)
"""The bits of a float32, as a 32-bit integer."""


@inlined
def from_bfloat(bits: Number) -> Real:
    """The float32 of a bfloat16's 16 bits."""
    return float_of(np.int32((bits & 0xFFFF) << 16))


@inlined
def to_bfloat(value: Real) -> Number:
    """A float32 rounded to bfloat16, to nearest and ties to even; its 16 bits."""
    bits = np.int64(bits_of(value)) & 0xFFFFFFFF
    if (bits & 0x7FFFFFFF) > 0x7F800000:
        return (bits >> 16) | 0x40
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16) & 0xFFFF


@inlined
def wrap32(value: Number) -> Number:
    """The low 32 bits as a signed number."""
    low = value & 0xFFFFFFFF
    return low - 0x100000000 if low & 0x80000000 else low


@inlined
def extend(value: Number, size: Number, signed: Number) -> Number:
    """The low `size` bytes (1, 2 or 4) as a number."""
    bits = 8 * size
    low = value & ((1 << bits) - 1)
    if signed and low >> (bits - 1):
        low -= 1 << bits
    return low
