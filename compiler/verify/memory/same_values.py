"""Whether two writes to one place write the same: bit patterns as functions of what is read.

Two threads that copy or convert the same element of memory that nobody writes leave the same bits,
whichever comes last. Operations on floating-point numbers are unknown functions here, of which only
is known that equal operands give equal results.
"""

from __future__ import annotations

from typing import Any

from assay.sim.simt.ir.cfg import Loop
from assay.sim.simt.ir.llvm_types import is_float
from assay.sim.simt.ir.nodes import Constant, Instruction, Value
from assay.sim.simt.ir.operations.memory import STORE
from assay.sim.simt.ir.operations.operation import OfOperands

from ..conditions import one_of
from ..counts import Count, Counts
from ..terms import Expression
from ..values import Values

_MOST_VALUES = 500  # of a store; what more there is counts as unknown
_Key = frozenset[tuple[Loop, Count]]


def may_differ(
    a: Values, one: Instruction, here: Counts, b: Values, other: Instruction, there: Counts
) -> Expression:
    """Whether two stores that begin at the same byte may leave different bits there."""
    if not are_alike(one, other):
        return True
    mine, theirs = _Patterns(a), _Patterns(b)
    pairs = zip(one.operands[1:], other.operands[1:], strict=True)
    return one_of(*(mine.bits(x, here) != theirs.bits(y, there) for x, y in pairs))


def are_alike(one: Instruction, other: Instruction) -> bool:
    """Whether two accesses are stores of as many elements of one type."""
    stores = one.operation is STORE and other.operation is STORE
    return stores and one.components == other.components and one.element == other.element


class _Patterns:
    """Bit patterns of a thread's values, as terms."""

    def __init__(self, values: Values) -> None:
        self._values = values
        self._known: dict[tuple[Value, _Key], Expression] = {}

    def bits(self, value: Value, counts: Counts) -> Expression:
        """A value's bit pattern."""
        import z3

        if isinstance(value, Constant):
            if value.number is not None:
                return value.number
            return z3.Int(f"literal.{value.type}.{value.literal}")
        assert isinstance(value, Instruction) and value.block is not None
        known = self._values.counts_at(value.block, counts)
        key = (value, frozenset(known.items()))
        if key not in self._known:
            self._known[key] = self._bits(value, known)
        return self._known[key]

    def _bits(self, value: Instruction, counts: Counts) -> Expression:
        is_computed = isinstance(value.operation.meaning, OfOperands) and bool(value.operands)
        if is_computed and len(self._known) < _MOST_VALUES and _is_of_floats(value):
            operands = [_number(self.bits(each, counts)) for each in value.operands]
            return _function(value, len(operands))(*operands)
        if is_float(value.type):
            return self._values.term(value, counts).value
        return self._values.read(value, counts, "unsigned").value


def _is_of_floats(value: Instruction) -> bool:
    """Whether floating-point numbers go into a value, which its term then does not know."""
    seen: set[Value] = set()
    work: list[Value] = [value]
    while work:
        each = work.pop()
        if is_float(each.type):
            return True
        if each not in seen and isinstance(each, Instruction):
            seen.add(each)
            if isinstance(each.operation.meaning, OfOperands):
                work += each.operands
    return False


def _function(value: Instruction, count: int) -> Any:
    """The unknown function that an operation is: the same for the same way to compute."""
    import z3

    types = ",".join(each.type for each in value.operands)
    way = f"{value.predicate}.{value.contract}.{value.precise}.{sorted(value.flags)}"
    name = f"bits.{value.operation.name}.{types}.{value.type}.{way}"
    return z3.Function(name, *[z3.IntSort()] * (count + 1))


def _number(value: Expression) -> Any:
    import z3

    return z3.IntVal(value) if isinstance(value, int) else value
