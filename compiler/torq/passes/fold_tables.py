"""Functions of one tensor of 8 bits become tables."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from xdsl.ir import Block, Operation, SSAValue

from ...graph.elements import Array
from ..hl.elementwise import Add, Clamp, Elementwise, Mul, Scale, Select, Table, Unary
from ..hl.interpret import MEANINGS
from ..hl.moves import Const
from ..hl.operation import HlOp
from ..hl.types import tensor_of
from ..operators.quantisation import Rescale
from .base import HlPass, insert, is_constant, producer, replace, used_once, users

_POINTWISE = (Add, Mul, Elementwise, Unary, Scale, Clamp, Table, Select)
_LINEAR = (Scale, Clamp)
_ALL = np.arange(-128, 128, dtype=np.int8)
_TABLE_BITS = 7


class FoldTables(HlPass):
    """Looks up in one table what is computed element by element from one tensor of 8 bits.

    So a sigmoid times its own input, which is SiLU, is one look-up; chains of scalings alone stay.
    A look-up with 7 more bits that are rounded away behind it is one without them.

    Before:
        %0 = torq_hl.table %x {entries = array<i64: -128 to 127>} : (tensor<8xi8>) -> tensor<8xi8>
        %1 = torq_hl.elementwise %0, %x {kind = "SUB"}
            : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi8>
    After:
        %0 = torq_hl.table %x {entries = array<i64: 0 x 256>} : (tensor<8xi8>) -> tensor<8xi8>
    """

    name: ClassVar[str] = "fold-tables"

    def run(self, block: Block) -> None:
        """Roots first, then the last value of each chain."""
        for op in list(block.ops):
            if isinstance(op, Scale):
                _round_table(op)
        roots: dict[SSAValue, SSAValue] = {}
        for op in block.ops:
            _find_root(op, roots)
        inside: set[SSAValue] = set()
        for op in list(reversed(list(block.ops))):
            root = roots.get(op.results[0]) if op.results else None
            if root is None or not isinstance(op, HlOp):
                continue
            if _only_read_inside(op.value, root, roots, inside):
                inside.add(op.value)
            elif _ends(op, root):
                inside.add(_fold(op, root, roots))


def _round_table(op: Scale) -> None:
    """Joins a table of 16 bits with the scaling that rounds its 7 more bits away."""
    below, scaling = producer(op.x), op.field("rescale")
    if not isinstance(below, Table) or not used_once(op.x) or below.type.dtype != "int32":
        return
    bits = _TABLE_BITS
    rounds = (
        _is_power(scaling) and scaling.shifts[0] - scaling.multipliers[0].bit_length() + 1 == bits
    )
    whole = (scaling.zero_point, scaling.low, scaling.high) == (0, -32768, 32767)
    if rounds and whole and not scaling.double_round and op.type.dtype == "int16":
        entries = below.field("entries")
        replace(op, insert(op, Table, [below.x], op.type, entries=entries))


def _is_power(scaling: Rescale) -> bool:
    multiplier = scaling.multipliers[0]
    return len(scaling.multipliers) == 1 and multiplier > 0 and not multiplier & (multiplier - 1)


def _find_root(op: Operation, roots: dict[SSAValue, SSAValue]) -> None:
    """Notes of which one tensor of 8 bits a result is a function, element by element."""
    if not isinstance(op, _POINTWISE) or not _one_scale(op):
        return
    found: set[SSAValue] = set()
    for operand in op.operands:
        if is_constant(operand):
            if np.size(_one(operand)) != 1:
                return
            continue
        root = roots.get(operand)
        if root is None and tensor_of(operand).dtype != "int8":
            return
        found.add(operand if root is None else root)
    if len(found) == 1:
        (root,) = found
        if tensor_of(root).shape == op.type.shape:
            roots[op.value] = root


def _one_scale(op: HlOp) -> bool:
    scaling = op.field("rescale")
    return not isinstance(scaling, Rescale) or len(scaling.multipliers) == 1


def _one(value: SSAValue) -> Array:
    """A constant that is one number everywhere as that number, else all of it."""
    owner = value.owner
    assert isinstance(owner, Const)
    array = owner.array
    same = array.size == 1 or array.strides == (0,) * array.ndim
    return array.reshape(-1)[:1] if same else array


def _only_read_inside(
    value: SSAValue, root: SSAValue, roots: dict[SSAValue, SSAValue], inside: set[SSAValue]
) -> bool:
    """Whether all who read a value go into tables of the same root."""
    read = [user.results[0] for user in users(value) if user.results]
    complete = len(read) == value.uses.get_length()
    return complete and all(roots.get(y) is root and y in inside for y in read)


def _ends(op: HlOp, root: SSAValue) -> bool:
    """Whether a chain that is more than scaling ends with this operation."""
    if op.type.dtype != "int8":
        return False
    chain = _chain(op, root)
    return len(chain) > 1 and not all(isinstance(link, _LINEAR) for link in chain)


def _chain(op: HlOp, root: SSAValue) -> list[HlOp]:
    """All operations between the root and a value, in no order."""
    chain: dict[HlOp, None] = {}
    waiting = [op]
    while waiting:
        link = waiting.pop()
        if link in chain:
            continue
        chain[link] = None
        for operand in link.operands:
            below = producer(operand)
            if operand is not root and isinstance(below, HlOp) and not isinstance(below, Const):
                waiting.append(below)
    return list(chain)


def _fold(op: HlOp, root: SSAValue, roots: dict[SSAValue, SSAValue]) -> SSAValue:
    """Replaces the end of a chain by a table; gives its result."""
    entries = _values(op.value, root, {root: _ALL})
    table = insert(op, Table, [root], op.type, entries=tuple(int(e) for e in entries))
    replace(op, table)
    roots[table] = root
    return table


def _values(value: SSAValue, root: SSAValue, known: dict[SSAValue, Array]) -> Array:
    """What a value is for each of the 256 that its root can be."""
    if value not in known:
        op = value.owner
        assert isinstance(op, HlOp)
        if isinstance(op, Const):
            known[value] = _one(value)
        else:
            inputs = [_values(operand, root, known) for operand in op.operands]
            known[value] = np.broadcast_to(MEANINGS[type(op)](op, inputs), _ALL.shape)
    return known[value]
