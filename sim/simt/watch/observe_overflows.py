"""Observations of indices whose arithmetic leaves its type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..analysis.offsets import EXTENSIONS
from ..ir.insertion import Inserter, Numbering
from ..ir.llvm_types import bits
from ..ir.nodes import Constant, Function, Instruction, Value, integer
from ..ir.operations.control import SELECT
from ..ir.operations.conversions import SEXT, TRUNC, ZEXT
from ..ir.operations.integers import (
    ADD,
    AND,
    ASHR,
    ICMP,
    LSHR,
    MUL,
    OR,
    SDIV,
    SHL,
    SMAX,
    SMIN,
    SREM,
    SUB,
    UDIV,
    UMAX,
    UMIN,
    UREM,
    XOR,
)
from ..ir.operations.marks import NARROWED, OBSERVE_INDEX_OVERFLOW, PLAIN
from ..ir.operations.memory import COMPONENT, LOAD
from ..ir.operations.operation import Operation
from ..ir.passes import rewrites

_FROM_MEMORY = frozenset({LOAD, COMPONENT})
_WRAPS = frozenset({ADD, SUB, MUL, SHL})
_ARITHMETIC = frozenset({ADD, SUB, MUL})
# Whose first operand must be right: a remainder by a power of two is an AND by now, and is.
_DIVIDES = frozenset({UDIV, UREM, LSHR})
_SIGNED_DIVIDES = frozenset({SDIV, SREM, ASHR})
_TAKES_SIGN = frozenset({SEXT, SMIN, SMAX}) | _SIGNED_DIVIDES
_PASSED_ON = frozenset({TRUNC, SELECT})
_BOUNDED = frozenset({SMIN, SMAX, UMIN, UMAX})
# What indices are made of behind their arithmetic.
FOLLOWED = (
    _WRAPS | _DIVIDES | _SIGNED_DIVIDES | _BOUNDED | EXTENSIONS | {AND, OR, TRUNC, NARROWED, SELECT}
)
_JUDGED = frozenset({"i16", "i32"})
_MAX_STEPS = 256
_MAX_DEPTH = 12
_BYTE = 8  # sums of so few bits go round in a ring of 256 on purpose, such as in permutations
_MIXING = 1 << 16  # factors from here on are those of hashes and random numbers, which wrap


@rewrites
def observe_overflows(function: Function, number: Numbering) -> None:
    """Report indices that are not what the same arithmetic gives without a limit."""
    _SignedOverflows(function, number).visit()
    _Overflows(function, number).visit()


class _SignedOverflows(Inserter):
    """Signed sums and products that an address depends on, and that do not fit their type."""

    def __init__(self, function: Function, number: Numbering) -> None:
        super().__init__(function, number)
        self._indices = _index_values(function)

    def after(self, instruction: Instruction) -> None:
        operation = PLAIN.get(instruction.operation)
        if operation is None:
            return
        instruction.operation = operation
        if instruction not in self._indices:
            return
        wide = f"i{2 * bits(instruction.type)}"
        left, right = (self.emit(SEXT, wide, operand) for operand in instruction.operands)
        exact = self.emit(operation, wide, left, right)
        found = self.emit(SEXT, wide, instruction)
        self.observe(OBSERVE_INDEX_OVERFLOW, self.emit(ICMP, "i1", exact, found, predicate="ne"))


def _index_values(function: Function) -> set[Value]:
    """Everything that the address of some access is computed from."""
    found: set[Value] = set()
    work = [
        instruction.operands[0]
        for instruction in function.instructions()
        if instruction.operation.accesses_memory
    ]
    while work:
        value = work.pop()
        if value in found or not isinstance(value, Instruction):
            continue
        found.add(value)
        if value.operation not in _FROM_MEMORY:
            work += value.operands
    return found


class _Overflows(Inserter):
    """Indices of 16 and 32 bits that are not what their arithmetic gives without a limit.

    It is wrong where it is made wider, divided, or made narrower: then what is lost shows.
    """

    def __init__(self, function: Function, number: Numbering) -> None:
        super().__init__(function, number)
        self._signed = _signed_only(function)

    def before(self, instruction: Instruction) -> None:
        if not instruction.operation.accesses_memory:
            return
        for widened in _widened(instruction.operands[0]):
            self._judge(widened.operands[0], widened)
        for part in _lossy(instruction.operands[0]):
            if part.operation is NARROWED:
                self._judge_narrowed(part)
            else:
                self._judge_part(part)

    def _judge(self, index: Value, widened: Value) -> None:
        """Compare an index with its exact value, of which there may be a signed one too."""
        if not _is_arithmetic(index):
            return
        differs: Value = integer("i1", 1)
        for extend in (ZEXT, SEXT):
            exact = self._exact(index, extend)
            other = self.emit(ICMP, "i1", exact, widened, predicate="ne")
            differs = self.emit(AND, "i1", differs, other)
        observation = self.emit(OBSERVE_INDEX_OVERFLOW, "void", differs)
        assert isinstance(index, Instruction)
        observation.site = index.site  # the access may be lines behind

    def _judge_part(self, part: Instruction) -> None:
        """The dividend of a division, or a short number that is made longer."""
        index = part.operands[0]
        if not _is_arithmetic(index) or _is_mixed(index):
            return
        extend = SEXT if part.operation is SEXT else ZEXT
        self._judge(index, self.emit(extend, "i64", index))

    def _judge_narrowed(self, narrowed: Instruction) -> None:
        """Whether a number fits 16 or 8 bits: with a sign, or without if it may have none."""
        index, width = narrowed.operands
        assert isinstance(width, Constant)
        if not _is_counted(index) or _is_mixed(index):
            return
        if width.number == _BYTE and not _is_scaled(index):
            return
        differs: Value = integer("i1", 1)
        short = self.emit(TRUNC, f"i{width.number}", index)
        for extend in (SEXT,) if narrowed in self._signed else (ZEXT, SEXT):
            again = self.emit(extend, "i32", short)
            other = self.emit(ICMP, "i1", again, index, predicate="ne")
            differs = self.emit(AND, "i1", differs, other)
        observation = self.emit(OBSERVE_INDEX_OVERFLOW, "void", differs)
        observation.site = narrowed.site

    def _exact(self, value: Value, extend: Operation, depth: int = 0) -> Value:
        """A value computed in 64 bits; what it starts from counts as unsigned or signed."""
        if isinstance(value, Constant):
            number, width = value.number or 0, bits(value.type)
            return integer("i64", number - (1 << width) if number >> width - 1 else number)
        if not _is_arithmetic(value) or depth > _MAX_DEPTH:
            return self.emit(extend, "i64", value)
        assert isinstance(value, Instruction)
        left, right = (self._exact(operand, extend, depth + 1) for operand in value.operands)
        if value.operation is XOR:  # with -1: what the optimiser makes of `-1 - x`
            return self.emit(SUB, "i64", right, left)
        return self.emit(ADD if value.operation is OR else value.operation, "i64", left, right)


def _widened(offset: Value) -> list[Instruction]:
    """The extensions to 64 bits that a byte offset is computed from."""
    found: list[Instruction] = []
    work, seen = [offset], {offset}
    while work and len(seen) < _MAX_STEPS:
        value = work.pop()
        if not isinstance(value, Instruction) or value.type != "i64":
            continue
        if value.operation in EXTENSIONS:
            if value.operands[0].type == "i32":
                found.append(value)
        elif value.operation in FOLLOWED - {AND, OR}:
            following = [each for each in _parts(value) if each not in seen]
            seen.update(following)
            work += following
    return found


def _lossy(offset: Value) -> list[Instruction]:
    """Where an index is divided, and where it is made 16 bits or fewer, or no longer is."""
    found: list[Instruction] = []
    work, seen = [offset], {offset}
    while work and len(seen) < _MAX_STEPS:
        value = work.pop()
        if not isinstance(value, Instruction) or value.operation not in FOLLOWED:
            continue
        is_short = value.operation in EXTENSIONS and value.operands[0].type == "i16"
        if value.operation is NARROWED or value.operation in _DIVIDES or is_short:
            found.append(value)
        for operand in _parts(value):
            if operand not in seen:
                seen.add(operand)
                work.append(operand)
    return found


def _signed_only(function: Function) -> set[Value]:
    """Narrowed numbers that nothing takes for unsigned ones."""
    users: dict[Value, list[Instruction]] = {}
    for instruction in function.instructions():
        for operand in instruction.operands:
            users.setdefault(operand, []).append(instruction)
    return {
        each
        for each in users
        if isinstance(each, Instruction)
        and each.operation is NARROWED
        and _all_take_sign(each, users, {each})
    }


def _all_take_sign(
    value: Value, users: Mapping[Value, Sequence[Instruction]], seen: set[Value]
) -> bool:
    """Whether everything that is made of a short number takes it for one with a sign."""
    for user in users.get(value, ()):
        if user in seen or _takes_sign(user, users):
            continue
        seen.add(user)
        if user.operation not in _PASSED_ON or not _all_take_sign(user, users, seen):
            return False
    return True


def _takes_sign(user: Instruction, users: Mapping[Value, Sequence[Instruction]]) -> bool:
    if user.operation is ICMP:
        return user.predicate.startswith("s")
    if user.operation is SHL:  # and back: what the optimiser makes of an extension
        return all(each.operation is ASHR for each in users.get(user, ()))
    return user.operation in _TAKES_SIGN


def _parts(value: Instruction) -> list[Value]:
    """The operands that a result is made of: not what divides it or decides between them."""
    if value.operation is SELECT:
        return value.operands[1:]
    divides = value.operation in _DIVIDES or value.operation in _SIGNED_DIVIDES
    return value.operands[:1] if divides or value.operation is NARROWED else value.operands


def _is_counted(value: Value, depth: int = 0) -> bool:
    """Whether a value is arithmetic, a quotient of some, or one of several that are kept apart."""
    if not isinstance(value, Instruction) or depth > _MAX_DEPTH:
        return False
    if _is_arithmetic(value):
        return True
    chooses = value.operation in _BOUNDED or value.operation is SELECT
    divides = value.operation in {UDIV, SDIV}
    return (chooses or divides) and any(_is_counted(each, depth + 1) for each in _parts(value))


def _is_arithmetic(value: Value) -> bool:
    """Whether a value is a sum, difference or product, as the optimiser may write it."""
    if not isinstance(value, Instruction) or value.type not in _JUDGED:
        return False
    last = value.operands[-1] if value.operands else None
    number = last.number if isinstance(last, Constant) else None
    if value.operation is XOR:
        return number == (1 << bits(value.type)) - 1
    if value.operation is OR:
        return "disjoint" in value.flags
    if value.operation is SHL:
        return number is not None
    return value.operation in _ARITHMETIC


def _is_scaled(value: Value, depth: int = 0) -> bool:
    """Whether there is a product in a number."""
    if not isinstance(value, Instruction) or depth > _MAX_DEPTH or not _is_counted(value):
        return False
    if value.operation in {MUL, SHL}:
        return True
    return any(_is_scaled(each, depth + 1) for each in _parts(value))


def _is_mixed(value: Value, depth: int = 0) -> bool:
    """Whether bits are mixed by large factors, or taken apart by shifts: then they may get lost."""
    if not _is_arithmetic(value) or depth > _MAX_DEPTH:
        return False
    assert isinstance(value, Instruction)
    if value.operation is SHL and depth == 0:
        return True
    for operand in value.operands:
        if value.operation is MUL and isinstance(operand, Constant):
            number, width = operand.number or 0, bits(operand.type)
            if width == 32 and _MIXING <= number <= (1 << width) - _MIXING:
                return True
        if _is_mixed(operand, depth + 1):
            return True
    return False
