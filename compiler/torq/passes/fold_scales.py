"""Scalings and limits go into the operation that makes what they scale and limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace as changed
from typing import Any, ClassVar

import numpy as np
from xdsl.ir import Block, Operation, OpResult, SSAValue

from ...graph.elements import Array, is_float
from ..hl.attributes import attribute_of
from ..hl.elementwise import Add, Clamp, Mul, Scale
from ..hl.moves import Slice, Transpose, View
from ..hl.operation import HlOp
from ..hl.products import Convolution, DepthwiseConvolution, FullyConnected, MatMul
from ..hl.reductions import Mean
from ..hl.types import Tensor, TensorAttr, tensor_of
from ..operators.quantisation import FloatRange, Rescale
from .base import HlPass, insert, is_identity, producer, replace, used_once

PRODUCTS = (Convolution, DepthwiseConvolution, FullyConnected, MatMul, Mul)
"""Operations that scale their sums by themselves."""
_MOVES = (View, Transpose, Slice)
"""What may lie between a product and its scaling."""
_SCALING = (*PRODUCTS, Add, Scale, Mean)


class FoldScales(HlPass):
    """Lets an operation that sums products scale its sums by itself.

    Moves between the two, such as the view of a fully connected layer, move behind.

    Before:
        %0 = torq_hl.matmul %a, %b : (tensor<1x4x8xi8>, tensor<1x8x4xi8>) -> tensor<1x4x4xi32>
        %1 = torq_hl.scale %0 {rescale = #torq_hl.rescale<[3], [9], zp 1, range -128 to 127>}
            : (tensor<1x4x4xi32>) -> tensor<1x4x4xi8, zp 1>
    After:
        %0 = torq_hl.matmul %a, %b {rescale = #torq_hl.rescale<[3], [9], zp 1, range -128 to 127>}
            : (tensor<1x4x8xi8>, tensor<1x8x4xi8>) -> tensor<1x4x4xi8, zp 1>
    """

    name: ClassVar[str] = "fold-scales"

    def run(self, block: Block) -> None:
        """One look at each scaling."""
        for op in list(block.ops):
            if isinstance(op, Scale) and not op.field("input_zp"):
                _scale_below(op)


def _scale_below(op: Scale) -> None:
    """Scales a product in it, and puts the moves between the two behind."""
    chain: list[HlOp] = []
    source: SSAValue = op.x
    while isinstance(move := producer(source), _MOVES) and used_once(source):
        if tensor_of(move.operands[0]).dtype != move.type.dtype:
            return
        chain.append(move)
        source = move.operands[0]
    below = producer(source)
    if not isinstance(below, PRODUCTS) or not used_once(source):
        return
    if below.field("rescale") is not None:
        return
    scaling = _before(op.field("rescale"), chain[::-1], below.type.shape)
    if scaling is None:
        return
    value: SSAValue = remade(below, op, op.type.like(shape=below.type.shape), rescale=scaling)
    for move in reversed(chain):
        value = remade(move, op, op.type.like(shape=move.type.shape), operands=[value])
    replace(op, value)


def _before(scaling: Rescale, chain: Sequence[HlOp], shape: tuple[int, ...]) -> Rescale | None:
    """The scaling of what the moves start from; None if channels are mixed on the way."""
    if len(scaling.multipliers) == 1:
        return scaling
    places: Array = np.broadcast_to(np.arange(shape[-1]), shape)
    for move in chain:
        if isinstance(move, View):
            places = places.reshape(move.type.shape)
        elif isinstance(move, Transpose):
            places = places.transpose(move.field("order"))
        else:
            assert isinstance(move, Slice)
            bounds = zip(move.field("starts"), move.steps_, move.type.shape, strict=True)
            places = places[tuple(slice(a, a + step * n, step) for a, step, n in bounds)]
    channels = np.broadcast_to(np.arange(places.shape[-1]), places.shape)
    owners = np.zeros(shape[-1], np.int64)
    owners[places.reshape(-1)] = channels.reshape(-1)
    if not np.array_equal(owners[places], channels):
        return None
    multipliers, shifts = (np.array(each)[owners] for each in (scaling.multipliers, scaling.shifts))
    return changed(scaling, multipliers=tuple(multipliers.tolist()), shifts=tuple(shifts.tolist()))


def remade(
    op: HlOp,
    before: Operation,
    y: Tensor,
    /,
    *,
    operands: Sequence[SSAValue] | None = None,
    **fields: Any,
) -> OpResult:
    """An operation again with other fields and another type, in front of a later one."""
    given = {**op.properties, **{key: attribute_of(value) for key, value in fields.items()}}
    made = type(op).create(
        operands=list(op.operands if operands is None else operands),
        result_types=[TensorAttr(y)],
        properties=given,
        attributes=dict(op.attributes),
        location=op.location,
    )
    block = before.parent
    assert block is not None
    block.insert_op_before(made, before)
    return made.results[0]


class FoldClamps(HlPass):
    """Lets an operation that scales limit its results by itself.

    Before:
        %0 = torq_hl.scale %x {rescale = #torq_hl.rescale<[3], [9], zp -5, range -128 to 127>}
            : (tensor<8xi32>) -> tensor<8xi8, zp -5>
        %1 = torq_hl.clamp %0 {low = -5 : i64, high = 80 : i64}
            : (tensor<8xi8, zp -5>) -> tensor<8xi8, zp -5>
    After:
        %0 = torq_hl.scale %x {rescale = #torq_hl.rescale<[3], [9], zp -5, range -5 to 80>}
            : (tensor<8xi32>) -> tensor<8xi8, zp -5>
    """

    name: ClassVar[str] = "fold-clamps"

    def run(self, block: Block) -> None:
        """One look at each clamp."""
        for op in list(block.ops):
            if isinstance(op, Clamp):
                _limit_below(op)


def _limit_below(op: Clamp) -> None:
    view = producer(op.x)
    through = (
        isinstance(view, View) and used_once(op.x) and tensor_of(view.x).dtype == op.type.dtype
    )
    source = view.x if through and isinstance(view, View) else op.x
    below = producer(source)
    if not isinstance(below, _SCALING) or not used_once(source):
        return
    low, high, scaling = op.field("low"), op.field("high"), below.field("rescale")
    if isinstance(scaling, Rescale):
        low, high = max(low, scaling.low), min(high, scaling.high)
        if low > high:
            return
        made = remade(below, op, below.type, rescale=changed(scaling, low=low, high=high))
    elif is_float(op.type.dtype) and isinstance(below, PRODUCTS):
        known = scaling or FloatRange()
        limits = FloatRange(max(low, known.low), min(high, known.high))
        made = remade(below, op, below.type, rescale=limits)
    else:
        return
    replace(op, insert(op, View, [made], op.type) if through else made)


class NarrowProducts(HlPass):
    """Multiplies numbers of 16 bits where they only came to 32 by losing their zero points.

    Before:
        %0 = torq_hl.scale %a
            {input_zp = 3 : i64, rescale = #torq_hl.rescale<[1073741824], [30], zp 0,
            range -2147483648 to 2147483647>}
            : (tensor<8xi8>) -> tensor<8xi32>
        %1 = torq_hl.mul %0, %0 : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
    After:
        %0 = torq_hl.scale %a
            {input_zp = 3 : i64, rescale = #torq_hl.rescale<[1073741824], [30], zp 0,
            range -32768 to 32767>}
            : (tensor<8xi8>) -> tensor<8xi16>
        %1 = torq_hl.mul %0, %0 : (tensor<8xi16>, tensor<8xi16>) -> tensor<8xi32>
    """

    name: ClassVar[str] = "narrow-products"

    def run(self, block: Block) -> None:
        """One look at each product."""
        made: dict[SSAValue, SSAValue] = {}
        for op in list(block.ops):
            if isinstance(op, Mul) and op.type.dtype != "int48":
                for index, operand in enumerate(op.operands):
                    narrow = made.get(operand) or _narrowed(producer(operand))
                    if narrow is not None:
                        op.operands[index] = made[operand] = narrow


def _narrowed(op: Operation | None) -> SSAValue | None:
    """What a scaling by one takes, in 16 bits; None if it is something else."""
    if not isinstance(op, Scale) or op.type.dtype != "int32" or not is_identity(op):
        return None
    kind, zero = tensor_of(op.x), op.field("input_zp")
    if kind.dtype in ("int16", "int8") and not zero:
        return op.x
    if kind.dtype not in ("int8", "uint8"):
        return None
    limits = changed(op.field("rescale"), low=-32768, high=32767)
    return remade(op, op, op.type.like(dtype="int16"), rescale=limits)
