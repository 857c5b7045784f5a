"""Large strides, dilation and large kernels in terms of what kernels of the NPU do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from xdsl.ir import Block, SSAValue

from ...graph.elements import Array, dense_of
from ..hl.moves import Concat, Const, Pad, Slice, Transpose, View
from ..hl.operation import HlOp
from ..hl.products import Convolution, DepthwiseConvolution, plane
from ..hl.types import Tensor, tensor_of
from ..kernels.planes.windows import (
    LARGEST_KERNEL,
    LARGEST_REACH,
    columns_before,
    halves_have_centre,
)
from ..operators.products import Padding
from ..operators.tensors import Layout
from .base import HlPass, insert, producer, replace
from .fold_scales import remade

STRIDES = ((1, 1), (2, 2))
_NO_PADDING = (0, 0, 0, 0)


class RewriteStrides(HlPass):
    """Brings convolutions to strides of 1 or 2, no dilation, and at most 7 rows and columns.

    Dilation becomes zeros between weights while they are few, else phases of the input that are
    convolved by themselves. A larger stride of a depthwise convolution picks from the results of
    stride 1; of others it makes channels of the rows and columns that it passes over, as it does
    for more than 7 rows or columns and stride 2. Rows or columns of larger kernels become channels,
    too. Padding that is more than a kernel, or leaves too much of it on one side, becomes part of
    the input.

    Before:
        %w = torq_hl.const {values = dense<1> : tensor<8x8x1x1xi8>} : tensor<8x8x1x1xi8>
        %b = torq_hl.const {values = dense<1> : tensor<8xi32>} : tensor<8xi32>
        %0 = torq_hl.convolution %x, %w, %b {stride = array<i64: 3, 3>}
            : (tensor<1x7x7x8xi8>, tensor<8x8x1x1xi8>, tensor<8xi32>) -> tensor<1x3x3x8xi32>
    After:
        %w = torq_hl.const {values = dense<1> : tensor<8x8x1x1xi8>} : tensor<8x8x1x1xi8>
        %b = torq_hl.const {values = dense<1> : tensor<8xi32>} : tensor<8xi32>
        %0 = torq_hl.slice %x {starts = array<i64: 0, 0, 0, 0>, steps = array<i64: 1, 3, 3, 1>}
            : (tensor<1x7x7x8xi8>) -> tensor<1x3x3x8xi8>
        %1 = torq_hl.convolution %0, %w, %b
            {stride = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>}
            : (tensor<1x3x3x8xi8>, tensor<8x8x1x1xi8>, tensor<8xi32>) -> tensor<1x3x3x8xi32>
    """

    name: ClassVar[str] = "rewrite-strides"

    def run(self, block: Block) -> None:
        """One look at each convolution; what comes of it is looked at again."""
        waiting = [op for op in block.ops if isinstance(op, Convolution | DepthwiseConvolution)]
        while waiting:
            op = waiting.pop()
            made = _rewritten(op)
            if made is not None:
                result, convolution = made
                replace(op, result)
                if isinstance(convolution, Convolution | DepthwiseConvolution):
                    waiting.append(convolution)


Rewritten = tuple[SSAValue, HlOp | None]


def _rewritten(op: Convolution | DepthwiseConvolution) -> Rewritten | None:
    """What stands for a convolution, and one in it that may need more; None if it is well."""
    weights = producer(op.weights)
    if op.type.layout is not Layout.ROWS or not isinstance(weights, Const):
        return None
    kernel, stride = weights.type.shape[-2:], op.field("stride")
    dilation = op.field("dilation")
    if dilation != (1, 1):
        reach = [(n - 1) * d + 1 for n, d in zip(kernel, dilation, strict=True)]
        if max(reach) <= LARGEST_KERNEL or stride != (1, 1):
            return _spread(op, weights)
        return _phases(op)
    is_large = max(kernel) > LARGEST_KERNEL
    if isinstance(op, DepthwiseConvolution):
        if stride not in STRIDES or (stride == (2, 2) and is_large):
            return _picked(op)
    elif stride not in STRIDES or (stride == (2, 2) and is_large):
        return _picked_before(op) if kernel == (1, 1) else _space_to_depth(op, weights)
    elif is_large:
        return _rows_to_channels(op, weights)
    return _unpadded(op, kernel)


def _constant(op: HlOp, array: Array, dtype: str) -> SSAValue:
    kind = Tensor(dtype=dtype, shape=array.shape)
    return insert(op, Const, [], kind, way="", values=dense_of(array, dtype))


def _again(op: HlOp, x: SSAValue, weights: SSAValue, y: Tensor, **fields: Any) -> HlOp:
    """The convolution with other operands, type and fields."""
    made = remade(op, op, y, **fields).owner
    assert isinstance(made, HlOp)
    made.operands[0], made.operands[1] = x, weights
    return made


def _unpadded(op: Convolution | DepthwiseConvolution, kernel: Sequence[int]) -> Rewritten | None:
    """Padding that is too much for a kernel becomes part of the input."""
    pads, stride = op.field("padding"), op.field("stride")
    most = max(pads[2 * side] + pads[2 * side + 1] - kernel[side] + 1 for side in (0, 1))
    if most <= 0 and not _is_far(pads, kernel, stride[1]):
        return None
    # With one column more in front, the middle of a window is another one in its quadrant.
    more = int(_is_far(_NO_PADDING, kernel, stride[1]))
    pads = (*pads[:2], pads[2] + more, pads[3])
    if stride == (2, 2):
        rows, columns = plane(tensor_of(op.x))
        bottom, right = (rows + pads[0] + pads[1]) % 2, (columns + pads[2] + pads[3]) % 2
        pads = (pads[0], pads[1] + bottom, pads[2], pads[3] + right)
    new = _again(op, _padded(op, op.x, pads), op.weights, op.type, padding=(0, 0, -more, 0))
    return new.value, new


def _is_far(pads: Sequence[int], kernel: Sequence[int], stride: int) -> bool:
    """Whether a kernel has too much on one side of its centre."""
    padding = Padding(top=pads[0], bottom=pads[1], left=pads[2], right=pads[3])
    before = columns_before(kernel[1], padding, stride)
    if stride == 2 and max(kernel) > 1:
        borders = zip((pads[0], before), kernel, strict=True)
        if not all(halves_have_centre(border, size) for border, size in borders):
            return True
    return max(before, kernel[1] - 1 - before) > LARGEST_REACH


def _spread(op: Convolution | DepthwiseConvolution, weights: Const) -> Rewritten:
    """Zeros between the weights."""
    dilation, array = op.field("dilation"), weights.array
    reach = [(n - 1) * d + 1 for n, d in zip(array.shape[-2:], dilation, strict=True)]
    wide = np.full((*array.shape[:-2], *reach), op.field("weight_zp"), array.dtype)
    wide[..., :: dilation[0], :: dilation[1]] = array
    made = _constant(op, wide, weights.type.dtype)
    new = _again(op, op.x, made, op.type, dilation=(1, 1))
    return new.value, new


def _picked(op: DepthwiseConvolution) -> Rewritten:
    """Every so many of the results of stride 1."""
    pads, kernel = op.field("padding"), tensor_of(op.weights).shape[-2:]
    sizes = [
        size + pads[2 * side] + pads[2 * side + 1] - kernel[side] + 1
        for side, size in enumerate(plane(tensor_of(op.x)))
    ]
    n, _, _, c = op.type.shape
    new = _again(op, op.x, op.weights, op.type.like(shape=(n, *sizes, c)), stride=(1, 1))
    steps = (1, *op.field("stride"), 1)
    return insert(op, Slice, [new.value], op.type, starts=_NO_PADDING, steps=steps), new


def _picked_before(op: Convolution) -> Rewritten:
    """A kernel of 1x1 sees only every so many pixels."""
    x = _padded(op, op.x, op.field("padding"))
    kind, stride = tensor_of(x), op.field("stride")
    shape = (kind.shape[0], *plane(op.type), kind.shape[3])
    steps = (1, *stride, 1)
    seen = insert(op, Slice, [x], kind.like(shape=shape), starts=_NO_PADDING, steps=steps)
    new = _again(op, seen, op.weights, op.type, stride=(1, 1), padding=_NO_PADDING)
    return new.value, None


def _padded(op: HlOp, x: SSAValue, pads: tuple[int, ...]) -> SSAValue:
    """Rows with padding around that stands for nothing; negative padding cuts off."""
    kind = tensor_of(x)
    n, height, width, c = kind.shape
    kept = (height + min(pads[1], 0), width + min(pads[3], 0))
    if kept != (height, width):
        x = insert(op, Slice, [x], kind.like(shape=(n, *kept, c)), starts=_NO_PADDING)
    more = tuple(max(0, pad) for pad in pads)
    if not any(more):
        return x
    shape = (n, kept[0] + more[0] + more[1], kept[1] + more[2] + more[3], c)
    return insert(
        op,
        Pad,
        [x],
        kind.like(shape=shape),
        before=(0, more[0], more[2], 0),
        after=(0, more[1], more[3], 0),
        fill=op.field("input_zp"),
    )


def _space_to_depth(op: Convolution, weights: Const) -> Rewritten:
    """Channels of the rows and columns that a stride passes over: stride 1 is left."""
    (sh, sw), array = op.field("stride"), weights.array
    o, c, kh, kw = array.shape
    rows, columns = math.ceil(kh / sh), math.ceil(kw / sw)
    n, oh, ow, _ = op.type.shape
    high, wide = oh + rows - 1, ow + columns - 1
    pads, (height, width) = op.field("padding"), plane(tensor_of(op.x))
    around = (pads[0], high * sh - height - pads[0], pads[2], wide * sw - width - pads[2])
    x = _padded(op, op.x, around)
    kind = tensor_of(x)
    cells = insert(op, View, [x], kind.like(shape=(n, high, sh, wide, sw, c)), way="")
    turned = kind.like(shape=(n, high, wide, sh, sw, c))
    blocks = insert(op, Transpose, [cells], turned, order=(0, 1, 3, 2, 4, 5))
    deep = insert(op, View, [blocks], kind.like(shape=(n, high, wide, sh * sw * c)), way="")
    full = np.full((o, c, rows * sh, columns * sw), op.field("weight_zp"), array.dtype)
    full[:, :, :kh, :kw] = array
    split = full.reshape(o, c, rows, sh, columns, sw).transpose(0, 3, 5, 1, 2, 4)
    packed = _constant(op, split.reshape(o, sh * sw * c, rows, columns), weights.type.dtype)
    new = _again(op, deep, packed, op.type, stride=(1, 1), padding=_NO_PADDING)
    return new.value, new


def _rows_to_channels(op: Convolution, weights: Const) -> Rewritten:
    """Channels of what each row (or column) of a large kernel sees."""
    array, (oh, ow) = weights.array, plane(op.type)
    o, c, kh, kw = array.shape
    by_rows = kh > LARGEST_KERNEL
    x = _padded(op, op.x, op.field("padding"))
    kind = tensor_of(x)
    taps = kh if by_rows else kw
    shape = (kind.shape[0], oh if by_rows else kind.shape[1], kind.shape[2] if by_rows else ow, c)
    seen = [
        insert(
            op,
            Slice,
            [x],
            kind.like(shape=shape),
            starts=(0, tap, 0, 0) if by_rows else (0, 0, tap, 0),
        )
        for tap in range(taps)
    ]
    deep = insert(op, Concat, seen, kind.like(shape=(*shape[:3], taps * c)), axis=3)
    order = (0, 2, 1, 3) if by_rows else (0, 3, 1, 2)
    rest = (1, kw) if by_rows else (kh, 1)
    split = array.transpose(order).reshape(o, taps * c, *rest)
    packed = _constant(op, split, weights.type.dtype)
    new = _again(op, deep, packed, op.type, padding=_NO_PADDING)
    return new.value, new


def _phases(op: Convolution | DepthwiseConvolution) -> Rewritten:
    """Every so many rows and columns of the input by themselves, and the results interleaved."""
    dh, dw = op.field("dilation")
    n, oh, ow, o = op.type.shape
    kernel = tensor_of(op.weights).shape[-2:]
    high, wide = math.ceil(oh / dh), math.ceil(ow / dw)
    rows, columns = (high + kernel[0] - 1) * dh, (wide + kernel[1] - 1) * dw
    pads, (height, width) = op.field("padding"), plane(tensor_of(op.x))
    around = (pads[0], rows - height - pads[0], pads[2], columns - width - pads[2])
    x = _padded(op, op.x, around)
    kind = tensor_of(x)
    phase = kind.like(shape=(n, rows // dh, columns // dw, kind.shape[3]))
    y = op.type.like(shape=(n, high, wide, o))
    parts = []
    for i, j in np.ndindex(dh, dw):
        steps = (1, dh, dw, 1)
        seen = insert(op, Slice, [x], phase, starts=(0, i, j, 0), steps=steps)
        fields = {"dilation": (1, 1), "padding": _NO_PADDING}
        made = _again(op, seen, op.weights, y, **fields).value
        parts.append(insert(op, View, [made], y.like(shape=(n, 1, high, wide, o)), way=""))
    stacked = insert(op, Concat, parts, y.like(shape=(n, dh * dw, high, wide, o)), axis=1)
    split = insert(op, View, [stacked], y.like(shape=(n, dh, dw, high, wide, o)), way="")
    turned = y.like(shape=(n, high, dh, wide, dw, o))
    mixed = insert(op, Transpose, [split], turned, order=(0, 3, 1, 4, 2, 5))
    whole = insert(op, View, [mixed], y.like(shape=(n, high * dh, wide * dw, o)), way="")
    if (high * dh, wide * dw) == (oh, ow):
        return whole, None
    return insert(op, Slice, [whole], op.type, starts=_NO_PADDING), None
