"""Cheap facts about uniform integers: an upper bound, and a number they are a multiple of."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeGuard

from ..ir.llvm_types import bits, is_float
from ..ir.nodes import Constant, Instruction, Value
from ..ir.operations.control import PHI
from ..ir.operations.conversions import SEXT, TRUNC, ZEXT
from ..ir.operations.integers import ADD, AND, LSHR, MUL, SHL, SUB, UDIV, UREM
from ..ir.operations.operation import Operation
from ..ir.operations.positions import (
    SIMDGROUP_INDEX_IN_THREADGROUP,
    THREADGROUP_POSITION_IN_GRID,
    THREADGROUPS_PER_GRID,
)
from ..ir.shape import Shape

MAX_THREADGROUPS = 1 << 24  # in each dimension; dispatch refuses more, so that indices fit 32 bits
_DEPTH = 8
_PHI_ROUNDS = 4


class Facts:
    """Answers questions about values of one specialisation."""

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        # Numbers that phis are taken to be multiples of, until that is proved or given up.
        self.assumed: dict[Value, int] = {}
        self.promised: dict[Value, int] = {}  # what others are multiples of, by who made them

    def fits(self, base: Value, lanes: tuple[int, ...]) -> bool:
        """Whether adding any lane's number stays inside both the signed and unsigned range."""
        if min(lanes) < 0:
            return False
        return self.upper(base) + max(lanes) < 1 << (bits(base.type) - 1)

    def upper(self, value: Value, depth: int = _DEPTH) -> int:
        """An upper bound of a value read as unsigned."""
        limit = (1 << bits(value.type)) - 1 if not is_float(value.type) else 0
        if isinstance(value, Constant):
            return value.number or 0
        if not isinstance(value, Instruction) or depth == 0:
            return limit
        bound = _BOUNDS.get(value.operation)
        found = bound(self, value, depth - 1) if bound is not None else None
        return limit if found is None else min(limit, found)

    def _simdgroup_bound(self, value: Instruction, depth: int) -> int | None:
        return self._shape.simdgroups - 1

    def _sum_bound(self, value: Instruction, depth: int) -> int | None:
        return sum(self.upper(o, depth) for o in value.operands)

    def _product_bound(self, value: Instruction, depth: int) -> int | None:
        return math.prod(self.upper(o, depth) for o in value.operands)

    def _shifted_bound(self, value: Instruction, depth: int) -> int | None:
        source, amount = value.operands
        return self.upper(source, depth) << (amount.number or 0) if _is_known(amount) else None

    def _masked_bound(self, value: Instruction, depth: int) -> int | None:
        return min(self.upper(o, depth) for o in value.operands)

    def _same_bound(self, value: Instruction, depth: int) -> int | None:
        return self.upper(value.operands[0], depth)

    def _signed_bound(self, value: Instruction, depth: int) -> int | None:
        source = value.operands[0]
        result = self.upper(source, depth)
        return result if result < 1 << (bits(source.type) - 1) else None

    def _rest_bound(self, value: Instruction, depth: int) -> int | None:
        divisor = value.operands[1]
        # By zero leaves all of the dividend.
        return divisor.number - 1 if _is_known(divisor) and divisor.number else None

    def _divided_bound(self, value: Instruction, depth: int) -> int | None:
        source, divisor = value.operands
        if not _is_known(divisor):
            return None
        return self.upper(source, depth) // max(divisor.number or 0, 1)

    def _lowered_bound(self, value: Instruction, depth: int) -> int | None:
        source, amount = value.operands
        return self.upper(source, depth) >> (amount.number or 0) if _is_known(amount) else None

    def multiple(self, value: Value, depth: int = _DEPTH) -> int:
        """A number that the value is always a multiple of (as an integer modulo its width)."""
        if isinstance(value, Constant):
            return value.number or 1 << 62
        if not isinstance(value, Instruction) or depth == 0 or is_float(value.type):
            return 1
        if value in self.promised:
            return self.promised[value]
        factor = _FACTORS.get(value.operation)
        return factor(self, value, depth) if factor is not None else 1

    def _sum_multiple(self, value: Instruction, depth: int) -> int:
        common = math.gcd(*(self.multiple(o, depth - 1) for o in value.operands))
        total = sum(self.upper(o, depth - 1) for o in value.operands)
        exact = value.operation is ADD and total < 1 << bits(value.type)
        return common if exact else power_of_two_part(common)

    def _product_multiple(self, value: Instruction, depth: int) -> int:
        product = math.prod(self.multiple(o, depth - 1) for o in value.operands)
        if self._exact_product(value.operands, value.type, depth):
            return product
        return power_of_two_part(product)

    def _shifted_multiple(self, value: Instruction, depth: int) -> int:
        source, amount = value.operands
        if not _is_known(amount):
            return 1
        return power_of_two_part(self.multiple(source, depth - 1) << (amount.number or 0))

    def _resized_multiple(self, value: Instruction, depth: int) -> int:
        (source,) = value.operands
        number = self.multiple(source, depth - 1)
        kept = bits(value.type) if value.operation is TRUNC else bits(source.type)
        if value.operation is SEXT:
            kept -= 1
        if self.upper(source, depth - 1) < 1 << kept:
            return number  # it is the same integer
        return power_of_two_part(number)

    def _rest_multiple(self, value: Instruction, depth: int) -> int:
        source, divisor = value.operands
        if not _is_known(divisor):
            return 1
        return math.gcd(self.multiple(source, depth - 1), divisor.number or 1)

    def _divided_multiple(self, value: Instruction, depth: int) -> int:
        source, divisor = value.operands
        if not _is_known(divisor):
            return 1
        number = divisor.number or 0
        whole = 1 << number if value.operation is LSHR else max(number, 1)
        above = self.multiple(source, depth - 1)
        return above // whole if above % whole == 0 else 1

    def _phi_multiple(self, phi: Instruction, depth: int) -> int:
        """What holds for all that comes in, if it is assumed to hold for the phi itself."""
        depth -= 1
        known = self.assumed.get(phi)
        if known is not None:
            return known
        number = power_of_two_part(0)
        for _ in range(_PHI_ROUNDS):
            self.assumed[phi] = number
            incoming = math.gcd(*(self.multiple(o, depth) for o in phi.operands))
            del self.assumed[phi]
            if power_of_two_part(math.gcd(number, incoming)) == number:
                return number
            number = power_of_two_part(math.gcd(number, incoming))
        return 1

    def _exact_product(self, operands: list[Value], type: str, depth: int) -> bool:
        a, b = (self.upper(o, depth - 1) for o in operands)
        return a * b < 1 << bits(type)


