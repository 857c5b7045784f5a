"""Arithmetic on lanes: each operation of the IR as a vector or, if uniform, a scalar operation.

LLVM's promises (`nsw`, `exact`, `nnan`...) are dropped on purpose: the bounds checks that follow
must not be optimised away on the strength of what the kernel's author promised.
"""

from __future__ import annotations

import re

from .ir import Constant, Instruction
from .llvm_types import bits
from .vector_text import TextBuilder, mangled

_NUMBER = re.compile(r"(?:splat \(i\d+ )?(\d+)\)?")
_PLAIN = {"add", "sub", "mul", "and", "or", "xor", "fadd", "fsub", "fmul", "fdiv", "frem"}
_SHIFTS = {"shl", "lshr", "ashr"}
_DIVISIONS = {"udiv", "sdiv", "urem", "srem"}
_CASTS = {"trunc", "zext", "sext", "uitofp", "sitofp", "bitcast", "fpext", "fptrunc"}
_FLAGGED_CALLS = {"llvm.ctlz", "llvm.cttz", "llvm.abs"}
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
            KeyError: for an operation that is not arithmetic.
        """
        op, type = instruction.op, instruction.type
        source = instruction.operands[0].type
        if op == "icmp":
            return self._compare(instruction, operands, width)
        if op == "fcmp":
            return self._float_compare(instruction, operands, width)
        if op in _SHIFTS:
            return self._shift(op, type, operands, width)
        if op in _DIVISIONS:
            return self._divide(instruction, operands, width)
        if op in ("fptoui", "fptosi"):
            return self._to_integer(op, source, type, operands[0], width)
        if op in _CASTS:
            return self.cast(op, source, type, operands[0], width)
        if op == "fneg":
            return self._negate(type, operands[0], width)
        if op == "call":
            return self._call(instruction, operands, width)
        if op in _PLAIN:
            return self._binary(op, type, operands, width)
        raise KeyError(op)

    def _binary(self, op: str, type: str, operands: list[str], width: int) -> str:
        return self.text.let(f"{op} {self.kind(type, width)} {operands[0]}, {operands[1]}")

    def _compare(self, instruction: Instruction, operands: list[str], width: int) -> str:
        kind = self.kind(instruction.operands[0].type, width)
        return self.text.let(f"icmp {instruction.predicate} {kind} {operands[0]}, {operands[1]}")

    def _float_compare(self, instruction: Instruction, operands: list[str], width: int) -> str:
        type = instruction.operands[0].type
        kind = self.kind(type, width)
        return self.text.let(f"fcmp {instruction.predicate} {kind} {operands[0]}, {operands[1]}")

    def _negate(self, type: str, operand: str, width: int) -> str:
        return self.text.let(f"fneg {self.kind(type, width)} {operand}")

    def _bitcast(self, source: str, target: str, operand: str, width: int) -> str:
        return self.text.let(
            f"bitcast {self.kind(source, width)} {operand} to {self.kind(target, width)}"
        )

    def _shift(self, op: str, type: str, operands: list[str], width: int) -> str:
        limit = bits(type)
        amount = operands[1]
        if not _is_below(amount, limit) and limit & (limit - 1) == 0:
            # Metal takes shift amounts modulo the width.
            amount = self._binary(
                "and", type, [amount, self.constant(type, str(limit - 1), width)], width
            )
        return self._binary(op, type, [operands[0], amount], width)

    def _divide(self, instruction: Instruction, operands: list[str], width: int) -> str:
        op, type = instruction.op, instruction.type
        divisor = instruction.operands[1]
        if isinstance(divisor, Constant) and divisor.number not in (0, (1 << bits(type)) - 1):
            return self._binary(op, type, operands, width)
        if width and bits(type) <= EXACT_IN_DOUBLE:
            return self._divide_in_double(op, type, operands, width)
        return self._divide_guarded(op, type, operands, width)

    def _divide_guarded(self, op: str, type: str, operands: list[str], width: int) -> str:
        kind, text = self.kind(type, width), self.text
        flags = self.kind("i1", width)
        zero, one = (self.constant(type, n, width) for n in ("0", "1"))
        by_zero = text.let(f"icmp eq {kind} {operands[1]}, {zero}")
        unsafe = by_zero
        if op in ("sdiv", "srem"):
            minus = self.constant(type, "-1", width)
            by_minus = text.let(f"icmp eq {kind} {operands[1]}, {minus}")
            unsafe = text.let(f"or {flags} {by_zero}, {by_minus}")
        safe = text.let(f"select {flags} {unsafe}, {kind} {one}, {kind} {operands[1]}")
        result = self._binary(op, type, [operands[0], safe], width)
        if op == "sdiv":
            negated = self._binary("sub", type, [zero, operands[0]], width)
            result = text.let(f"select {flags} {by_minus}, {kind} {negated}, {kind} {result}")
        none = zero if op in ("udiv", "sdiv") else operands[0]
        return text.let(f"select {flags} {by_zero}, {kind} {none}, {kind} {result}")

    def _divide_in_double(self, op: str, type: str, operands: list[str], width: int) -> str:
        signed = op[0] == "s"
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
        if op in ("udiv", "sdiv"):
            return quotient
        product = self._binary("mul", type, [quotient, operands[1]], width)
        return self._binary("sub", type, [operands[0], product], width)

    def _to_integer(self, op: str, source: str, type: str, operand: str, width: int) -> str:
        lanes = f"v{width}" if width else ""
        return self.text.call(
            self.kind(type, width),
            f"llvm.{op}.sat.{lanes}{mangled(type)}.{lanes}{mangled(source)}",
            (self.kind(source, width), operand),
        )

    def cast(self, op: str, source: str, target: str, operand: str, width: int) -> str:
        """A conversion."""
        if op == "fptrunc" and source == "double" and target == "half":
            # No host converts this in one step without a library call.
            operand, source = self._double_to_odd_float(operand, width), "float"
        return self.text.let(
            f"{op} {self.kind(source, width)} {operand} to {self.kind(target, width)}"
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
        less = self._binary("sub", "i32", [raw, self.constant("i32", "1", width)], width)
        towards_zero = text.let(f"select {flags} {too_far}, {kind} {less}, {kind} {raw}")
        odd = self._binary("or", "i32", [towards_zero, self.constant("i32", "1", width)], width)
        chosen = text.let(f"select {flags} {inexact}, {kind} {odd}, {kind} {raw}")
        return self._bitcast("i32", "float", chosen, width)

    def _call(self, instruction: Instruction, operands: list[str], width: int) -> str:
        name, type = instruction.callee, instruction.type
        if name in ("llvm.fptosi.sat", "llvm.fptoui.sat"):
            op = name.split(".")[1]
            return self._to_integer(op, instruction.operands[0].type, type, operands[0], width)
        if type == "half" and name == "llvm.fma":
            # f64 holds the product and rounds the sum innocuously: the result is rounded once.
            wide = [self.cast("fpext", "half", "double", o, width) for o in operands]
            result = self._intrinsic(name, "double", wide, width)
            return self.cast("fptrunc", "double", "half", result, width)
        if name == "llvm.round":
            return self._round(type, operands[0], width)
        if name == "llvm.is.fpclass":
            return self._classify(instruction, operands, width)
        if name in ("llvm.scmp", "llvm.ucmp"):
            source = instruction.operands[0].type
            lanes = f"v{width}" if width else ""
            return self.text.call(
                self.kind(type, width),
                f"{name}.{lanes}{mangled(type)}.{lanes}{mangled(source)}",
                *((self.kind(source, width), o) for o in operands),
            )
        return self._intrinsic(name, type, operands, width)

    def _intrinsic(self, name: str, type: str, operands: list[str], width: int) -> str:
        kind = self.kind(type, width)
        arguments = [(kind, o) for o in operands]
        if name in _FLAGGED_CALLS:
            arguments.append(("i1", "false"))
        lanes = f"v{width}" if width else ""
        return self.text.call(kind, f"{name}.{lanes}{mangled(type)}", *arguments)

    def _round(self, type: str, operand: str, width: int) -> str:
        """Half away from zero; vectors have no instruction for it."""
        text, kind, flags = self.text, self.kind(type, width), self.kind("i1", width)
        whole = self._intrinsic("llvm.trunc", type, [operand], width)
        rest = self._binary("fsub", type, [operand, whole], width)
        size = self._intrinsic("llvm.fabs", type, [rest], width)
        up = text.let(f"fcmp oge {kind} {size}, {self.constant(type, '0.5', width)}")
        step = text.let(
            f"select {flags} {up}, {kind} {self.constant(type, '1.0', width)}, "
            f"{kind} {self.constant(type, '0.0', width)}"
        )
        signed = self._intrinsic("llvm.copysign", type, [step, operand], width)
        moved = self._binary("fadd", type, [whole, signed], width)
        return self._intrinsic("llvm.copysign", type, [moved, operand], width)

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


def is_arithmetic(instruction: Instruction) -> bool:
    """Whether `Arithmetic` emits the operation."""
    plain = _PLAIN | _SHIFTS | _DIVISIONS | _CASTS
    return instruction.op in plain | {"icmp", "fcmp", "fptoui", "fptosi", "fneg", "call"}
