"""Takes away what does nothing."""

from __future__ import annotations

from typing import ClassVar

from xdsl.ir import Block

from ...graph.elements import LIMITS
from ..hl.elementwise import Clamp, Scale
from ..hl.moves import Broadcast, Copy, Slice, Transpose, View
from ..hl.operation import HlOp
from ..hl.types import tensor_of
from .base import HlPass, insert, is_identity, producer, replace


class Canonicalise(HlPass):
    """Takes away what does nothing or what nobody reads, and joins views of views.

    Before:
        %0 = torq_hl.view %x : (tensor<4x2xi8>) -> tensor<8xi8>
        %1 = torq_hl.view %0 : (tensor<8xi8>) -> tensor<2x4xi8>
        %2 = torq_hl.clamp %1 {low = -128 : i64, high = 127 : i64}
            : (tensor<2x4xi8>) -> tensor<2x4xi8>
    After:
        %0 = torq_hl.view %x : (tensor<4x2xi8>) -> tensor<2x4xi8>
    """

    name: ClassVar[str] = "canonicalise"

    def run(self, block: Block) -> None:
        """Forwards, so that one thing that goes lets the next one go."""
        for op in list(block.ops):
            if isinstance(op, View):
                _join(op)
            elif isinstance(op, HlOp) and _does_nothing(op):
                op.value.replace_all_uses_with(op.operands[0])


def _join(op: View) -> None:
    """A view of a view is one of what that one is of."""
    below = producer(op.x)
    if isinstance(below, View):
        replace_with = insert(op, View, [below.x], op.type)
        replace(op, replace_with)
        op = replace_with.owner  # type: ignore[assignment]
    kind = tensor_of(op.x)
    if (kind.shape, kind.dtype, kind.layout) == (op.type.shape, op.type.dtype, op.type.layout):
        op.value.replace_all_uses_with(op.x)


def _does_nothing(op: HlOp) -> bool:
    kind = tensor_of(op.operands[0]) if op.operands else None
    if kind is None or (kind.shape, kind.dtype) != (op.type.shape, op.type.dtype):
        return False
    if isinstance(op, Clamp) and kind.dtype in LIMITS:
        low, high = LIMITS[kind.dtype]
        return bool(op.field("low") <= low and op.field("high") >= high)
    if isinstance(op, Scale):
        return is_identity(op) and not op.field("input_zp") and _keeps_all(op)
    if isinstance(op, Transpose):
        return list(op.field("order")) == sorted(op.field("order"))
    if isinstance(op, Slice):
        return not any(op.field("starts"))
    return isinstance(op, Broadcast | Copy) and kind.layout is op.type.layout


def _keeps_all(op: Scale) -> bool:
    low, high = LIMITS[op.type.dtype]
    scaling = op.field("rescale")
    return bool(scaling.low <= low and scaling.high >= high)
