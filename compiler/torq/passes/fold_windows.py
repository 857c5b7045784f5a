"""What stands around windows goes into them: padding, rows that are cut off, zero points."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from xdsl.ir import Block

from ...graph.elements import LIMITS, dense_of
from ..hl.moves import Const, Pad, Slice
from ..hl.operation import HlOp
from ..hl.products import Convolution, DepthwiseConvolution, FullyConnected, plane
from ..hl.reductions import Pool
from ..hl.types import tensor_of
from .base import HlPass, insert, producer, replace
from .fold_scales import remade

WINDOWS = (Convolution, DepthwiseConvolution, Pool)


class FoldPads(HlPass):
    """Lets convolutions and pooling pad by themselves with what stands for nothing.

    Before:
        %0 = torq_hl.pad %x {before = array<i64: 0, 1, 1, 0>, after = array<i64: 0, 1, 1, 0>}
            : (tensor<1x4x4x8xi8>) -> tensor<1x6x6x8xi8>
        %1 = torq_hl.convolution %0, %w, %b
            : (tensor<1x6x6x8xi8>, tensor<8x8x3x3xi8>, tensor<8xi32>) -> tensor<1x4x4x8xi32>
    After:
        %0 = torq_hl.convolution %x, %w, %b {padding = array<i64: 1, 1, 1, 1>}
            : (tensor<1x4x4x8xi8>, tensor<8x8x3x3xi8>, tensor<8xi32>) -> tensor<1x4x4x8xi32>
    """

    name: ClassVar[str] = "fold-pads"

    def run(self, block: Block) -> None:
        """One look at each window."""
        for op in list(block.ops):
            if isinstance(op, WINDOWS):
                _pad_by_itself(op)


def _pad_by_itself(op: HlOp) -> None:
    pad = producer(op.operands[0])
    if not isinstance(pad, Pad) or not _pads_nothing(op, pad):
        return
    before, after = pad.field("before"), pad.field("after")
    if before[0] or after[0] or before[3] or after[3]:
        return
    more = (before[1], after[1], before[2], after[2])
    padding = tuple(a + b for a, b in zip(op.field("padding"), more, strict=True))
    made = remade(op, op, op.type, padding=padding)
    made.owner.operands[0] = pad.x
    replace(op, made)


def _pads_nothing(op: HlOp, pad: Pad) -> bool:
    """Whether the value that is padded with counts for nothing."""
    if isinstance(op, Pool):
        dtype = pad.type.dtype
        lowest = dtype in LIMITS and pad.field("fill") == LIMITS[dtype][0]
        return op.field("kind") == "max" and lowest
    return bool(pad.field("fill") == op.field("input_zp"))


class FoldSlices(HlPass):
    """Keeps rows and columns at the end that windows do not reach.

    TOSA wants strides to divide, so importers cut off what is left over.

    Before:
        %0 = torq_hl.slice %x {starts = array<i64: 0, 0, 0, 0>}
            : (tensor<1x8x8x4xi8>) -> tensor<1x7x7x4xi8>
        %1 = torq_hl.pool %0 {kind = "max", kernel = array<i64: 1, 1>, stride = array<i64: 2, 2>}
            : (tensor<1x7x7x4xi8>) -> tensor<1x4x4x4xi8>
    After:
        %0 = torq_hl.pool %x {kind = "max", kernel = array<i64: 1, 1>, stride = array<i64: 2, 2>}
            : (tensor<1x8x8x4xi8>) -> tensor<1x4x4x4xi8>
    """

    name: ClassVar[str] = "fold-slices"

    def run(self, block: Block) -> None:
        """One look at each window."""
        for op in list(block.ops):
            if isinstance(op, WINDOWS):
                cut = producer(op.operands[0])
                if isinstance(cut, Slice) and _only_ends(cut) and not _reaches(op, cut):
                    op.operands[0] = cut.x


def _only_ends(cut: Slice) -> bool:
    x, y = tensor_of(cut.x).shape, cut.type.shape
    whole = len(x) == 4 and (x[0], x[3]) == (y[0], y[3])
    return whole and not any(cut.field("starts")) and set(cut.steps_) == {1}


def _reaches(op: HlOp, cut: Slice) -> bool:
    """Whether the last window would see what is cut off, instead of padding or nothing."""
    kernel = op.field("kernel") or tensor_of(op.operands[1]).shape[-2:]
    pads, stride = op.field("padding"), op.field("stride")
    dilation = op.field("dilation") or (1, 1)
    sizes = zip(plane(tensor_of(cut.x)), plane(cut.type), plane(op.type), strict=True)
    for side, (whole, kept, made) in enumerate(sizes):
        last = (made - 1) * stride[side] + (kernel[side] - 1) * dilation[side] - pads[2 * side]
        room = whole + pads[2 * side] + pads[2 * side + 1] - (kernel[side] - 1) * dilation[side]
        if whole != kept and (last >= kept or (room - 1) // stride[side] + 1 != made):
            return True
    return False


class FoldWeightZeroPoints(HlPass):
    """Takes the zero points of weights away from the weights.

    Before:
        %0 = torq_hl.const {values = dense<[[1, 2, 3]]> : tensor<1x3xi8>} : tensor<1x3xi8>
        %1 = torq_hl.fully_connected %x, %0, %b {weight_zp = 3 : i64}
            : (tensor<1x3xi8>, tensor<1x3xi8>, tensor<1xi32>) -> tensor<1x1xi32>
    After:
        %0 = torq_hl.const {values = dense<[[-2, -1, 0]]> : tensor<1x3xi8>} : tensor<1x3xi8>
        %1 = torq_hl.fully_connected %x, %0, %b {weight_zp = 0 : i64}
            : (tensor<1x3xi8>, tensor<1x3xi8>, tensor<1xi32>) -> tensor<1x1xi32>
    """

    name: ClassVar[str] = "fold-weight-zero-points"

    def run(self, block: Block) -> None:
        """One look at each operation with weights."""
        for op in list(block.ops):
            if isinstance(op, Convolution | DepthwiseConvolution | FullyConnected):
                weights, zero = producer(op.weights), op.field("weight_zp")
                if not zero or not isinstance(weights, Const):
                    continue
                less = weights.array.astype(np.int64) - zero
                low, high = LIMITS[weights.type.dtype]
                fits = less.min() >= low and less.max() <= high
                dtype = weights.type.dtype if fits else "int16"
                values = dense_of(less, dtype)
                kind = weights.type.like(dtype=dtype)
                made = insert(op, Const, [], kind, way="", values=values)
                again = remade(op, op, op.type, weight_zp=0)
                again.owner.operands[1] = made
                replace(op, again)
