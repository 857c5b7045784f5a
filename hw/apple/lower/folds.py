"""Which operations cost nothing, because the instruction that uses them does them along."""

from __future__ import annotations

from collections.abc import Callable

from assay.sim.simt.analysis.offsets import EXTENSIONS
from assay.sim.simt.ir.llvm_types import bits, is_float
from assay.sim.simt.ir.nodes import Block, Constant, Instruction, Value
from assay.sim.simt.ir.operations.control import SELECT
from assay.sim.simt.ir.operations.conversions import (
    BITCAST,
    FPEXT,
    FPTOSI,
    FPTOUI,
    FPTRUNC,
    TRUNC,
    ZEXT,
)
from assay.sim.simt.ir.operations.floats import FABS, FADD, FCMP, FDIV, FMA, FMUL, FNEG, FSUB, SQRT
from assay.sim.simt.ir.operations.functions import FUNCTIONS
from assay.sim.simt.ir.operations.integers import ADD, AND, ASHR, ICMP, LSHR, MUL, OR, SHL, SUB, XOR
from assay.sim.simt.ir.operations.lanes import MMA, SIMD_BALLOT, SIMD_SHUFFLE
from assay.sim.simt.ir.operations.memory import (
    ADDRESS,
    COMPONENT,
    LOAD,
    LOOKUP_AVAILABLE,
    LOOKUP_HOST,
)
from assay.sim.simt.ir.operations.operation import Operation
from assay.sim.simt.ir.shape import LANES

from . import classes as t
from .lanes import RESIZES
from .values import Values, is_short

_MOST_SHIFT = 4
_REGISTER = 32
_HALF = 16
_QUAD_LANES = 15  # mask
_LOADED = frozenset({LOAD, COMPONENT})
_IGNORES_UPPER = frozenset({MUL, TRUNC})
_FLOAT_SUMS = frozenset({FADD, FSUB})
_INTEGER_SUMS = frozenset({ADD, SUB, OR})
_PRODUCTS = frozenset({SHL, MUL})
_NEUTRAL_ZERO = frozenset({OR, ADD, XOR})
_FLOAT_ARITHMETIC = frozenset({*t.FLOAT_ARITHMETIC, FDIV, FMA})
# What takes operands of 16 bits, beside operations across lanes, and what takes an operand's sign.
_TAKES_HALVES = _FLOAT_ARITHMETIC | t.EXTREMES | {FCMP, FNEG, FABS, FPTRUNC, *FUNCTIONS}
_TAKES_SIGNS = _TAKES_HALVES | {FPTOSI, FPTOUI, FPEXT}


