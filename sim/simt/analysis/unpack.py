"""Sees through integers that the calling convention packed out of smaller ones.

A `uint2` passed by value travels as one `i64`. Its parts are found again here, so that a thread's
position is not hidden from the analyses behind shifts and masks.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from ..ir.llvm_types import bits, is_float
from ..ir.nodes import Block, Constant, Function, Instruction, Value, integer
from ..ir.operations.conversions import BITCAST, TRUNC, ZEXT
from ..ir.operations.integers import AND, LSHR, OR, SHL
from ..ir.passes import rewrites

_MAX_DEPTH = 8
_SELECTS = frozenset({TRUNC, LSHR, AND})


@dataclass(frozen=True, slots=True)
class Piece:
    """`value` lies at bit `shift` of a wider integer."""

    shift: int
    value: Value


@rewrites
def unpack(function: Function) -> None:
    """Replace truncations, shifts and masks of packed integers by the parts they select.

    Masks of such shifts may be what is left of a part times a power of two; they become that.
    """
    known: dict[Value, list[Piece] | None] = {}
    replaced: dict[Value, Value] = {}
    for block in function.blocks:
        _unpack_block(block, known, replaced)
    for block in function.blocks:
        for instruction in block.instructions():
            instruction.operands = [replaced.get(o, o) for o in instruction.operands]
        if block.condition is not None:
            block.condition = replaced.get(block.condition, block.condition)


def _turned_back(bitcast: Instruction) -> Value | None:
    source = bitcast.operands[0]
    if isinstance(source, Instruction) and source.operation is BITCAST:
        original = source.operands[0]
        return original if original.type == bitcast.type else None
    return None


def pieces_of(value: Value) -> list[Piece] | None:
    """The disjoint parts that an integer is made of, lowest first; None if it is not."""
    return _pieces(value, {}, 0)


def _unpack_block(
    block: Block, known: dict[Value, list[Piece] | None], replaced: dict[Value, Value]
) -> None:
    body: list[Instruction] = []
    for instruction in block.body:
        instruction.operands = [replaced.get(o, o) for o in instruction.operands]
        part = _selected(instruction, known)
        moved = _moved_up(instruction, known) if part is None else None
        if moved is not None:
            body += _as_shift(instruction, *moved)
        elif part is None:
            body.append(instruction)
        elif part.type == instruction.type or bits(part.type) == bits(instruction.type):
            replaced[instruction] = part
        else:
            instruction.operation, instruction.operands = ZEXT, [part]
            body.append(instruction)
    block.body = body


def _selected(instruction: Instruction, known: dict[Value, list[Piece] | None]) -> Value | None:
    """What is there already: what was reinterpreted and is turned back, or the one part that an
    instruction picks out of a packed integer."""
    if instruction.operation is BITCAST:
        return _turned_back(instruction)
    if instruction.operation not in _SELECTS:
        return None
    source = instruction.operands[0]
    pieces = _pieces(source, known, 0)
    if not pieces or (
        len(pieces) == 1 and pieces[0].shift == 0 and instruction.operation is not AND
    ):
        return None
    low, high = 0, bits(source.type)
    if instruction.operation is TRUNC:
        high = bits(instruction.type)
    else:
        amount = instruction.operands[1]
        if not isinstance(amount, Constant) or amount.number is None:
            return None
        if instruction.operation is LSHR:
            low = amount.number
        else:
            high = amount.number.bit_length()
            if amount.number != (1 << high) - 1:
                return None
    inside = [p for p in pieces if p.shift < high and p.shift + bits(p.value.type) > low]
    if len(inside) != 1 or inside[0].shift != low:
        return None
    part = inside[0].value
    return part if low + bits(part.type) <= high else None


def _moved_up(
    instruction: Instruction, known: dict[Value, list[Piece] | None]
) -> tuple[Value, int] | None:
    """The part that a mask picks out of what was shifted down too little, and its bit there.

    That is what is left of a part times a power of two.
    """
    if instruction.operation is not AND:
        return None
    shifted, mask = instruction.operands[0], _number(instruction.operands[1])
    if isinstance(shifted, Instruction) and shifted.operation is TRUNC:
        shifted = shifted.operands[0]
    if not mask or not isinstance(shifted, Instruction) or shifted.operation is not LSHR:
        return None
    packed, amount = shifted.operands[0], _number(shifted.operands[1])
    up, top = (mask & -mask).bit_length() - 1, mask.bit_length()
    if amount is None or amount >= bits(packed.type) or not up or mask + (1 << up) != 1 << top:
        return None
    low, high = amount + up, amount + top
    pieces = _pieces(packed, known, 0) or []
    inside = [p for p in pieces if p.shift < high and p.shift + bits(p.value.type) > low]
    if len(inside) != 1 or inside[0].shift != low:
        return None
    part = inside[0].value
    is_whole = low + bits(part.type) <= high
    return (part, up) if is_whole or top == bits(instruction.type) else None


def _number(value: Value) -> int | None:
    return value.number if isinstance(value, Constant) else None


def _as_shift(instruction: Instruction, part: Value, amount: int) -> list[Instruction]:
    """Make an instruction `part << amount`; it and what it needs before."""
    width = bits(instruction.type)
    needed: list[Instruction] = []
    if bits(part.type) != width:
        extend = ZEXT if bits(part.type) < width else TRUNC
        converted = Instruction(extend, instruction.type, [part], instruction.site)
        converted.block = instruction.block
        needed.append(converted)
        part = converted
    instruction.operation = SHL
    instruction.operands = [part, integer(instruction.type, amount)]
    return [*needed, instruction]


def _pieces(value: Value, known: dict[Value, list[Piece] | None], depth: int) -> list[Piece] | None:
    """The disjoint parts of an integer, None if it is not made of parts."""
    if value in known:
        return known[value]
    found = _find_pieces(value, known, depth) if depth < _MAX_DEPTH else None
    known[value] = found
    return found


def _find_pieces(
    value: Value, known: dict[Value, list[Piece] | None], depth: int
) -> list[Piece] | None:
    if isinstance(value, Constant):
        return [] if value.number == 0 else None
    if not isinstance(value, Instruction) or is_float(value.type):
        return None
    if value.operation is ZEXT:
        return [Piece(0, value.operands[0])]
    if value.operation is SHL:
        amount = value.operands[1]
        inner = _pieces(value.operands[0], known, depth + 1)
        if inner is None or not isinstance(amount, Constant) or amount.number is None:
            return None
        moved = [Piece(p.shift + amount.number, p.value) for p in inner]
        width = bits(value.type)
        return moved if all(p.shift + bits(p.value.type) <= width for p in moved) else None
    if value.operation is OR:
        left, right = (_pieces(o, known, depth + 1) for o in value.operands)
        if left is None or right is None:
            return None
        both = sorted(left + right, key=lambda piece: piece.shift)
        for a, b in itertools.pairwise(both):
            if a.shift + bits(a.value.type) > b.shift:
                return None
        return both
    return None
