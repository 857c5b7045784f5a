"""Quadrants for what strides by 2."""

from __future__ import annotations

from dataclasses import replace as changed
from typing import ClassVar

from xdsl.ir import Block, Operation, SSAValue

from ...graph.elements import LIMITS
from ..hl.moves import Pad, Segment, Slice
from ..hl.operation import HlOp
from ..hl.products import Convolution, DepthwiseConvolution, plane
from ..hl.reductions import Pool
from ..hl.types import tensor_of
from ..operators.tensors import Layout
from .base import HlPass, insert, producer, replace, used_once
from .fold_scales import remade
from .fold_windows import WINDOWS


class SegmentStrides(HlPass):
    """Takes planes apart into quadrants where a stride of 2 reads them.

    Before:
        %0 = torq_hl.pool %x {kind = "max", kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>}
            : (tensor<1x8x4x4xi8, planes>) -> tensor<1x8x2x2xi8, planes>
    After:
        %0 = torq_hl.segment %x : (tensor<1x8x4x4xi8, planes>) -> tensor<1x8x4x4xi8, quadrants>
        %1 = torq_hl.pool %0 {kind = "max", kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>}
            : (tensor<1x8x4x4xi8, quadrants>) -> tensor<1x8x2x2xi8, planes>
    """

    name: ClassVar[str] = "segment-strides"

    def run(self, block: Block) -> None:
        """One look at each window; who reads the same planes shares the quadrants."""
        made: dict[SSAValue, SSAValue] = {}
        for op in list(block.ops):
            if isinstance(op, WINDOWS) and op.field("stride") == (2, 2):
                _segment(op, made)


def _segment(op: HlOp, made: dict[SSAValue, SSAValue]) -> None:
    x = op.operands[0]
    if tensor_of(x).layout is not Layout.PLANES:
        return
    even = _evened(op, x)
    if even is None:
        return
    op, x = even
    if x not in made:
        quadrants = changed(tensor_of(x), layout=Layout.QUADRANTS)
        made[x] = insert(op, Segment, [x], quadrants, way="")
    op.operands[0] = made[x]


def _evened(op: HlOp, x: SSAValue) -> tuple[HlOp, SSAValue] | None:
    """The operation on planes of even size; None if there is no way to that.

    A row or column that is missing is padding that the operation has no longer; one that no window
    reaches is cut off.
    """
    pads, kind = list(op.field("padding")), tensor_of(x)
    sizes, after = list(kind.shape), [0, 0, 0, 0]
    made = plane(op.type)
    for side, axis in enumerate((2, 3)):
        if sizes[axis] % 2 == 0:
            continue
        if pads[2 * side + 1]:
            pads[2 * side + 1] -= 1
            after[axis] = 1
        elif (made[side] - 1) * 2 + _taps(op)[side] - pads[2 * side] < sizes[axis]:
            sizes[axis] -= 1
        else:
            after[axis] = 1
        sizes[axis] += after[axis]
    if tuple(sizes) == kind.shape:
        return op, x
    fill = _nothing(op, kind.dtype)
    if any(after) and fill is None:
        return None
    less = tuple(n - a for n, a in zip(sizes, after, strict=True))
    if less != kind.shape:
        x = insert(op, Slice, [x], kind.like(shape=less), starts=(0, 0, 0, 0))
    if any(after):
        none = (0, 0, 0, 0)
        padded = kind.like(shape=tuple(sizes))
        x = insert(op, Pad, [x], padded, before=none, after=tuple(after), fill=fill)
    again = remade(op, op, op.type, padding=tuple(pads))
    new = again.owner
    assert isinstance(new, HlOp)
    new.operands[0] = x
    replace(op, again)
    return new, x


def _taps(op: HlOp) -> tuple[int, int]:
    kernel = op.field("kernel") or tensor_of(op.operands[1]).shape[-2:]
    dilation = op.field("dilation") or (1, 1)
    return (kernel[0] - 1) * dilation[0] + 1, (kernel[1] - 1) * dilation[1] + 1


def _nothing(op: HlOp, dtype: str) -> int | None:
    """The value that counts for nothing in a window; None if a mean would count it."""
    if isinstance(op, Pool):
        return LIMITS[dtype][0] if op.field("kind") == "max" and dtype in LIMITS else None
    zero: int = op.field("input_zp")
    return zero


class FuseSegments(HlPass):
    """Lets a convolution write quadrants by itself if nobody reads its planes.

    Before:
        %0 = torq_hl.convolution %x, %w, %b
            : (tensor<1x8x4x4xi8, planes>, tensor<8x8x1x1xi8>,
            tensor<8xi32>) -> tensor<1x8x4x4xi32, planes>
        %1 = torq_hl.segment %0 : (tensor<1x8x4x4xi32, planes>) -> tensor<1x8x4x4xi32, quadrants>
    After:
        %0 = torq_hl.convolution %x, %w, %b
            : (tensor<1x8x4x4xi8, planes>, tensor<8x8x1x1xi8>,
            tensor<8xi32>) -> tensor<1x8x4x4xi32, quadrants>
    """

    name: ClassVar[str] = "fuse-segments"

    def run(self, block: Block) -> None:
        """One look at each segmentation."""
        for op in list(block.ops):
            _fuse(op)


def _fuse(op: Operation) -> None:
    if not isinstance(op, Segment) or not used_once(op.x):
        return
    below = producer(op.x)
    if isinstance(below, Convolution | DepthwiseConvolution):
        replace(op, remade(below, op, op.type))
