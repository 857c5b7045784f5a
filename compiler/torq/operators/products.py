"""Operators that sum products: convolutions, fully connected layers, products of matrices."""

from __future__ import annotations

from dataclasses import dataclass

from .operator import Operator
from .quantisation import FloatRange, Rescale
from .tensors import TensorType


@dataclass(frozen=True, slots=True, kw_only=True)
class Padding:
    """Rows and columns of padding on each side of a plane."""

    top: int = 0
    bottom: int = 0
    left: int = 0
    right: int = 0


NO_PADDING = Padding()


@dataclass(frozen=True, kw_only=True)
class Convolution(Operator):
    """y (n, o, h, w) = x (n, c, h, w) convolved with weights (o, c, kh, kw), plus bias, scaled.

    Attributes:
        stride: 1 or 2, of rows and columns; with 2, x is in QUADRANTS.
        input_zp: what stands for 0 in x, padding included.
        rescale: how sums become y; of floats, only limits.
        sum_bits: sums are less than 2**sum_bits; 0 where only the types say how large they get.

    The bias is a constant of (o,), int32 or float32. Where y is in QUADRANTS, the convolution
    writes it so.
    """

    x: TensorType
    weights: TensorType
    rescale: Rescale | FloatRange
    padding: Padding = NO_PADDING
    stride: int = 1
    input_zp: int = 0
    sum_bits: int = 0


@dataclass(frozen=True, kw_only=True)
class DepthwiseConvolution(Operator):
    """y (n, c, h, w) = each channel of x convolved with its own kernel of weights (c, kh, kw).

    All else is as of `Convolution`.
    """

    x: TensorType
    weights: TensorType
    rescale: Rescale | FloatRange
    padding: Padding = NO_PADDING
    stride: int = 1
    input_zp: int = 0
    sum_bits: int = 0


@dataclass(frozen=True, kw_only=True)
class FullyConnected(Operator):
    """y (n, o) = x (n, i) times the transposed weights (o, i), plus bias (o,), scaled."""

    x: TensorType
    weights: TensorType
    rescale: Rescale | FloatRange
    input_zp: int = 0
    sum_bits: int = 0


@dataclass(frozen=True, kw_only=True)
class MatMul(Operator):
    """y (n, h, w) = a (n, h, c) times b (n, c, w), both without zero point.

    With `a_turned`, a is (n, c, h): then up to sixteen rows of y are made at a time. Without
    `rescale`, y holds the sums: int32, of bfloat16 float32 or bfloat16.
    """

    a: TensorType
    b: TensorType
    rescale: Rescale | FloatRange | None = None
    a_turned: bool = False
