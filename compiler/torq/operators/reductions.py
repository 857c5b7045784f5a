"""Operators that make one element of many: pooling, reductions along an axis."""

from __future__ import annotations

from dataclasses import dataclass

from .operator import Operator
from .products import NO_PADDING, Padding
from .quantisation import Rescale
from .tensors import TensorType

REDUCTIONS = {
    "sum": "ACC",
    "product": "MUL",
    "max": "MAX",
    "min": "MIN",
    "all": "AND",
    "any": "OR",
    "band": "BAND",
    "bor": "BOR",
    "bxor": "BXOR",
    "argmax": "AMAX",
    "argmin": "AMIN",
}
"""Kinds of `Reduce`, and the operation of the ALU that each one repeats."""


@dataclass(frozen=True, kw_only=True)
class Pool(Operator):
    """The largest ("max") or the mean ("mean") of each window of x.

    Planes are (n, c, h, w); ROWS are (n, h, w, c). The mean is TOSA's AVG_POOL2D: over those cells
    of a window that are inside. With stride (2, 2), planes are in QUADRANTS.
    """

    kind: str
    x: TensorType
    kernel: tuple[int, int]
    stride: tuple[int, int] = (1, 1)
    padding: Padding = NO_PADDING
    input_zp: int = 0
    output_zp: int = 0


@dataclass(frozen=True, kw_only=True)
class Mean(Operator):
    """y (n, c) = x (n, h, w, c) summed over rows and columns, times a factor: `rescale` has it.

    Before it is scaled, a sum is less `input_zp` for each of its elements.
    """

    x: TensorType
    rescale: Rescale
    input_zp: int = 0


@dataclass(frozen=True, kw_only=True)
class Reduce(Operator):
    """x reduced along an axis: one of REDUCTIONS.

    y has one step along the axis, or lacks it. "sum" of integers saturates to y's type; "all" and
    "any" are of truth values, "band", "bor" and "bxor" of the bits of integers; "argmax" and
    "argmin" give the first of equals, int32. Of bfloat16 there are "sum", in float32 and rounded
    once, "product", "max" and "min"; a "product" is of bfloat16 only, rounded at each step.
    """

    kind: str
    x: TensorType
    axis: int
