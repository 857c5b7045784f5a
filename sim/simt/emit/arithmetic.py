"""Arithmetic on lanes: each operation of the IR as a vector or, if uniform, a scalar operation.

LLVM's promises (`nsw`, `exact`, `nnan`...) are dropped on purpose: the bounds checks that follow
must not be optimised away on the strength of what the kernel's author promised.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ..ir.llvm_types import bits, mangled
from ..ir.nodes import Constant, Instruction
from ..ir.operations.control import SELECT
from ..ir.operations.conversions import (
    BITCAST,
    FPEXT,
    FPTOSI,
    FPTOUI,
    FPTRUNC,
    SEXT,
    SITOFP,
    TRUNC,
    UITOFP,
    ZEXT,
)
from ..ir.operations.floats import (
    CANONICALIZE,
    CEIL,
    COPYSIGN,
    FABS,
    FADD,
    FCMP,
    FDIV,
    FLOOR,
    FMA,
    FMUL,
    FNEG,
    FREM,
    FSUB,
    FTRUNC,
    IS_FPCLASS,
    MAXIMUM,
    MAXIMUMNUM,
    MAXNUM,
    MINIMUM,
    MINIMUMNUM,
    MINNUM,
    NEARBYINT,
    RINT,
    ROUND,
    ROUNDEVEN,
    SQRT,
)
from ..ir.operations.handlers import Handlers
from ..ir.operations.integers import (
    ABS,
    ADD,
    AND,
    ASHR,
    BITREVERSE,
    BSWAP,
    CTLZ,
    CTPOP,
    CTTZ,
    FSHL,
    FSHR,
    ICMP,
    LSHR,
    MUL,
    OR,
    SADD_SAT,
    SCMP,
    SDIV,
    SHL,
    SMAX,
    SMIN,
    SREM,
    SSUB_SAT,
    SUB,
    UADD_SAT,
    UCMP,
    UDIV,
    UMAX,
    UMIN,
    UREM,
    USUB_SAT,
    XOR,
)
from ..ir.operations.operation import OfOperands, Operation, Origin
from .text import TextBuilder

_FLAGGED_CALLS = frozenset({CTLZ, CTTZ, ABS})
_NUMBER = re.compile(r"(?:splat \(i\d+ )?(\d+)\)?")
_SIGNED = frozenset({SDIV, SREM})
_QUOTIENTS = frozenset({UDIV, SDIV})
EXACT_IN_DOUBLE = 32  # integers of so many bits divide exactly through f64


class Arithmetic:
    """Emits one operation at a time; `width` is the number of lanes, or 0 for a scalar."""

    def __init__(self, text: TextBuilder) -> None:
        self.text = text

    def kind(self, type: str, width: int) -> str:
        """The LLVM type of an operand."""
        return f"<{width} x {type}>" if width else type

    def constant(self, type: str, value: str, width: int) -> str:
        """A literal, in every lane."""
        return f"splat ({type} {value})" if width else value

    def emit(self, instruction: Instruction, operands: list[str], width: int) -> str:
        """Emit an operation whose operands are given as LLVM operands.

        Raises:
            LookupError: for an operation that is not arithmetic.
        """
        return ARITHMETIC[instruction.operation](self, instruction, operands, width)

    def _binary(self, operation: Operation, type: str, operands: list[str], width: int) -> str:
        kind = self.kind(type, width)
        return self.text.let(f"{operation.name} {kind} {operands[0]}, {operands[1]}")

    def _plain(self, instruction: Instruction, operands: list[str], width: int) -> str:
        return self._binary(instruction.operation, instruction.type, operands, width)

    def _compare(self, instruction: Instruction, operands: list[str], width: int) -> str:
        kind = self.kind(instruction.operands[0].type, width)
        return self.text.let(f"icmp {instruction.predicate} {kind} {operands[0]}, {operands[1]}")

    def _float_compare(self, instruction: Instruction, operands: list[str], width: int) -> str:
        type = instruction.operands[0].type
        kind = self.kind(type, width)
        return self.text.let(f"fcmp {instruction.predicate} {kind} {operands[0]}, {operands[1]}")

    def _negate(self, instruction: Instruction, operands: list[str], width: int) -> str:
        return self.text.let(f"fneg {self.kind(instruction.type, width)} {operands[0]}")

    def _bitcast(self, source: str, target: str, operand: str, width: int) -> str:
        return self.text.let(
            f"bitcast {self.kind(source, width)} {operand} to {self.kind(target, width)}"
        )

    def _shift(self, instruction: Instruction, operands: list[str], width: int) -> str:
        type = instruction.type
        limit = bits(type)
        amount = operands[1]
        if not _is_below(amount, limit) and limit & (limit - 1) == 0:
            # Metal takes shift amounts modulo the width.
            amount = self._binary(
                AND, type, [amount, self.constant(type, str(limit - 1), width)], width
            )
        return self._binary(instruction.operation, type, [operands[0], amount], width)

    def _divide(self, instruction: Instruction, operands: list[str], width: int) -> str:
        op, type = instruction.operation, instruction.type
        divisor = instruction.operands[1]
        if isinstance(divisor, Constant) and divisor.number not in (0, (1 << bits(type)) - 1):
            return self._binary(op, type, operands, width)
        if width and bits(type) <= EXACT_IN_DOUBLE:
            return self._divide_in_double(op, type, operands, width)
        return self._divide_guarded(op, type, operands, width)

    def _divide_guarded(self, op: Operation, type: str, operands: list[str], width: int) -> str:
        kind, text = self.kind(type, width), self.text
        flags = self.kind("i1", width)
        zero, one = (self.constant(type, n, width) for n in ("0", "1"))
        by_zero = text.let(f"icmp eq {kind} {operands[1]}, {zero}")
        unsafe = by_zero
        if op in _SIGNED:
            minus = self.constant(type, "-1", width)
            by_minus = text.let(f"icmp eq {kind} {operands[1]}, {minus}")
            unsafe = text.let(f"or {flags} {by_zero}, {by_minus}")
        safe = text.let(f"select {flags} {unsafe}, {kind} {one}, {kind} {operands[1]}")
        result = self._binary(op, type, [operands[0], safe], width)
        if op is SDIV:
            negated = self._binary(SUB, type, [zero, operands[0]], width)
            result = text.let(f"select {flags} {by_minus}, {kind} {negated}, {kind} {result}")
        none = zero if op in _QUOTIENTS else operands[0]
        return text.let(f"select {flags} {by_zero}, {kind} {none}, {kind} {result}")

    def _divide_in_double(self, op: Operation, type: str, operands: list[str], width: int) -> str:
        signed = op in _SIGNED
        convert, back = ("sitofp", "fptosi") if signed else ("uitofp", "fptoui")
        kind, double, text = self.kind(type, width), self.kind("double", width), self.text
        flags = self.kind("i1", width)
        zero = self.constant(type, "0", width)
        by_zero = text.let(f"icmp eq {kind} {operands[1]}, {zero}")
        a = text.let(f"{convert} {kind} {operands[0]} to {double}")
        b = text.let(f"{convert} {kind} {operands[1]} to {double}")
        ratio = text.let(f"fdiv {double} {a}, {b}")
        one = self.constant("double", "0.0", width)
        safe = text.let(f"select {flags} {by_zero}, {double} {one}, {double} {ratio}")
        # INT_MIN / -1 does not fit: go through a wider integer, which wraps back to INT_MIN.
        wide = self.kind("i64", width)
        quotient64 = text.let(f"{back} {double} {safe} to {wide}")
        quotient = text.let(f"trunc {wide} {quotient64} to {kind}")
        if op in _QUOTIENTS:
            return quotient
        product = self._binary(MUL, type, [quotient, operands[1]], width)
        return self._binary(SUB, type, [operands[0], product], width)

    def _to_integer(self, instruction: Instruction, operands: list[str], width: int) -> str:
        """What does not fit becomes the nearest number that does."""
        source, type = instruction.operands[0].type, instruction.type
        lanes = f"v{width}" if width else ""
        return self.text.call(
            self.kind(type, width),
            f"{_SATURATING[instruction.operation]}.{lanes}{mangled(type)}.{lanes}{mangled(source)}",
            (self.kind(source, width), operands[0]),
        )

    def _cast(self, instruction: Instruction, operands: list[str], width: int) -> str:
        source = instruction.operands[0].type
        return self.cast(instruction.operation, source, instruction.type, operands[0], width)

    def cast(self, operation: Operation, source: str, target: str, operand: str, width: int) -> str:
        """A conversion."""
        if operation is FPTRUNC and source == "double" and target == "half":
            # No host converts this in one step without a library call.
            operand, source = self._double_to_odd_float(operand, width), "float"
        return self.text.let(
            f"{operation.name} {self.kind(source, width)} {operand} to {self.kind(target, width)}"
        )

    def _double_to_odd_float(self, operand: str, width: int) -> str:
        """To float rounding to odd, so that rounding again to half is as if done once."""
        text = self.text
        single = text.let(
            f"fptrunc {self.kind('double', width)} {operand} to {self.kind('float', width)}"
        )
        back = text.let(
            f"fpext {self.kind('float', width)} {single} to {self.kind('double', width)}"
        )
        double, flags, kind = (self.kind(t, width) for t in ("double", "i1", "i32"))
        inexact = text.let(f"fcmp one {double} {back}, {operand}")
        raw = self._bitcast("float", "i32", single, width)
        size, size_back = (
            text.call(double, f"llvm.fabs.{f'v{width}' if width else ''}f64", (double, o))
            for o in (operand, back)
        )
        too_far = text.let(f"fcmp ogt {double} {size_back}, {size}")
        less = self._binary(SUB, "i32", [raw, self.constant("i32", "1", width)], width)
        towards_zero = text.let(f"select {flags} {too_far}, {kind} {less}, {kind} {raw}")
        odd = self._binary(OR, "i32", [towards_zero, self.constant("i32", "1", width)], width)
        chosen = text.let(f"select {flags} {inexact}, {kind} {odd}, {kind} {raw}")
        return self._bitcast("i32", "float", chosen, width)

    def _call(self, instruction: Instruction, operands: list[str], width: int) -> str:
        return self._intrinsic(instruction.operation, instruction.type, operands, width)

    def _fma(self, instruction: Instruction, operands: list[str], width: int) -> str:
        if instruction.type != "half":
            return self._call(instruction, operands, width)
        # f64 holds the product and rounds the sum innocuously: the result is rounded once.
        wide = [self.cast(FPEXT, "half", "double", o, width) for o in operands]
        result = self._intrinsic(FMA, "double", wide, width)
        return self.cast(FPTRUNC, "double", "half", result, width)

    def _canonicalise(self, instruction: Instruction, operands: list[str], width: int) -> str:
        if instruction.type != "half":
            return self._call(instruction, operands, width)
        # LLVM has no code for vectors of it on hosts that convert halves but do not compute with
        # them, and aborts. A float holds any half: what is left to do is to quiet NaNs.
        wide = self.cast(FPEXT, "half", "float", operands[0], width)
        quiet = self._intrinsic(CANONICALIZE, "float", [wide], width)
        return self.cast(FPTRUNC, "float", "half", quiet, width)

    def _order(self, instruction: Instruction, operands: list[str], width: int) -> str:
        source, type = instruction.operands[0].type, instruction.type
        lanes = f"v{width}" if width else ""
        return self.text.call(
            self.kind(type, width),
            f"{instruction.operation.name}.{lanes}{mangled(type)}.{lanes}{mangled(source)}",
            *((self.kind(source, width), o) for o in operands),
        )

    def _intrinsic(self, operation: Operation, type: str, operands: list[str], width: int) -> str:
        kind = self.kind(type, width)
        arguments = [(kind, o) for o in operands]
        if operation in _FLAGGED_CALLS:
            arguments.append(("i1", "false"))
        lanes = f"v{width}" if width else ""
        return self.text.call(kind, f"{operation.name}.{lanes}{mangled(type)}", *arguments)

    def _round(self, instruction: Instruction, operands: list[str], width: int) -> str:
        """Half away from zero; vectors have no instruction for it."""
        type, (operand,) = instruction.type, operands
        text, kind, flags = self.text, self.kind(type, width), self.kind("i1", width)
        whole = self._intrinsic(FTRUNC, type, [operand], width)
        rest = self._binary(FSUB, type, [operand, whole], width)
        size = self._intrinsic(FABS, type, [rest], width)
        up = text.let(f"fcmp oge {kind} {size}, {self.constant(type, '0.5', width)}")
        step = text.let(
            f"select {flags} {up}, {kind} {self.constant(type, '1.0', width)}, "
            f"{kind} {self.constant(type, '0.0', width)}"
        )
        signed = self._intrinsic(COPYSIGN, type, [step, operand], width)
        moved = self._binary(FADD, type, [whole, signed], width)
        return self._intrinsic(COPYSIGN, type, [moved, operand], width)

    def _classify(self, instruction: Instruction, operands: list[str], width: int) -> str:
        source = instruction.operands[0].type
        classes = instruction.operands[1]
        assert isinstance(classes, Constant)
        operand = operands[0]
        lanes = f"v{width}" if width else ""
        return self.text.call(
            self.kind("i1", width),
            f"llvm.is.fpclass.{lanes}{mangled(source)}",
            (self.kind(source, width), operand),
            ("i32", classes.literal),
        )


def _is_below(operand: str, limit: int) -> bool:
    """Whether an operand is a number, in one lane or all, from 0 to below `limit`."""
    found = _NUMBER.fullmatch(operand)
    return found is not None and int(found[1]) < limit


Emitter = Callable[[Arithmetic, Instruction, list[str], int], str]
_SATURATING = {
    FPTOSI: "llvm.fptosi.sat",
    FPTOUI: "llvm.fptoui.sat",
}


def _is_arithmetic(operation: Operation) -> bool:
    computes = operation.origin in (Origin.INSTRUCTION, Origin.INTRINSIC)
    return computes and operation is not SELECT and isinstance(operation.meaning, OfOperands)


# By operation; select, of which only some operands may vary, is emitted elsewhere.
ARITHMETIC: Handlers[Emitter] = Handlers("the emission of arithmetic", _is_arithmetic)
ARITHMETIC.put(
    (ADD, SUB, MUL, AND, OR, XOR, FADD, FSUB, FMUL, FDIV, FREM),
    Arithmetic._plain,
)
ARITHMETIC.put((ICMP,), Arithmetic._compare)
ARITHMETIC.put((FCMP,), Arithmetic._float_compare)
ARITHMETIC.put((SHL, LSHR, ASHR), Arithmetic._shift)
ARITHMETIC.put((UDIV, SDIV, UREM, SREM), Arithmetic._divide)
ARITHMETIC.put(_SATURATING, Arithmetic._to_integer)
ARITHMETIC.put(
    (TRUNC, ZEXT, SEXT, UITOFP, SITOFP, BITCAST, FPEXT, FPTRUNC),
    Arithmetic._cast,
)
ARITHMETIC.put((FNEG,), Arithmetic._negate)
ARITHMETIC.put((FMA,), Arithmetic._fma)
ARITHMETIC.put((CANONICALIZE,), Arithmetic._canonicalise)
ARITHMETIC.put((ROUND,), Arithmetic._round)
ARITHMETIC.put((IS_FPCLASS,), Arithmetic._classify)
ARITHMETIC.put((SCMP, UCMP), Arithmetic._order)
ARITHMETIC.put(
    (
        UMIN,
        UMAX,
        SMIN,
        SMAX,
        UADD_SAT,
        USUB_SAT,
        SADD_SAT,
        SSUB_SAT,
        FSHL,
        FSHR,
        CTPOP,
        BITREVERSE,
        BSWAP,
        CTLZ,
        CTTZ,
        ABS,
        SQRT,
        FABS,
        COPYSIGN,
        FLOOR,
        CEIL,
        FTRUNC,
        RINT,
        NEARBYINT,
        ROUNDEVEN,
        MINNUM,
        MAXNUM,
        MINIMUM,
        MAXIMUM,
        MINIMUMNUM,
        MAXIMUMNUM,
    ),
    Arithmetic._call,
)
