"""Indivisible accesses to memory; lanes do them one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from .floats import FADD, FSUB, MAXNUM, MINNUM
from .integers import ADD, AND, OR, SMAX, SMIN, SUB, UMAX, UMIN, XOR
from .number import F32, INTEGERS, Number
from .operation import (
    SHARED,
    Effect,
    OfMemory,
    OfOperands,
    Operation,
    Origin,
    Types,
    Uninitialised,
    Variation,
)

if TYPE_CHECKING:
    from ..nodes import Instruction

_ALL = (*INTEGERS, F32)


def _row(
    name: str,
    types: str,
    compute: Callable[[Instruction, int, Sequence[int]], int],
    *,
    numbers: tuple[Number, ...] = _ALL,
    effect: Effect = Effect.READS | Effect.WRITES,
    commutes: bool = False,
) -> Operation:
    return Operation(
        name=f"atomic_{name}",
        origin=Origin.MACHINE,
        types=types,
        meaning=OfMemory(compute),
        numbers=numbers,
        result=Variation.ALWAYS,
        effect=effect,
        spaces=SHARED,
        is_atomic=True,
        commutes=commutes,
        uninitialised=Uninitialised.CLEAN,
    )


def _update(
    name: str,
    integer: tuple[Operation, Operation],
    floating: Operation | None,
    numbers: tuple[Number, ...] = _ALL,
) -> Operation:
    """What memory holds is combined with the operand; integers are signed, or are not."""

    def compute(instruction: Instruction, old: int, operands: Sequence[int]) -> int:
        number = instruction.number
        assert number is not None
        combine = floating if number.is_float else integer[0 if number.is_signed else 1]
        assert combine is not None and isinstance(combine.meaning, OfOperands)
        return combine.meaning.compute(Types(number.type, number.type), (old, operands[0]))

    return _row(name, "i64 X -> X", compute, numbers=numbers, commutes=True)


ATOMIC_LOAD = _row("load", "i64 -> X", lambda _, old, o: old, effect=Effect.READS)
ATOMIC_STORE = _row("store", "i64 X -> void", lambda _, old, o: o[0], effect=Effect.WRITES)
ATOMIC_XCHG = _row("xchg", "i64 X -> X", lambda _, old, o: o[0])
ATOMIC_CMPXCHG = _row("cmpxchg", "i64 X X -> X", lambda _, old, o: o[1] if old == o[0] else old)
ATOMIC_ADD = _update("add", (ADD, ADD), FADD)
ATOMIC_SUB = _update("sub", (SUB, SUB), FSUB)
ATOMIC_MIN = _update("min", (SMIN, UMIN), MINNUM)
ATOMIC_MAX = _update("max", (SMAX, UMAX), MAXNUM)
ATOMIC_AND = _update("and", (AND, AND), None, INTEGERS)
ATOMIC_OR = _update("or", (OR, OR), None, INTEGERS)
ATOMIC_XOR = _update("xor", (XOR, XOR), None, INTEGERS)