class Folds:
    """Decides for each operation; of two that one instruction could do along, the first asked."""

    def __init__(self, values: Values, unneeded: set[Value]) -> None:
        self.values = values
        self.unneeded = unneeded  # sums that have no register
        self._known: dict[Instruction, bool] = {}

    def is_folded(self, i: Instruction) -> bool:
        """Whether an operation takes no instruction of its own."""
        known = self._known.get(i)
        if known is None:
            known = self._known[i] = self._decide(i)
        return known

    def _decide(self, i: Instruction) -> bool:
        rule = _RULES.get(i.operation)
        return rule is not None and rule(self, i)

    def _always(self, i: Instruction) -> bool:
        return True

    def _sum(self, i: Instruction) -> bool:
        return self._does_nothing(i) or self._adds_zero(i) or self._into_float_sum(i)

    def _product(self, i: Instruction) -> bool:
        return self._sign_extends(self.values.only_user(i)) or self._into_sum(i)

    def _sign(self, i: Instruction) -> bool:
        return self._sign_extends(i) and _number(i.operands[1]) == _HALF

    def _logic(self, i: Instruction) -> bool:
        return self._adds_zero(i) or self._bits(i)

    # -- conversions ---------------------------------------------------------------------------

    def _extension(self, i: Instruction) -> bool:
        source = i.operands[0]
        if source.type == "i1":
            # A comparison can give any two numbers.
            return True
        if bits(source.type) >= _HALF:
            return i.operation is ZEXT or bits(i.type) <= _REGISTER or not self._is_wide(i)
        if isinstance(source, Instruction) and source.operation in _LOADED:
            return i.operation is ZEXT or self._only_converted(i)
        return self._only_converted(i)

    def _is_wide(self, i: Instruction) -> bool:
        """Whether the upper half of 64 bits is looked at."""
        return any(
            not isinstance(u, Instruction) or u.operation not in _IGNORES_UPPER
            for u in self._users(i)
        )

    def _only_converted(self, i: Instruction) -> bool:
        return all(
            isinstance(u, Instruction) and u.operation in t.CONVERSIONS for u in self._users(i)
        )

    def _conversion(self, i: Instruction) -> bool:
        """Operands and results of floating-point instructions may have 16 bits."""
        if "bfloat" in (i.type, i.operands[0].type):
            # Only products of matrices take them as they are.
            users = self._users(i)
            return all(isinstance(u, Instruction) and u.operation is MMA for u in users)
        if i.operation is FPEXT:
            return all(self._computes(user) for user in self._users(i))
        source = i.operands[0]
        computed = isinstance(source, Instruction) and (
            _is_float_arithmetic(source) or source.operation.crosses_lanes
        )
        return computed and len(self._users(source)) == 1

    def _computes(self, user: Instruction | Block) -> bool:
        if not isinstance(user, Instruction):
            return False
        operation = user.operation
        return operation in _TAKES_HALVES or operation.crosses_lanes

    def _modifier(self, i: Instruction) -> bool:
        return all(
            isinstance(user, Instruction) and user.operation in _TAKES_SIGNS
            for user in self._users(i)
        )

    # -- choices -------------------------------------------------------------------------------

    def _comparison(self, i: Instruction) -> bool:
        """Selections and branches compare by themselves."""
        return all(
            not isinstance(user, Instruction)
            or (user.operation is SELECT and user.operands[0] is i)
            or self._votes(user)
            for user in self._users(i)
        )

    def _votes(self, user: Instruction) -> bool:
        """Whether a comparison's result, as a number, goes to a vote that compares by itself."""
        following = self.values.only_user(user) if user.operation is ZEXT else None
        return following is not None and following.operation is SIMD_BALLOT

    def _select(self, i: Instruction) -> bool:
        condition, first, _ = i.operands
        # A shuffle past the simdgroup's end leaves a lane's own value by itself.
        return (
            condition in self.values.lane_only
            and isinstance(first, Instruction)
            and first.operation is SIMD_SHUFFLE
        )

    def _saturates(self, i: Instruction) -> bool:
        """max(x, 0) and min(x, 1) around a result: a modifier of what computes it."""
        inner = i.operands[0]
        limits = [_float_of(o) for o in i.operands[1:]]
        if limits == [0.0]:
            user = self.values.only_user(i)
            limit = [_float_of(o) for o in user.operands[1:]] if user is not None else []
            return user is not None and user.operation in t.EXTREMES and limit == [1.0]
        if limits == [1.0] and isinstance(inner, Instruction) and inner.operation in t.EXTREMES:
            return [_float_of(o) for o in inner.operands[1:]] == [0.0] and (
                isinstance(inner.operands[0], Instruction)
                and _is_float_arithmetic(inner.operands[0])
            )
        return False

    def _under_one(self, root: Instruction) -> bool:
        user = self.values.only_user(root)
        return user is not None and user.operation is FDIV and _float_of(user.operands[0]) == 1.0

    def _into_float_sum(self, i: Instruction) -> bool:
        """Whether a product is added to something, and is no use to anybody else.

        The IR has fused what scalar source says; that of vectors is fused by Apple's compiler too.
        """
        user = self.values.only_user(i) if i.operation is FMUL else None
        if user is None or user.operation not in _FLOAT_SUMS or self.is_folded(user):
            return False
        first, second = user.operands
        other = first if second is i else second
        also = isinstance(other, Instruction) and other.operation is FMUL and self._known.get(other)
        return first is not second and not also

    # -- integers ------------------------------------------------------------------------------

    def _does_nothing(self, i: Instruction) -> bool:
        """x + 0 and x * 1, which fast mathematics drops even where x is a negative zero."""
        second = _float_of(i.operands[1])
        if i.operation is FMUL:
            return second == 1.0
        return is_float(i.type) and second == 0.0

    def _sign_extends(self, shift: Instruction | None) -> bool:
        """A shift to the left and back, which copies the sign of what is narrower."""
        if shift is None or shift.operation is not ASHR or shift.type != "i32":
            return False
        source = shift.operands[0]
        return (
            isinstance(source, Instruction)
            and source.operation is SHL
            and _number(source.operands[1]) == _number(shift.operands[1])
            and self.values.only_user(source) is shift
        )

    def _adds_zero(self, i: Instruction) -> bool:
        """Whether an operand is 0 in every lane, such as a lane's number above 31."""
        if i.operation not in _NEUTRAL_ZERO:
            return False
        return any(self.values.is_zero(operand) for operand in i.operands)

    def widens(self, product: Instruction) -> bool:
        """Whether a product of 32-bit numbers is added to a 64-bit one, and is used for that."""
        value = product
        if product.type == "i32":
            extended = self.values.only_user(product)
            if extended is None or extended.operation not in EXTENSIONS or extended.type != "i64":
                return False
            value = extended
        elif product.type != "i64" or not all(map(is_short, product.operands)):
            return False
        user = self.values.only_user(value)
        return user is not None and user.operation is ADD and user not in self.unneeded

    def _into_sum(self, i: Instruction) -> bool:
        user = self.values.only_user(i)
        if i.operation is MUL and self.widens(i):
            return True
        if user is None or i.type == "i64" or user.operation not in _INTEGER_SUMS:
            return False
        if user.operation is OR and "disjoint" not in user.flags:
            return False
        other = user.operands[1] if user.operands[0] is i else user.operands[0]
        if (
            isinstance(other, Instruction)
            and other is not i
            and self._known.get(other)
            and other.operation in _PRODUCTS
        ):
            return False  # one of the two
        if i.operation is MUL:
            return user.operation is not OR
        amount = _number(i.operands[1])
        return amount is not None and amount <= _MOST_SHIFT

    def _bits(self, i: Instruction) -> bool:
        number = _number(i.operands[1])
        if i.operation is LSHR:
            if self.is_free_shift(i):
                return True
            user = self.values.only_user(i)
            mask = _number(user.operands[1]) if user is not None and user.operation is AND else None
            return mask is not None and mask & (mask + 1) == 0
        if i.operation is AND and number is not None:
            if number == LANES - 1 and self._chooses_lane(i):
                return True
            if number == _QUAD_LANES and self._is_part_of_vote(i.operands[0]):
                return True
            return number in ((1 << _HALF) - 1, (1 << _REGISTER) - 1)
        if i.operation is XOR and number is not None and number == (1 << bits(i.type)) - 1:
            return all(
                (isinstance(user, Instruction) and user.operation in t.LOGIC)
                or isinstance(user, Block)
                for user in self._users(i)
            )
        return False

    def _is_part_of_vote(self, value: Value) -> bool:
        bare = _bare(value)
        return (
            isinstance(bare, Instruction)
            and bare.operation is LSHR
            and _is_ballot(bare.operands[0])
            and self.is_free_shift(bare)
        )

    def is_free_shift(self, i: Instruction) -> bool:
        """Whether a shift to the right only names another part of what it shifts."""
        if _is_ballot(i.operands[0]) and _bare(i.operands[1]) in self.values.lane_only:
            return True  # a quad's part of a vote
        number = _number(i.operands[1])
        # The upper half of a register is one too.
        return (number == _HALF and bits(i.type) == _REGISTER) or (
            number == _REGISTER and i.type == "i64"
        )

    def _chooses_lane(self, value: Instruction) -> bool:
        """Whether a number is used as that of a lane, of which the machine reads five bits."""
        return all(
            isinstance(user, Instruction)
            and (
                (user.operation is SIMD_SHUFFLE and user.operands[0] is not value)
                or (user.operation in RESIZES and self._chooses_lane(user))
                or (self._adds_zero(user) and self._chooses_lane(user))
            )
            for user in self._users(value)
        )

    # -- matrices ------------------------------------------------------------------------------

    def matrix_type(self, product: Instruction) -> str:
        """What a matrix product is made of, as its class names it.

        There is one instruction for sums of halves and one for sums of floats, whose factors may
        be narrower (dougallj/applegpu); only the first reaches the peak on M1 and M3 (MFA).
        """
        factor = _extended_from(product.operands[1])
        if factor == "half":
            return "f16" if self._sums_halves(product) else "f32"
        return {"bfloat": "bf16"}.get(factor, "f32")

    def _sums_halves(self, product: Instruction) -> bool:
        """Whether what is added to has halves, or if that is a constant, what comes out."""
        added = product.operands[-1]
        if isinstance(added, Constant):
            users = self._users(product)
            return all(isinstance(u, Instruction) and u.operation is FPTRUNC for u in users)
        return _extended_from(added) == "half"

    def _users(self, value: Value) -> list[Instruction | Block]:
        return self.values.users_of(value)


