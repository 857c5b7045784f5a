"""Channels first: windows go over planes, and transposes between them cancel."""

from __future__ import annotations

from typing import Any, ClassVar

from xdsl.dialects.func import ReturnOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from ...graph.elements import dense_of
from ..hl.elementwise import Add, Clamp, Elementwise, Mul, Scale, Select, Table, Unary
from ..hl.moves import Concat, Const, Copy, Pad, Repeat, Slice, Transpose, View
from ..hl.operation import HlOp
from ..hl.products import plane
from ..hl.reductions import Pool
from ..hl.types import Tensor, tensor_of
from ..kernels.planes.windows import LARGEST_KERNEL, LARGEST_REACH
from ..operators.tensors import Layout
from .base import HlPass, insert, producer, replace, used_once, users
from .fold_scales import remade
from .fold_windows import WINDOWS
from .strides import STRIDES

TO_PLANES, TO_ROWS = (0, 3, 1, 2), (0, 2, 3, 1)
_PLACES = {0: 0, 1: 2, 2: 3, 3: 1}
"""Where a dimension of (n, h, w, c) is in (n, c, h, w)."""
_ANYWHERE = (Add, Mul, Elementwise, Unary, Clamp, Table, Select, Copy, Scale)
_PER_DIMENSION = ("before", "after", "starts", "steps", "factors")


class ToPlanes(HlPass):
    """Lets convolutions and pooling go over planes, with a transpose before and one behind.

    Pools stay whose windows are too large or whose strides are others than 1 and 2, and means where
    windows or quadrants would need padding: another kernel goes over rows.

    Before:
        %0 = torq_hl.pool %x {kind = "max", kernel = array<i64: 2, 2>}
            : (tensor<1x4x4x8xi8>) -> tensor<1x3x3x8xi8>
    After:
        %0 = torq_hl.transpose %x {order = array<i64: 0, 3, 1, 2>}
            : (tensor<1x4x4x8xi8>) -> tensor<1x8x4x4xi8, planes>
        %1 = torq_hl.pool %0 {kind = "max", kernel = array<i64: 2, 2>}
            : (tensor<1x8x4x4xi8, planes>) -> tensor<1x8x3x3xi8, planes>
        %2 = torq_hl.transpose %1 {order = array<i64: 0, 2, 3, 1>}
            : (tensor<1x8x3x3xi8, planes>) -> tensor<1x3x3x8xi8>
    """

    name: ClassVar[str] = "to-planes"

    def run(self, block: Block) -> None:
        """One look at each window."""
        for op in list(block.ops):
            if isinstance(op, WINDOWS) and op.type.layout is Layout.ROWS and not _stays(op):
                data = as_planes(op.operands[0], op)
                made = remade(op, op, in_planes(op.type))
                made.owner.operands[0] = data
                replace(op, as_rows(made, op))


def _stays(op: HlOp) -> bool:
    """Whether a pool is one that goes over rows only."""
    if not isinstance(op, Pool):
        return False
    kernel, stride, pads = op.field("kernel"), op.field("stride"), op.field("padding")
    if stride not in STRIDES or max(kernel) > LARGEST_KERNEL:
        return True
    is_moved = stride == (1, 1) and not any(pads)  # so that it reaches to both sides
    if not is_moved and max(pads[2], kernel[1] - 1 - pads[2]) > LARGEST_REACH:
        return True
    uneven = any(n % step for n, step in zip(plane(tensor_of(op.x)), stride, strict=True))
    return op.field("kind") == "mean" and (any(pads) or uneven)


def in_planes(kind: Tensor) -> Tensor:
    """The type of rows as planes."""
    n, h, w, c = kind.shape
    return kind.like(shape=(n, c, h, w), layout=Layout.PLANES)


def as_planes(value: SSAValue, before: Operation) -> SSAValue:
    """Rows as planes, in front of an operation."""
    kind = in_planes(tensor_of(value))
    return insert(before, Transpose, [value], kind, way="", order=TO_PLANES)


def as_rows(value: SSAValue, before: Operation) -> SSAValue:
    """Planes as rows, in front of an operation."""
    kind = tensor_of(value)
    n, c, h, w = kind.shape
    rows = kind.like(shape=(n, h, w, c), layout=Layout.ROWS)
    return insert(before, Transpose, [value], rows, way="", order=TO_ROWS)


