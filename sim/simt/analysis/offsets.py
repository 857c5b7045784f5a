"""Byte offsets as sums: which values they are made of, times what, plus which constant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..ir.llvm_types import bits
from ..ir.nodes import Constant, Instruction, Value
from ..ir.operations.conversions import SEXT, ZEXT
from ..ir.operations.integers import ADD, AND, MUL, OR, SHL, SUB
from ..ir.operations.operation import Operation
from .linear_form import number_of

_MAX_DEPTH = 12
EXTENSIONS = frozenset({ZEXT, SEXT})
_KEEPS_ZEROS = frozenset({MUL, AND})
Term = tuple[Operation | None, Value]  # (one of `EXTENSIONS` or nothing, what is extended)


@dataclass(frozen=True, slots=True)
class Offset:
    """`sum(factor * term) + constant`; terms are in the order in which they were found."""

    terms: tuple[tuple[Term, int], ...]
    constant: int

    @property
    def key(self) -> tuple[frozenset[tuple[Term, int]]]:
        """Equal for offsets that differ by a constant only."""
        return (frozenset(self.terms),)


def offset_of(value: Value, is_whole: Callable[[Value], bool] | None = None) -> Offset:
    """The sum that a 64-bit offset is; a single term in the worst case.

    `is_whole` says of a value that it is to be a term even if it is a sum of several.
    """
    terms: dict[Term, int] = {}
    constant = _add(value, 1, terms, is_whole or _never, 0)
    return Offset(tuple((term, factor) for term, factor in terms.items() if factor), constant)


def _never(_: Value) -> bool:
    return False


def _add(
    value: Value, factor: int, terms: dict[Term, int], is_whole: Callable[[Value], bool], depth: int
) -> int:
    """Add `factor` times a value to the terms; returns what is constant of it."""
    number = number_of(value)
    if number is not None:
        return number * factor
    if isinstance(value, Instruction) and depth < _MAX_DEPTH:
        parts = _parts(value, factor)
        if parts is not None and (not is_whole(value) or len(parts) < 2 or _shifts(parts)):
            return sum(_add(part, times, terms, is_whole, depth + 1) for part, times in parts)
        if value.operation in EXTENSIONS and not is_whole(value):
            return _add_extended(value.operation, value.operands[0], factor, terms)
    term = (None, value)
    terms[term] = terms.get(term, 0) + factor
    return 0


def _parts(value: Instruction, factor: int) -> list[tuple[Value, int]] | None:
    """What a value is the sum of, times what; None if it is no sum."""
    first, *rest = value.operands
    if value.operation is ADD or (value.operation is OR and is_disjoint(value)):
        return [(first, factor), (rest[0], factor)]
    if value.operation is SUB:
        return [(first, factor), (rest[0], -factor)]
    amount = number_of(rest[0]) if rest else None
    if value.operation is MUL and amount is not None:
        return [(first, factor * amount)]
    if value.operation is SHL and amount is not None and 0 <= amount < bits(value.type):
        return [(first, factor << amount)]
    return None


def _shifts(parts: list[tuple[Value, int]]) -> bool:
    """Whether a sum only adds a constant."""
    return any(isinstance(part, Constant) for part, _ in parts)


def _add_extended(kind: Operation, inner: Value, factor: int, terms: dict[Term, int]) -> int:
    constant = 0
    while isinstance(inner, Instruction) and _keeps_constant(kind, inner):
        number = number_of(inner.operands[1])
        assert number is not None
        constant += number * factor
        inner = inner.operands[0]
    term = (kind, inner)
    terms[term] = terms.get(term, 0) + factor
    return constant


def _keeps_constant(kind: Operation, value: Instruction) -> bool:
    """Whether the extended sum is the sum of what is extended and a constant."""
    if len(value.operands) != 2 or not isinstance(value.operands[1], Constant):
        return False
    number = number_of(value.operands[1])
    if value.operation is OR:
        return number is not None and number >= 0 and is_disjoint(value)
    promise = "nuw" if kind is ZEXT else "nsw"
    return (
        value.operation is ADD and promise in value.flags and (kind is SEXT or (number or 0) >= 0)
    )


def is_disjoint(value: Instruction) -> bool:
    """Whether an `or` adds, for no bit is set on both sides."""
    if "disjoint" in value.flags:
        return True
    left, right = value.operands
    number = right.number if isinstance(right, Constant) else None
    return number is not None and number < _low_zeros(left, 0)


def _low_zeros(value: Value, depth: int) -> int:
    """A power of two that a value is a multiple of."""
    if not isinstance(value, Instruction) or depth > _MAX_DEPTH or len(value.operands) < 2:
        return 1
    amount = value.operands[1]
    number = amount.number if isinstance(amount, Constant) else None
    if value.operation is SHL and number is not None and number < bits(value.type):
        return _low_zeros(value.operands[0], depth + 1) << number
    if value.operation in _KEEPS_ZEROS and number:
        return max(number & -number, _low_zeros(value.operands[0], depth + 1))
    return 1