def _extended_from(value: Value) -> str:
    """The type that a number had before it was made a float; float if it was one."""
    while isinstance(value, Instruction) and value.operation is BITCAST:
        value = value.operands[0]
    if isinstance(value, Instruction) and value.operation is FPEXT:
        return value.operands[0].type
    return "float"


def _bare(value: Value) -> Value:
    while isinstance(value, Instruction) and value.operation in RESIZES:
        value = value.operands[0]
    return value


def _is_ballot(value: Value) -> bool:
    bare = _bare(value)
    return isinstance(bare, Instruction) and bare.operation is SIMD_BALLOT


def _is_float_arithmetic(i: Instruction) -> bool:
    return i.operation in _FLOAT_ARITHMETIC


def _number(value: Value) -> int | None:
    return value.number if isinstance(value, Constant) else None


def _float_of(value: Value) -> float | None:
    """A literal's value if it is zero or one, which is all that matters here."""
    if not isinstance(value, Constant) or not is_float(value.type):
        return None
    if value.literal in ("0.000000e+00", "-0.000000e+00", "0.0", "-0.0", "0xH0000", "0xH8000"):
        return 0.0
    return 1.0 if value.literal in ("1.000000e+00", "1.0", "0xH3C00") else None


_RULES: dict[Operation, Callable[[Folds, Instruction], bool]] = {
    **dict.fromkeys((COMPONENT, BITCAST, TRUNC), Folds._always),
    **dict.fromkeys((LOOKUP_HOST, LOOKUP_AVAILABLE, ADDRESS), Folds._always),
    **dict.fromkeys(EXTENSIONS, Folds._extension),
    **dict.fromkeys((FPEXT, FPTRUNC), Folds._conversion),
    **dict.fromkeys((FNEG, FABS), Folds._modifier),
    **dict.fromkeys((ICMP, FCMP), Folds._comparison),
    **dict.fromkeys((ADD, SUB, FADD, FSUB, FMUL), Folds._sum),
    **dict.fromkeys((SHL, MUL), Folds._product),
    ASHR: Folds._sign,
    **dict.fromkeys((AND, OR, XOR, LSHR), Folds._logic),
    SELECT: Folds._select,
    **dict.fromkeys(t.EXTREMES, Folds._saturates),
    SQRT: Folds._under_one,
}
"""When an operation costs nothing; others always take an instruction."""
