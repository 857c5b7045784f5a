"""Sums over rows and columns become means."""

from __future__ import annotations

from typing import ClassVar

from xdsl.ir import Block

from assay.hw.torq.facts.machine import limit

from ..hl.elementwise import Scale
from ..hl.moves import View
from ..hl.reductions import Mean, Reduce
from ..hl.types import tensor_of
from .base import HlPass, insert, is_identity, producer, replace, used_once

_MOST_PIXELS = limit("block_steps")
"""Of a plane whose mean one kernel makes."""


class FoldMeans(HlPass):
    """Joins sums over rows and over columns, and the scalings around them.

    Before:
        %0 = torq_hl.scale %x
            {input_zp = 2 : i64, rescale = #torq_hl.rescale<[1073741824], [30], zp 0,
            range -2147483648 to 2147483647>}
            : (tensor<1x4x4x8xi8>) -> tensor<1x4x4x8xi32>
        %1 = torq_hl.reduce %0 {kind = "sum", axis = 1 : i64}
            : (tensor<1x4x4x8xi32>) -> tensor<1x1x4x8xi32>
        %2 = torq_hl.reduce %1 {kind = "sum", axis = 2 : i64}
            : (tensor<1x1x4x8xi32>) -> tensor<1x1x1x8xi32>
        %3 = torq_hl.scale %2 {rescale = #torq_hl.rescale<[1], [4], zp 2, range -128 to 127>}
            : (tensor<1x1x1x8xi32>) -> tensor<1x1x1x8xi8, zp 2>
    After:
        %0 = torq_hl.mean %x
            {way = "direct", input_zp = 2 : i64, rescale = #torq_hl.rescale<[1], [4], zp 2,
            range -128 to 127>}
            : (tensor<1x4x4x8xi8>) -> tensor<1x8xi8, zp 2>
        %1 = torq_hl.view %0 : (tensor<1x8xi8, zp 2>) -> tensor<1x1x1x8xi8, zp 2>
    """

    name: ClassVar[str] = "fold-means"

    def run(self, block: Block) -> None:
        """One look at each scaling behind sums."""
        for op in list(block.ops):
            if isinstance(op, Scale) and len(op.field("rescale").multipliers) == 1:
                _fold(op)


def _fold(op: Scale) -> None:
    if op.field("input_zp"):
        return
    value = op.x
    axes: list[int] = []
    while isinstance(below := producer(value), Reduce | View) and used_once(value):
        if isinstance(below, View):
            if len(tensor_of(below.x).shape) != 4 or axes:
                break
        elif below.field("kind") != "sum" or len(tensor_of(below.x).shape) != 4:
            break
        else:
            axes.append(below.field("axis"))
        value = below.operands[0]
    first = producer(value)
    if sorted(axes) != [1, 2] or not is_identity(first) or not isinstance(first, Scale):
        return
    if first.type.dtype != "int32" or tensor_of(first.x).dtype not in ("int8", "int16"):
        return
    x = tensor_of(first.x)
    if x.shape[1] * x.shape[2] > _MOST_PIXELS:
        return
    mean = insert(
        op,
        Mean,
        [first.x],
        op.type.like(shape=(x.shape[0], x.shape[3])),
        way="direct",
        input_zp=first.field("input_zp"),
        rescale=op.field("rescale"),
    )
    replace(op, insert(op, View, [mean], op.type, way=""))
