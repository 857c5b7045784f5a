"""Tables whose results have 7 more bits, in terms of tables that have not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from xdsl.ir import Block, SSAValue

from ...graph.elements import LIMITS, Array, dense_of
from ..hl.elementwise import Elementwise, Mul, Scale, Table
from ..hl.moves import Const
from ..hl.operation import HlOp
from ..hl.types import Tensor, tensor_of
from ..operators.quantisation import Rescale
from .base import HlPass, insert, replace

_FRACTION = 127
_LOW, _HIGH = LIMITS["int16"]
_ROUNDED = Rescale(shifts=(7,), low=_LOW, high=_HIGH)
"""Takes the 7 bits away."""


class ExpandTables(HlPass):
    """Interpolates with products where a table of 16 bits gives all 7 more bits.

    One table has the entry below, another one the step to the next; the low 7 bits of x say how
    many 128ths of the step are added. Steps that do not fit 16 bits come from several tables; those
    of tables that give 16 bits are expanded, too, and rounded behind.

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
        %4 = torq_hl.const {values = dense<128> : tensor<8xi16>} : tensor<8xi16>
        %5 = torq_hl.table %2 {way = "general", entries = array<i64: 1 x 512, 0>}
            : (tensor<8xi16>) -> tensor<8xi16>
        %6 = torq_hl.mul %3, %4 {way = "general"} : (tensor<8xi16>, tensor<8xi16>) -> tensor<8xi32>
        %7 = torq_hl.mul %5, %1 {way = "general"} : (tensor<8xi16>, tensor<8xi16>) -> tensor<8xi32>
        %8 = torq_hl.elementwise %6, %7 {way = "general", kind = "ADD"}
            : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
    """

    name: ClassVar[str] = "expand-tables"

    def run(self, block: Block) -> None:
        """One look at each table; those of one input share what does not depend on the entries."""
        parts: dict[SSAValue, tuple[SSAValue, SSAValue]] = {}
        for op in list(block.ops):
            if isinstance(op, Table) and tensor_of(op.x).dtype == "int16":
                entries = np.array(op.field("entries"), np.int64)
                if op.type.dtype == "int32":
                    replace(op, _expanded(op, entries, parts))
                elif op.type.dtype == "int16" and not _is_even(entries):
                    wide = _expanded(op, entries, parts)
                    replace(op, _emit(op, Scale, [wide], op.type, rescale=_ROUNDED))


def _is_even(entries: Array) -> bool:
    """Whether all steps of a table fit the registers."""
    steps = np.diff(entries)
    return bool(steps.min() >= _LOW and steps.max() <= _HIGH)


def _expanded(
    op: Table, entries: Array, parts: dict[SSAValue, tuple[SSAValue, SSAValue]]
) -> SSAValue:
    """What a table of these entries gives with 7 more bits."""
    short = tensor_of(op.x).like()
    if op.x not in parts:
        rest = _emit(op, Elementwise, [op.x, _number(op, _FRACTION)], short, kind="BAND")
        parts[op.x] = rest, _emit(op, Elementwise, [op.x, rest], short, kind="SUB")
    rest, below = parts[op.x]
    products = [
        (_looked_up(op, below, part), _number(op, (_FRACTION + 1) * factor))
        for part, factor in _halves(entries)
    ]
    steps = np.append(np.diff(entries), 0)
    while steps.any():
        most = steps.clip(_LOW, _HIGH)
        products += [
            (_looked_up(op, below, part), rest)
            for half, factor in _halves(most)
            for part in [half] * factor
        ]
        steps = steps - most
    return _sum(op, products)


def _halves(entries: Array) -> list[tuple[Array, int]]:
    """Tables with factors whose sum has these entries, and whose steps fit the registers."""
    if _is_even(entries):
        return [(entries, 1)]
    return [(entries >> 1, 2), (entries & 1, 1)]


def _looked_up(op: Table, below: SSAValue, entries: Array) -> SSAValue:
    """The entry below each number."""
    short = tensor_of(op.x).like()
    return _emit(op, Table, [below], short, entries=tuple(int(e) for e in entries))


def _sum(op: Table, products: Sequence[tuple[SSAValue, SSAValue]]) -> SSAValue:
    """The sum of products of 16-bit numbers."""
    y = op.type.like(dtype="int32")
    terms = [_emit(op, Mul, list(pair), y) for pair in products]
    total = terms[0]
    for term in terms[1:]:
        total = _emit(op, Elementwise, [total, term], y, kind="ADD")
    return total


def _emit(
    op: Table, what: type[HlOp], operands: list[SSAValue], y: Tensor, **fields: Any
) -> SSAValue:
    return insert(op, what, operands, y, way="general", **fields)


def _number(op: Table, value: int) -> SSAValue:
    """One number everywhere."""
    kind = tensor_of(op.x).like()
    values = dense_of(np.broadcast_to(np.int16(value), kind.shape), "int16")
    return insert(op, Const, [], kind, way="", values=values)