def _is_known(value: Value) -> TypeGuard[Constant]:
    return isinstance(value, Constant)


# Upper bounds of results, None for none; the result's type is one too.
_BOUNDS: dict[Operation, Callable[[Facts, Instruction, int], int | None]] = {
    ADD: Facts._sum_bound,
    MUL: Facts._product_bound,
    SHL: Facts._shifted_bound,
    AND: Facts._masked_bound,
    ZEXT: Facts._same_bound,
    TRUNC: Facts._same_bound,
    SEXT: Facts._signed_bound,
    UREM: Facts._rest_bound,
    UDIV: Facts._divided_bound,
    LSHR: Facts._lowered_bound,
    SIMDGROUP_INDEX_IN_THREADGROUP: Facts._simdgroup_bound,
    THREADGROUP_POSITION_IN_GRID: lambda facts, value, _: MAX_THREADGROUPS - 1,
    THREADGROUPS_PER_GRID: lambda facts, value, _: MAX_THREADGROUPS,
}
# Numbers that results are multiples of.
_FACTORS: dict[Operation, Callable[[Facts, Instruction, int], int]] = {
    ADD: Facts._sum_multiple,
    SUB: Facts._sum_multiple,
    MUL: Facts._product_multiple,
    SHL: Facts._shifted_multiple,
    ZEXT: Facts._resized_multiple,
    SEXT: Facts._resized_multiple,
    TRUNC: Facts._resized_multiple,
    UREM: Facts._rest_multiple,
    UDIV: Facts._divided_multiple,
    LSHR: Facts._divided_multiple,
    PHI: Facts._phi_multiple,
}


def power_of_two_part(number: int) -> int:
    """The largest power of two that divides a number; a huge one for 0."""
    return number & -number if number else 1 << 62