class CancelTransposes(HlPass):
    """Moves transposes from planes to rows behind what can be done on planes as well.

    So they meet those from rows to planes, and both go.

    Before:
        %0 = torq_hl.transpose %x {order = array<i64: 0, 2, 3, 1>}
            : (tensor<1x8x4x4xi8, planes>) -> tensor<1x4x4x8xi8>
        %1 = torq_hl.clamp %0 {low = 0 : i64, high = 9 : i64}
            : (tensor<1x4x4x8xi8>) -> tensor<1x4x4x8xi8>
        %2 = torq_hl.transpose %1 {order = array<i64: 0, 3, 1, 2>}
            : (tensor<1x4x4x8xi8>) -> tensor<1x8x4x4xi8, planes>
        %3 = torq_hl.pool %2 {kind = "max", kernel = array<i64: 2, 2>}
            : (tensor<1x8x4x4xi8, planes>) -> tensor<1x8x3x3xi8, planes>
    After:
        %0 = torq_hl.clamp %x {low = 0 : i64, high = 9 : i64}
            : (tensor<1x8x4x4xi8, planes>) -> tensor<1x8x4x4xi8, planes>
        %1 = torq_hl.pool %0 {kind = "max", kernel = array<i64: 2, 2>}
            : (tensor<1x8x4x4xi8, planes>) -> tensor<1x8x3x3xi8, planes>
    """

    name: ClassVar[str] = "cancel-transposes"

    def run(self, block: Block) -> None:
        """Forwards, so that a transpose moves as far as it can in one go."""
        shared: dict[tuple[SSAValue, Layout], SSAValue] = {}
        for op in list(block.ops):
            if isinstance(op, Transpose):
                _cancel(op, shared)
            elif isinstance(op, HlOp) and _goes_over_planes(op):
                _move(op)


def _cancel(op: Transpose, shared: dict[tuple[SSAValue, Layout], SSAValue]) -> None:
    """Takes away what an earlier transpose undoes, or has done already."""
    below = producer(op.x)
    if isinstance(below, Transpose):
        first, second = below.field("order"), op.field("order")
        whole = [first[place] for place in second]
        same = tensor_of(below.x).layout is op.type.layout
        if whole == sorted(whole) and same:
            op.value.replace_all_uses_with(below.x)
            return
    key = (op.x, op.type.layout)
    known = shared.get(key)
    if known is not None and tensor_of(known).shape == op.type.shape:
        op.value.replace_all_uses_with(known)
    else:
        shared[key] = op.value


def _from_planes(value: SSAValue) -> SSAValue | None:
    """What is transposed to these rows, if it is in planes."""
    op = producer(value)
    if isinstance(op, Transpose) and op.field("order") == TO_ROWS:
        return op.x if tensor_of(op.x).layout is Layout.PLANES else None
    return None


def _goes_over_planes(op: HlOp) -> bool:
    """Whether all it reads is transposed from planes, or is one number."""
    if op.type.layout is not Layout.ROWS or len(op.type.shape) != 4:
        return False
    if not isinstance(op, (*_ANYWHERE, Concat, Slice, Pad, Repeat)):
        return False
    sources = [_from_planes(operand) for operand in op.operands]
    whole = [s is not None or _movable(o) for s, o in zip(sources, op.operands, strict=True)]
    return any(s is not None for s in sources) and all(whole)


def _movable(value: SSAValue) -> bool:
    """A constant of four dimensions, which can be laid out as planes now."""
    return isinstance(value.owner, Const) and len(tensor_of(value).shape) == 4


def _move(op: HlOp) -> None:
    """The operation on planes, with a transpose behind it."""
    fields = reordered(op)
    if isinstance(op, Concat):
        fields["axis"] = _PLACES[op.field("axis")]
    sources = [_from_planes(value) or _constant(value, op) for value in op.operands]
    made = remade(op, op, in_planes(op.type), **fields)
    made.owner.operands = sources
    replace(op, as_rows(made, op))


def _constant(value: SSAValue, before: Operation) -> SSAValue:
    """A constant in planes."""
    owner = value.owner
    assert isinstance(owner, Const)
    array = owner.array.transpose(TO_PLANES)
    values = dense_of(array, owner.type.dtype)
    return insert(before, Const, [], in_planes(owner.type), way="", values=values)


def reordered(op: HlOp) -> dict[str, Any]:
    """The fields of an operation that have a number for each dimension, for planes."""
    found = {key: op.field(key) for key in _PER_DIMENSION if op.field(key) is not None}
    return {key: tuple(numbers[axis] for axis in TO_PLANES) for key, numbers in found.items()}


def _is_viewed(value: SSAValue) -> bool:
    """Whether somebody takes the bytes for another shape, so that they must be there."""
    return any(isinstance(user, View) for user in users(value))


class FoldTransposes(HlPass):
    """Lets DMA transpose what comes from the caller and goes back to it: its strides do that.

    Before:
        %0 = torq_hl.transpose %x {order = array<i64: 0, 3, 1, 2>}
            : (tensor<1x4x4x8xi8, xram>) -> tensor<1x8x4x4xi8, planes>
    After:
        %0 = torq_hl.transpose %x {order = array<i64: 0, 3, 1, 2>, by = "dma"}
            : (tensor<1x4x4x8xi8, xram>) -> tensor<1x8x4x4xi8, planes>
    """

    name: ClassVar[str] = "fold-transposes"

    def run(self, block: Block) -> None:
        """One look at each transpose."""
        for op in list(block.ops):
            if isinstance(op, Transpose) and op.field("by") == "slice":
                given = isinstance(op.x, BlockArgument) and not _is_viewed(op.value)
                taken = used_once(op.value) and isinstance(users(op.value)[0], ReturnOp)
                if (given or taken) and len(op.type.shape) <= 4:
                    replace(op, remade(op, op, op.type, by="dma"))
