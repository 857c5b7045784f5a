"""Operators that make each element of their result from the same element of their operands."""

from __future__ import annotations

from dataclasses import dataclass

from .operator import Operator
from .quantisation import FloatRange, Rescale
from .tensors import TensorType

COMBINATIONS = (
    "ADD",
    "SUB",
    "MAX",
    "MIN",
    "GT",
    "GE",
    "EQ",
    "AND",
    "OR",
    "XOR",
    "BAND",
    "BOR",
    "BXOR",
    "LSL",
    "LSR",
    "ASR",
    "ASR_ROUND",
)
"""Kinds of `Elementwise`. Comparisons and AND, OR, XOR give 0 or 1; those with B are of bits."""
UNARIES = ("ABS", "NEG", "CLZ", "CEIL", "FLOOR", "CAST")
"""Kinds of `Unary`."""


@dataclass(frozen=True, kw_only=True)
class Add(Operator):
    """y = (a * weights[0] + b * weights[1] + bias) scaled; the weights have 16 bits.

    So tensors of different quantisation are added, or subtracted, in one go.
    """

    a: TensorType
    b: TensorType
    weights_ab: tuple[int, int]
    rescale: Rescale
    bias: int = 0


@dataclass(frozen=True, kw_only=True)
class Mul(Operator):
    """y = (a - a_zp) * (b - b_zp), scaled if asked for; of floats, limited.

    The kernels take no zero points: they are 0, or taken away before.
    """

    a: TensorType
    b: TensorType
    rescale: Rescale | FloatRange | None = None


@dataclass(frozen=True, kw_only=True)
class Elementwise(Operator):
    """y = a `kind` b, one of COMBINATIONS; ADD and SUB saturate to y's type.

    ASR_ROUND adds the last bit that is shifted out.
    """

    kind: str
    a: TensorType
    b: TensorType


@dataclass(frozen=True, kw_only=True)
class Unary(Operator):
    """y = `kind` of x, one of UNARIES; ABS and NEG saturate.

    CLZ counts in as many bits as x has. CAST is between integers and bfloat16, and from integers
    to float32; floats are rounded to the nearest, ties to even, and saturate.
    """

    kind: str
    x: TensorType


@dataclass(frozen=True, kw_only=True)
class Scale(Operator):
    """y = (x - input_zp) scaled: TOSA's RESCALE of integers, with one multiplier for all."""

    x: TensorType
    rescale: Rescale
    input_zp: int = 0


@dataclass(frozen=True, kw_only=True)
class Clamp(Operator):
    """y = x within `low` and `high`."""

    x: TensorType
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Table(Operator):
    """y = entries looked up by x: 256 of int8, or 513 of int16 between which is interpolated.

    Of int16, y is int16, rounded to whole numbers. The entries go into the slice's registers with
    the code, so they are part of the operator.
    """

    x: TensorType
    entries: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Select(Operator):
    """y = a where the condition (int8, 0 or 1) is 1, else b."""

    condition: TensorType
    a: TensorType
    b: TensorType
