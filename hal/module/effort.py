"""How much a call does, told from the operators that its kernel is for, and from shapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Final

Shape = Sequence[int]
_CONVOLUTIONS: Final = (
    "tosa.conv2d",
    "tosa.conv3d",
    "tosa.depthwise_conv2d",
    "stablehlo.convolution",
    "linalg.conv_2d_nhwc_hwcf",
    "linalg.conv_2d_nhwc_fhwc",
)
"""With channels last, those that they make, too."""
PRODUCTS: Final = (
    "Conv",
    "ConvTranspose",
    "Gemm",
    "MatMul",
    "tosa.matmul",
    "stablehlo.dot",
    "stablehlo.dot_general",
    "linalg.matmul",
    "linalg.batch_matmul",
    *_CONVOLUTIONS,
)
"""Operators that sum products; others make elements."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Effort:
    """Products that are summed, elements that are made otherwise, bytes that are moved."""

    macs: int
    elements: int
    moved: int


def effort(kinds: Sequence[str], inputs: Sequence[Shape], output: Shape, moved: int) -> Effort:
    """Of a kernel for these operators: what the first one takes, and what the last one gives.

    `inputs` are in the order of the kernel's arguments; small constants may be missing.
    """
    first, *others = kinds
    macs = _macs(first, inputs, output) if first in PRODUCTS and len(inputs) > 1 else 0
    made = prod(output) * (len(others) if macs else len(kinds))
    read = 0 if macs else max((prod(shape) for shape in inputs), default=0)
    return Effort(macs=macs, elements=max(made, read), moved=moved)


def _macs(kind: str, inputs: Sequence[Shape], output: Shape) -> int:
    a, b = inputs[0], inputs[1]
    if kind == "Conv":
        return prod(output) * prod(b[1:])
    if kind == "tosa.depthwise_conv2d":
        return prod(output) * prod(b[:2])
    if kind in _CONVOLUTIONS:
        return prod(output) * prod(b) // max(1, output[-1])
    if kind == "ConvTranspose":
        return prod(a) * prod(b[1:])
    if kind == "Gemm":
        return prod(output) * (prod(a) // max(1, output[0]))
    return prod(output) * (a[-1] if a else 1)
