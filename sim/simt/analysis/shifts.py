"""Constants that only move what a kernel does to another place in memory.

Compilers that put all of a model's tensors into one buffer give each dispatch the tensors' offsets
as constants. Two dispatches that differ in nothing else execute the same, at other addresses.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..ir.nodes import BufferRoot, Constant, Function, Instruction, Value
from ..ir.operations.control import PHI
from ..ir.operations.conversions import SEXT, TRUNC, ZEXT
from ..ir.operations.integers import ADD, AND, LSHR, MUL, OR, SHL, SUB
from ..ir.operations.memory import COMPONENT, LOAD

_WORD = 4
_STEPS = frozenset({ZEXT, SEXT, TRUNC, PHI, ADD, OR})
_MULTIPLES = frozenset({MUL, SHL})


def shift_words(function: Function) -> frozenset[tuple[int, int]]:
    """(parameter, byte offset) of the 32-bit words of buffers that are only added to addresses.

    They may be multiplied by literals on the way, and cut to a number of bits, but neither compared
    nor stored.
    """
    words = list(_loaded_words(function))
    users: dict[Value, list[Instruction]] = {}
    conditions = {block.condition for block in function.blocks}
    for instruction in function.instructions():
        for operand in instruction.operands:
            users.setdefault(operand, []).append(instruction)
    found: dict[tuple[int, int], bool] = {}
    for word, value in words:
        only = _only_shifts(value, users) and value not in conditions
        found[word] = found.get(word, True) and only
    return frozenset(word for word, only in found.items() if only)


def _loaded_words(function: Function) -> Iterator[tuple[tuple[int, int], Instruction]]:
    """Every 32-bit word that is loaded from a known place of a buffer, and its value."""
    loads: dict[Value, tuple[int, int]] = {}
    for instruction in function.instructions():
        root = instruction.root
        if instruction.operation is LOAD and isinstance(root, BufferRoot):
            offset = instruction.operands[0]
            if instruction.element == "i32" and isinstance(offset, Constant):
                place = root.parameter, offset.number or 0
                loads[instruction] = place
                yield place, instruction
        elif instruction.operation is COMPONENT and instruction.operands[0] in loads:
            parameter, start = loads[instruction.operands[0]]
            yield (parameter, start + _WORD * instruction.index), instruction


def _only_shifts(value: Instruction, users: dict[Value, list[Instruction]]) -> bool:
    """Whether a value goes into nothing but sums that are offsets of accesses."""
    seen: set[Value] = {value}
    work: list[Value] = [value]
    while work:
        current = work.pop()
        for user in users.get(current, ()):
            if user.operation is COMPONENT and user.operands[0] is value:
                continue  # another word, with users of its own
            if _is_offset(user, current):
                continue
            if not _keeps_a_shift(user, current):
                return False
            if user not in seen:
                seen.add(user)
                work.append(user)
    return True


def _is_offset(user: Instruction, value: Value) -> bool:
    return (
        user.operation.accesses_memory
        and value is user.operands[0]
        and value not in user.operands[1:]
    )


def _keeps_a_shift(user: Instruction, value: Value) -> bool:
    """Whether the result of `user` moves along with `value`, whatever its other operands are."""
    if user.operation in _STEPS:
        return True
    others = [operand for operand in user.operands if operand is not value]
    if user.operation is SUB:
        return user.operands[0] is value and value not in user.operands[1:]
    if user.operation in _MULTIPLES:
        return len(others) == 1 and isinstance(others[0], Constant)
    if user.operation is AND:
        mask = others[0].number if others and isinstance(others[0], Constant) else None
        return mask is not None and mask & (mask + 1) == 0
    return user.operation is LSHR and len(others) == 1 and isinstance(others[0], Constant)
