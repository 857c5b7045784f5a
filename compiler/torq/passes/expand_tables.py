"""Tables whose results have 7 more bits, in terms of tables that have not."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from xdsl.ir import Block, SSAValue

from ...graph.elements import LIMITS, dense_of
from ..hl.elementwise import Elementwise, Mul, Table
from ..hl.moves import Const
from ..hl.operation import HlOp
from ..hl.types import Tensor, tensor_of
from .base import HlPass, insert, replace

_FRACTION = 127


class ExpandTables(HlPass):
    """Interpolates with products where a table of 16 bits gives all 7 more bits.

    One table has the entry below, another one the step to the next; the low 7 bits of x say how
    many 128ths of the step are added.

    Before:
        %0 = torq_hl.table %x {entries = array<i64: 0 to 512>} : (tensor<8xi16>) -> tensor<8xi32>
    After:
        %0 = torq_hl.const {values = dense<127> : tensor<8xi16>} : tensor<8xi16>
        %1 = torq_hl.elementwise %x, %0 {way = "general", kind = "BAND"}
            : (tensor<8xi16>, tensor<8xi16>) -> tensor<8xi16>
        %2 = torq_hl.elementwise %x, %1 {way = "general", kind = "SUB"}
            : (tensor<8xi16>, tensor<8xi16>) -> tensor<8xi16>
        %3 = torq_hl.table %2 {way = "general", entries = array<i64: 0 to 512>}
            : (tensor<8xi16>) -> tensor<8xi16>
        %4 = torq_hl.table %2 {way = "general", entries = array<i64: 1 x 512, 0>}
            : (tensor<8xi16>) -> tensor<8xi16>
        %5 = torq_hl.const {values = dense<128> : tensor<8xi16>} : tensor<8xi16>
        %6 = torq_hl.mul %3, %5 {way = "general"} : (tensor<8xi16>, tensor<8xi16>) -> tensor<8xi32>
        %7 = torq_hl.mul %4, %1 {way = "general"} : (tensor<8xi16>, tensor<8xi16>) -> tensor<8xi32>
        %8 = torq_hl.elementwise %6, %7 {way = "general", kind = "ADD"}
            : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
    """

    name: ClassVar[str] = "expand-tables"

    def run(self, block: Block) -> None:
        """One look at each table; those of one input share what does not depend on the entries."""
        parts: dict[SSAValue, tuple[SSAValue, SSAValue]] = {}
        for op in list(block.ops):
            if isinstance(op, Table):
                kinds = tensor_of(op.x).dtype, op.type.dtype
                if kinds == ("int16", "int32"):
                    _expand(op, parts)


def _expand(op: Table, parts: dict[SSAValue, tuple[SSAValue, SSAValue]]) -> None:
    entries = np.array(op.field("entries"), np.int64)
    steps = np.append(np.diff(entries), 0)
    low, high = LIMITS["int16"]
    if steps.min() < low or steps.max() > high:
        return
    short, y = tensor_of(op.x).like(), op.type
    if op.x not in parts:
        rest = _emit(op, Elementwise, [op.x, _number(op, _FRACTION)], short, kind="BAND")
        parts[op.x] = rest, _emit(op, Elementwise, [op.x, rest], short, kind="SUB")
    rest, below = parts[op.x]
    base = _emit(op, Table, [below], short, entries=tuple(int(e) for e in entries))
    step = _emit(op, Table, [below], short, entries=tuple(int(e) for e in steps))
    whole = _emit(op, Mul, [base, _number(op, _FRACTION + 1)], y)
    part = _emit(op, Mul, [step, rest], y)
    replace(op, _emit(op, Elementwise, [whole, part], y, kind="ADD"))


def _emit(
    op: Table, what: type[HlOp], operands: list[SSAValue], y: Tensor, **fields: Any
) -> SSAValue:
    return insert(op, what, operands, y, way="general", **fields)


def _number(op: Table, value: int) -> SSAValue:
    """One number everywhere."""
    kind = tensor_of(op.x).like()
    values = dense_of(np.broadcast_to(np.int16(value), kind.shape), "int16")
    return insert(op, Const, [], kind, way="", values=values)
