"""Cheap facts about uniform integers: an upper bound, and a number they are a multiple of."""

from __future__ import annotations

import math

from .ir import Constant, Instruction, Value
from .llvm_types import bits, is_float
from .shape import Shape

MAX_THREADGROUPS = 1 << 24  # in each dimension; dispatch refuses more, so that indices fit 32 bits
_DEPTH = 8
_PHI_ROUNDS = 4


class Facts:
    """Answers questions about values of one specialisation."""

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        # Numbers that phis are taken to be multiples of, until that is proved or given up.
        self.assumed: dict[Value, int] = {}

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
        return min(limit, self._upper(value, depth - 1, limit))

    def _upper(self, value: Instruction, depth: int, limit: int) -> int:
        operands = value.operands
        if value.op == "intrinsic":
            return self._intrinsic_upper(value, limit)
        if value.op in ("add", "mul"):
            a, b = (self.upper(o, depth) for o in operands)
            result = a + b if value.op == "add" else a * b
            return result if result <= limit else limit
        if value.op == "shl" and isinstance(operands[1], Constant):
            result = self.upper(operands[0], depth) << (operands[1].number or 0)
            return result if result <= limit else limit
        if value.op == "and":
            return min(self.upper(o, depth) for o in operands)
        if value.op == "zext":
            return self.upper(operands[0], depth)
        if value.op == "trunc":
            result = self.upper(operands[0], depth)
            return result if result <= limit else limit
        if value.op == "sext":
            result = self.upper(operands[0], depth)
            return result if result < 1 << (bits(operands[0].type) - 1) else limit
        if value.op in ("lshr", "udiv", "urem") and isinstance(operands[1], Constant):
            number = operands[1].number or 0
            if value.op == "urem" and number:
                return number - 1
            top = self.upper(operands[0], depth)
            return top >> number if value.op == "lshr" else top // max(number, 1)
        return limit

    def _intrinsic_upper(self, value: Instruction, limit: int) -> int:
        name = value.callee
        if name == "simdgroup_index_in_threadgroup":
            return self._shape.simdgroups - 1
        if name == "threadgroup_position_in_grid":
            return MAX_THREADGROUPS - 1
        if name == "threadgroups_per_grid":
            return MAX_THREADGROUPS
        return limit

    def multiple(self, value: Value, depth: int = _DEPTH) -> int:
        """A number that the value is always a multiple of (as an integer modulo its width)."""
        if isinstance(value, Constant):
            return value.number or 1 << 62
        if not isinstance(value, Instruction) or depth == 0 or is_float(value.type):
            return 1
        operands = value.operands
        if value.op in ("add", "sub"):
            common = math.gcd(*(self.multiple(o, depth - 1) for o in operands))
            total = sum(self.upper(o, depth - 1) for o in operands)
            exact = value.op == "add" and total < 1 << bits(value.type)
            return common if exact else power_of_two_part(common)
        if value.op == "mul":
            product = math.prod(self.multiple(o, depth - 1) for o in operands)
            if self._exact_product(operands, value.type, depth):
                return product
            return power_of_two_part(product)
        if value.op == "shl" and isinstance(operands[1], Constant):
            return power_of_two_part(
                self.multiple(operands[0], depth - 1) << (operands[1].number or 0)
            )
        if value.op in ("zext", "sext", "trunc"):
            return power_of_two_part(self.multiple(operands[0], depth - 1))
        if value.op == "urem" and isinstance(operands[1], Constant):
            return math.gcd(self.multiple(operands[0], depth - 1), operands[1].number or 1)
        if value.op == "phi":
            return self._phi_multiple(value, depth - 1)
        if value.op in ("udiv", "lshr") and isinstance(operands[1], Constant):
            number = operands[1].number or 0
            divisor = 1 << number if value.op == "lshr" else max(number, 1)
            above = self.multiple(operands[0], depth - 1)
            return above // divisor if above % divisor == 0 else 1
        return 1

    def _phi_multiple(self, phi: Instruction, depth: int) -> int:
        """What holds for all that comes in, if it is assumed to hold for the phi itself."""
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


def power_of_two_part(number: int) -> int:
    """The largest power of two that divides a number; a huge one for 0."""
    return number & -number if number else 1 << 62
