"""Replaces bfloat by its bits: an `i16` that is widened to f32 for arithmetic and rounded back.

Hosts differ in what they do with bfloat, some by calls into libraries that are not there. Done on
the IR, every host computes the same, and no generated code holds a bfloat.
"""

from __future__ import annotations

import struct

from ...site import Site
from ..ir.llvm_types import bits
from ..ir.nodes import Block, Constant, Function, Instruction, Value, integer
from ..ir.operations.control import PHI, SELECT
from ..ir.operations.conversions import BITCAST, FPEXT, FPTRUNC, SITOFP, TRUNC, UITOFP, ZEXT
from ..ir.operations.floats import FABS, FCMP, FMA, FNEG
from ..ir.operations.integers import ADD, AND, LSHR, OR, SHL, SUB, XOR
from ..ir.operations.memory import COMPONENT, LOAD, STORE
from ..ir.operations.operation import Operation, Origin
from ..ir.passes import rewrites
from ..read.constant_data import scalar_bytes

_MOVED = frozenset({LOAD, COMPONENT, PHI, SELECT, STORE})
_FROM_INTEGERS = frozenset({UITOFP, SITOFP})
_MACHINE = frozenset({Origin.MACHINE, Origin.MARK})  # of these, none computes with bfloats
_SIGN = 0x8000


@rewrites
def replace_bfloat(function: Function) -> None:
    """Rewrite a function in place so that no value is a bfloat."""
    if not _uses_bfloat(function):
        return
    rewriter = _Rewriter({i for i in function.instructions() if i.type == "bfloat"})
    for block in function.blocks:
        rewriter.rewrite(block)
    for block in function.blocks:
        for instruction in block.instructions():
            instruction.operands = [rewriter.now(o) for o in instruction.operands]
        if block.condition is not None:
            block.condition = rewriter.now(block.condition)


def _uses_bfloat(function: Function) -> bool:
    return any(
        "bfloat" in (i.type, i.element, *(o.type for o in i.operands))
        for i in function.instructions()
    )


class _Rewriter:
    """Replaces instructions; `now` is what stands for an old value."""

    def __init__(self, bfloats: set[Instruction]) -> None:
        self._bfloats = bfloats
        self._replaced: dict[Value, Value] = {}
        self._body: list[Instruction] = []
        self._site = Site()

    def now(self, value: Value) -> Value:
        """The value that stands for another after the rewriting."""
        while value in self._replaced:
            value = self._replaced[value]
        if isinstance(value, Constant) and value.type == "bfloat":
            return integer("i16", struct.unpack("<H", scalar_bytes(value))[0])
        return value

    def rewrite(self, block: Block) -> None:
        """Rewrite one block; operands that come later are put right at the end."""
        for phi in block.phis:
            self._move(phi)
        old, self._body = block.body, []
        for instruction in old:
            self._site = instruction.site
            self._rewrite(instruction)
        block.body = self._body
        for instruction in block.body:
            instruction.block = block

    def _move(self, instruction: Instruction) -> None:
        if instruction.type == "bfloat":
            instruction.type = "i16"
        if instruction.element == "bfloat":
            instruction.element = "i16"

    def _is_bfloat(self, value: Value) -> bool:
        return value in self._bfloats or value.type == "bfloat"

    def _rewrite(self, instruction: Instruction) -> None:
        operation = instruction.operation
        if operation in _MOVED or operation.origin in _MACHINE:
            self._move(instruction)
            self._body.append(instruction)
        elif any(self._is_bfloat(value) for value in (instruction, *instruction.operands)):
            self._replace(instruction)
        else:
            self._body.append(instruction)

    def _replace(self, instruction: Instruction) -> None:
        operands = [self.now(o) for o in instruction.operands]
        self._replaced[instruction] = self._result(instruction, operands)

    def _result(self, instruction: Instruction, operands: list[Value]) -> Value:
        operation = instruction.operation
        if operation is BITCAST:
            return operands[0]  # to or from i16, which is what it is already
        if operation is FNEG:
            return self._new(XOR, "i16", operands[0], integer("i16", _SIGN))
        if operation is FABS:
            return self._new(AND, "i16", operands[0], integer("i16", _SIGN - 1))
        if operation is FPTRUNC:
            return self._narrow(operands[0])
        if operation in _FROM_INTEGERS:
            wide = "float" if bits(operands[0].type) <= 16 else "double"
            return self._narrow(self._new(operation, wide, operands[0]))
        if operation is FPEXT:
            single = self._widen(operands[0])
            if instruction.type == "float":
                return single
            return self._new(FPEXT, instruction.type, single)
        wide_operands = [
            self._widen(new) if self._is_bfloat(old) else new
            for old, new in zip(instruction.operands, operands, strict=True)
        ]
        return self._computed(instruction, wide_operands)

    def _computed(self, instruction: Instruction, operands: list[Value]) -> Value:
        """An operation done in f32, or in f64 where f32 could round twice."""
        if instruction.operation is FMA:
            operands = [self._new(FPEXT, "double", o) for o in operands]
        narrow = self._is_bfloat(instruction)
        type = operands[0].type if narrow else instruction.type
        result = self._new(instruction.operation, type, *operands)
        result.predicate = instruction.predicate
        return self._narrow(result) if narrow else result

    def _new(self, operation: Operation, type: str, *operands: Value) -> Instruction:
        instruction = Instruction(operation, type, list(operands), self._site)
        self._body.append(instruction)
        return instruction

    def _widen(self, value: Value) -> Value:
        wide = self._new(ZEXT, "i32", value)
        high = self._new(SHL, "i32", wide, integer("i32", 16))
        return self._new(BITCAST, "float", high)

    def _narrow(self, value: Value) -> Value:
        """Round to nearest, ties to even; NaNs stay NaNs."""
        if value.type == "double":
            value = self._rounded_to_odd(value)
        elif value.type == "half":
            value = self._new(FPEXT, "float", value)
        raw = self._new(BITCAST, "i32", value)
        high = self._new(LSHR, "i32", raw, integer("i32", 16))
        odd = self._new(AND, "i32", high, integer("i32", 1))
        bias = self._new(ADD, "i32", odd, integer("i32", 0x7FFF))
        rounded = self._new(ADD, "i32", raw, bias)
        is_nan = self._compare("uno", value, value)
        quiet = self._new(OR, "i32", raw, integer("i32", 1 << 22))
        chosen = self._new(SELECT, "i32", is_nan, quiet, rounded)
        top = self._new(LSHR, "i32", chosen, integer("i32", 16))
        return self._new(TRUNC, "i16", top)

    def _compare(self, predicate: str, left: Value, right: Value) -> Instruction:
        test = self._new(FCMP, "i1", left, right)
        test.predicate = predicate
        return test

    def _rounded_to_odd(self, value: Value) -> Value:
        """f64 to f32 rounding to odd, so that rounding again is as if done once."""
        single = self._new(FPTRUNC, "float", value)
        back = self._new(FPEXT, "double", single)
        inexact = self._compare("one", back, value)
        sizes = [self._new(FABS, "double", side) for side in (value, back)]
        too_far = self._compare("ogt", sizes[1], sizes[0])
        raw = self._new(BITCAST, "i32", single)
        less = self._new(SUB, "i32", raw, integer("i32", 1))
        towards_zero = self._new(SELECT, "i32", too_far, less, raw)
        odd = self._new(OR, "i32", towards_zero, integer("i32", 1))
        chosen = self._new(SELECT, "i32", inexact, odd, raw)
        return self._new(BITCAST, "float", chosen)
