"""Calls in kernels: LLVM's intrinsics, and the machine operations that the MSL headers declare."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..ir.faults import UndefinedFunction
from ..ir.llvm_types import Pointer, Scalar, bits, leaves
from ..ir.nodes import PRIVATE_ROOTS, Constant, ConstantRoot, Instruction, Value, integer
from ..ir.operations.control import SELECT
from ..ir.operations.conversions import FPTOSI, FPTOUI
from ..ir.operations.floats import FADD, FMA, FMUL, MAXNUM, MINNUM
from ..ir.operations.integers import (
    ABS,
    ADD,
    AND,
    CTLZ,
    CTTZ,
    ICMP,
    MUL,
    OR,
    SMAX,
    SMIN,
    SUB,
    UMAX,
    UMIN,
    XOR,
)
from ..ir.operations.operation import Operation, Origin
from ..ir.operations.table import INTRINSICS, MACHINE, Spelled, find_machine
from .beyond.annotations import MAY_END
from .beyond.annotations import PREFIX as BEYOND_PREFIX
from .divisions import HIDING
from .llvm_records import Record
from .sites import plain_name

if TYPE_CHECKING:
    from .lower_base import Lowered
    from .lower_values import ValueLowering as Lowering

MACHINE_PREFIX = "@__assay_"

_IGNORED = (
    "llvm.dbg",
    "llvm.lifetime",
    "llvm.assume",
    "llvm.experimental.noalias",
    "llvm.prefetch",
    "llvm.donothing",
    "llvm.invariant",
    "llvm.sideeffect",
    "llvm.annotation",
    "llvm.trap",
)
# Whose last operand is a promise that is not needed.
_WITH_FLAG = frozenset({CTLZ, CTTZ, ABS})
_OVERFLOW = re.compile(r"llvm\.([su])(add|sub|mul)\.with\.overflow")
_OVERFLOWING = {"add": ADD, "sub": SUB, "mul": MUL}
_REDUCTIONS = {
    "llvm.vector.reduce.add": ADD,
    "llvm.vector.reduce.mul": MUL,
    "llvm.vector.reduce.and": AND,
    "llvm.vector.reduce.or": OR,
    "llvm.vector.reduce.xor": XOR,
    "llvm.vector.reduce.smin": SMIN,
    "llvm.vector.reduce.smax": SMAX,
    "llvm.vector.reduce.umin": UMIN,
    "llvm.vector.reduce.umax": UMAX,
    "llvm.vector.reduce.fmin": MINNUM,
    "llvm.vector.reduce.fmax": MAXNUM,
}
_REDUCTIONS_FROM = {"llvm.vector.reduce.fadd": FADD, "llvm.vector.reduce.fmul": FMUL}
_COPIES = frozenset({"llvm.memcpy", "llvm.memmove"})
_FILL = "llvm.memset"
# Conversions of numbers that do not fit give the nearest that does, whoever wrote them.
_ALIASES = {"llvm.fmuladd": FMA, "llvm.fptosi.sat": FPTOSI, "llvm.fptoui.sat": FPTOUI}


def lower_call(lowering: Lowering, record: Record) -> None:
    """Lower one call.

    Raises:
        UnsupportedKernel: if nothing here knows the callee.
    """
    callee = record.callee
    if callee == "@" + MAY_END:
        return
    if callee.startswith(MACHINE_PREFIX):
        _machine(lowering, record, callee.removeprefix(MACHINE_PREFIX))
    elif callee.startswith("@llvm."):
        _llvm(lowering, record, _base_name(callee[1:]))
    else:
        name = plain_name(callee.lstrip("@"))
        raise lowering.fail(
            f"calls '{name}', which is not defined in the source: functions that are only "
            "declared, recursion and function pointers are not supported",
            UndefinedFunction,
        )


def _base_name(callee: str) -> str:
    """`llvm.fma.v4f32` -> `llvm.fma`."""
    parts = callee.split(".")
    while len(parts) > 2 and re.fullmatch(r"(v\d+)?(i\d+|f\d+|bf16|p\d+)", parts[-1]):
        parts.pop()
    return ".".join(parts)


def _machine(lowering: Lowering, record: Record, name: str) -> None:
    spelled = _spelled(lowering, name)
    kinds = leaves(record.type)
    kind = kinds[0].name if kinds and isinstance(kinds[0], Scalar) else "void"
    operands: list[Value] = []
    instruction = Instruction(spelled.operation, kind, operands, lowering.site, spelled.number)
    instruction.precise = spelled.precise
    arguments = record.operands
    if spelled.operation.accesses_memory:
        _access(lowering, record, instruction)
        arguments = arguments[1:]
    for argument in arguments:
        operands.extend(lowering.scalars(argument))
    _check(lowering, name, instruction)
    instruction.block = lowering.block
    lowering.block.body.append(instruction)
    if record.name:
        lowering.values[record.name] = [instruction]


def _spelled(lowering: Lowering, name: str) -> Spelled:
    spelled = find_machine(name)
    if spelled is not None:
        return spelled
    known = [each for each in MACHINE if each.rpartition("_")[0] == name.rpartition("_")[0]]
    known = [each for each in known if MACHINE[each].operation.origin is Origin.MACHINE]
    like = f"; there are {', '.join(known)}" if known else ""
    raise lowering.fail(
        f"calls '{MACHINE_PREFIX[1:]}{name}', which the machine has no operation for{like}"
    )


def _access(lowering: Lowering, record: Record, instruction: Instruction) -> None:
    """The place that a machine operation accesses: its first argument, a pointer."""
    if not record.operands or not isinstance(record.operands[0].type, Pointer):
        raise lowering.fail(f"calls '{record.callee[1:]}' without a pointer to what it accesses")
    assert instruction.number is not None
    address = lowering.pointer(record.operands[0])
    if isinstance(address.root, (*PRIVATE_ROOTS, ConstantRoot)):
        raise lowering.fail("atomic operations need device or threadgroup memory")
    instruction.root = address.root
    instruction.element = instruction.number.type
    instruction.operands.append(address.offset)


def _check(lowering: Lowering, name: str, instruction: Instruction) -> None:
    problem = instruction.operation.signature.problem(
        [(operand.type, isinstance(operand, Constant)) for operand in instruction.operands],
        instruction.type,
        instruction.number.type if instruction.number is not None else None,
    )
    if problem:
        raise lowering.fail(f"calls '{MACHINE_PREFIX[1:]}{name}' wrongly: it {problem}")


def _beyond(lowering: Lowering, record: Record) -> None:
    """An access that the optimiser removed, if it is one outside of what it means.

    Others are still there, or no more needed; some have their place compared with their room here.
    """
    room, at = lowering.scalar(record.operands[0]), lowering.scalar(record.operands[2])
    told = record.operands[1].text.removeprefix("@" + BEYOND_PREFIX)
    access, count, size, thing = told.split(".", 3)
    if isinstance(at, Constant) and isinstance(room, Constant):
        if (at.number or 0) >= (room.number or 0):
            lowering.outside(access, thing, at, int(count), int(size))
        return
    is_outside = lowering.emit(ICMP, "i1", at, room)
    is_outside.predicate = "uge"
    at = lowering.emit(SELECT, "i64", is_outside, at, integer("i64", 0))
    lowering.outside(access, thing, at, int(count), int(size))


def _llvm(lowering: Lowering, record: Record, name: str) -> None:
    if name == "llvm.annotation" and record.operands[1].text.startswith("@" + BEYOND_PREFIX):
        _beyond(lowering, record)
        return
    if name.startswith(_IGNORED):
        return
    if name in HIDING:
        lowering.values[record.name] = lowering.operand(record.operands[0])
        return
    operation = _ALIASES.get(name) or INTRINSICS.get(name)
    if operation is not None:
        # Of a class of numbers, the second operand is a literal.
        count = len(record.operands) - (operation in _WITH_FLAG)
        _elementwise(lowering, record, operation, count)
    elif match := _OVERFLOW.fullmatch(name):
        _with_overflow(lowering, record, match[1] == "s", _OVERFLOWING[match[2]])
    elif name in _REDUCTIONS:
        _reduce(lowering, record, _REDUCTIONS[name], None)
    elif name in _REDUCTIONS_FROM:
        start = lowering.scalar(record.operands[0])
        _reduce(lowering, record, _REDUCTIONS_FROM[name], start)
    elif name in _COPIES or name == _FILL:
        _memory(lowering, record, name)
    else:
        raise lowering.fail(f"the compiler emitted '{name}', which is not supported")


def _elementwise(lowering: Lowering, record: Record, operation: Operation, count: int) -> None:
    columns = [lowering.scalars(operand) for operand in record.operands[:count]]
    kinds = leaves(record.type)
    columns = [column * (len(kinds) // len(column)) for column in columns]
    results: list[Lowered] = []
    for kind, *operands in zip(kinds, *columns, strict=True):
        assert isinstance(kind, Scalar)
        results.append(lowering.emit(operation, kind.name, *operands))
    lowering.values[record.name] = results


def _with_overflow(lowering: Lowering, record: Record, signed: bool, operation: Operation) -> None:
    left, right = (lowering.scalar(operand) for operand in record.operands)
    width = bits(left.type)
    wide = f"i{2 * width}"
    exact = lowering.emit(
        operation,
        wide,
        lowering.convert_integer(left, wide, signed=signed),
        lowering.convert_integer(right, wide, signed=signed),
    )
    result = lowering.convert_integer(exact, left.type, signed=False)
    back = lowering.convert_integer(result, wide, signed=signed)
    overflow = lowering.emit(ICMP, "i1", back, exact)
    overflow.predicate = "ne"
    lowering.values[record.name] = [result, overflow]


def _reduce(lowering: Lowering, record: Record, operation: Operation, start: Value | None) -> None:
    values = lowering.scalars(record.operands[-1])
    if start is None:
        start, values = values[0], values[1:]
    for value in values:
        start = lowering.emit(operation, value.type, start, value)
    lowering.values[record.name] = [start]


def _memory(lowering: Lowering, record: Record, name: str) -> None:
    size = lowering.scalar(record.operands[2])
    if not isinstance(size, Constant) or size.number is None:
        raise lowering.fail("copies a number of bytes that is only known at run time")
    target = lowering.pointer(record.operands[0])
    if name == _FILL:
        value = lowering.scalar(record.operands[1])
        lowering.fill(target, value, size.number, record.align)
    else:
        source = lowering.pointer(record.operands[1])
        lowering.copy(target, source, size.number, record.aligns)
