"""Calls in kernels: LLVM's intrinsics, and the machine operations that the MSL headers declare."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .beyond import MAY_END
from .beyond import PREFIX as BEYOND_PREFIX
from .defined import HIDE
from .ir import Constant, Instruction, Value, integer
from .llvm_records import Record
from .llvm_types import Scalar, bits, leaves

if TYPE_CHECKING:
    from .lower_base import Lowered
    from .lower_values import ValueLowering as Lowering

MACHINE_PREFIX = "@__assay_"

_IGNORED = (
    *("llvm.dbg", "llvm.lifetime", "llvm.assume", "llvm.experimental.noalias", "llvm.prefetch"),
    *("llvm.donothing", "llvm.invariant", "llvm.sideeffect", "llvm.annotation"),
)
_ELEMENTWISE = {
    *("llvm.fma", "llvm.sqrt", "llvm.fabs", "llvm.floor", "llvm.ceil", "llvm.trunc", "llvm.rint"),
    *("llvm.nearbyint", "llvm.round", "llvm.roundeven", "llvm.copysign", "llvm.minnum"),
    *("llvm.maxnum", "llvm.minimum", "llvm.maximum", "llvm.minimumnum", "llvm.maximumnum"),
    *("llvm.ctpop", "llvm.bitreverse", "llvm.bswap", "llvm.smin", "llvm.smax", "llvm.umin"),
    *("llvm.umax", "llvm.sadd.sat", "llvm.uadd.sat", "llvm.ssub.sat", "llvm.usub.sat"),
    *("llvm.fshl", "llvm.fshr", "llvm.scmp", "llvm.ucmp"),
    "llvm.canonicalize",
}
_CONVERSIONS = {"llvm.fptosi.sat": "fptosi", "llvm.fptoui.sat": "fptoui"}  # as all others here
_WITH_FLAG = {"llvm.ctlz", "llvm.cttz", "llvm.abs"}  # last operand: a promise that is not needed
_OVERFLOW = re.compile(r"llvm\.([su])(add|sub|mul)\.with\.overflow")
_REDUCTIONS = {
    "llvm.vector.reduce.add": "add",
    "llvm.vector.reduce.mul": "mul",
    "llvm.vector.reduce.and": "and",
    "llvm.vector.reduce.or": "or",
    "llvm.vector.reduce.xor": "xor",
    "llvm.vector.reduce.smin": "llvm.smin",
    "llvm.vector.reduce.smax": "llvm.smax",
    "llvm.vector.reduce.umin": "llvm.umin",
    "llvm.vector.reduce.umax": "llvm.umax",
    "llvm.vector.reduce.fmin": "llvm.minnum",
    "llvm.vector.reduce.fmax": "llvm.maxnum",
}


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
        raise lowering.fail(
            f"calls '{callee.lstrip('@')}', which is not defined in the source: functions that "
            "are only declared, recursion and function pointers are not supported"
        )


def _base_name(callee: str) -> str:
    """`llvm.fma.v4f32` -> `llvm.fma`."""
    parts = callee.split(".")
    while len(parts) > 2 and re.fullmatch(r"(v\d+)?(i\d+|f\d+|bf16|p\d+)", parts[-1]):
        parts.pop()
    return ".".join(parts)


def _machine(lowering: Lowering, record: Record, name: str) -> None:
    operands: list[Value] = []
    kinds = leaves(record.type)
    kind = kinds[0].name if kinds and isinstance(kinds[0], Scalar) else "void"
    instruction = Instruction("intrinsic", kind, operands, lowering.site)
    instruction.callee = name
    arguments = record.operands
    if name.startswith("atomic_"):
        address = lowering.pointer(arguments[0])
        instruction.root = address.root
        instruction.element = name.rsplit("_", 1)[1].replace("u", "i").replace("f32", "float")
        operands.append(address.offset)
        arguments = arguments[1:]
    for argument in arguments:
        operands.extend(lowering.scalars(argument))
    instruction.block = lowering.block
    lowering.block.body.append(instruction)
    if record.name:
        lowering.values[record.name] = [instruction]


def _beyond(lowering: Lowering, record: Record) -> None:
    """An access that the optimiser removed, if it is one outside of what it means.

    Others are still there, or no more needed; some have their place compared with their room here.
    """
    room, at = lowering.scalar(record.operands[0]), lowering.scalar(record.operands[2])
    told = record.operands[1].text.removeprefix("@" + BEYOND_PREFIX)
    deed, count, size, thing = told.split(".", 3)
    if isinstance(at, Constant) and isinstance(room, Constant):
        if (at.number or 0) >= (room.number or 0):
            lowering.outside(deed, thing, at, int(count), int(size))
        return
    is_outside = lowering.emit("icmp", "i1", at, room)
    is_outside.predicate = "uge"
    at = lowering.emit("select", "i64", is_outside, at, integer("i64", 0))
    lowering.outside(deed, thing, at, int(count), int(size))


def _llvm(lowering: Lowering, record: Record, name: str) -> None:
    if name == "llvm.annotation" and record.operands[1].text.startswith("@" + BEYOND_PREFIX):
        _beyond(lowering, record)
        return
    if name.startswith(_IGNORED):
        return
    if name == "llvm.fmuladd":
        name = "llvm.fma"
    if name in _ELEMENTWISE:
        _elementwise(lowering, record, name, len(record.operands))
    elif name == HIDE:
        lowering.values[record.name] = lowering.operand(record.operands[0])
    elif name in _CONVERSIONS:
        _elementwise(lowering, record, _CONVERSIONS[name], 1)
    elif name in _WITH_FLAG:
        _elementwise(lowering, record, name, len(record.operands) - 1)
    elif match := _OVERFLOW.fullmatch(name):
        _with_overflow(lowering, record, match[1] == "s", match[2])
    elif name in _REDUCTIONS:
        _reduce(lowering, record, _REDUCTIONS[name], None)
    elif name in ("llvm.vector.reduce.fadd", "llvm.vector.reduce.fmul"):
        start = lowering.scalar(record.operands[0])
        _reduce(lowering, record, name.rsplit(".", 1)[1], start)
    elif name in ("llvm.memcpy", "llvm.memmove", "llvm.memset"):
        _memory(lowering, record, name)
    elif name == "llvm.is.fpclass":
        _elementwise(lowering, record, name, 2)
    elif name == "llvm.trap":
        return
    else:
        raise lowering.fail(f"the compiler emitted '{name}', which is not supported")


def _call(lowering: Lowering, name: str, type: str, operands: list[Value]) -> Instruction:
    if not name.startswith("llvm."):
        return lowering.emit(name, type, *operands)
    call = lowering.emit("call", type, *operands)
    call.callee = name
    return call


def _elementwise(lowering: Lowering, record: Record, name: str, count: int) -> None:
    columns = [lowering.scalars(operand) for operand in record.operands[:count]]
    kinds = leaves(record.type)
    columns = [column * (len(kinds) // len(column)) for column in columns]
    results: list[Lowered] = []
    for kind, *operands in zip(kinds, *columns, strict=True):
        assert isinstance(kind, Scalar)
        results.append(_call(lowering, name, kind.name, operands))
    lowering.values[record.name] = results


def _with_overflow(lowering: Lowering, record: Record, signed: bool, op: str) -> None:
    left, right = (lowering.scalar(operand) for operand in record.operands)
    width = bits(left.type)
    wide = f"i{2 * width}"
    exact = lowering.emit(
        op,
        wide,
        lowering.convert_integer(left, wide, signed=signed),
        lowering.convert_integer(right, wide, signed=signed),
    )
    result = lowering.convert_integer(exact, left.type, signed=False)
    back = lowering.convert_integer(result, wide, signed=signed)
    overflow = lowering.emit("icmp", "i1", back, exact)
    overflow.predicate = "ne"
    lowering.values[record.name] = [result, overflow]


def _reduce(lowering: Lowering, record: Record, op: str, start: Value | None) -> None:
    values = lowering.scalars(record.operands[-1])
    if start is None:
        start, values = values[0], values[1:]
    for value in values:
        start = _call(lowering, op, value.type, [start, value])
    lowering.values[record.name] = [start]


def _memory(lowering: Lowering, record: Record, name: str) -> None:
    size = lowering.scalar(record.operands[2])
    if not isinstance(size, Constant) or size.number is None:
        raise lowering.fail("copies a number of bytes that is only known at run time")
    target = lowering.pointer(record.operands[0])
    if name == "llvm.memset":
        value = lowering.scalar(record.operands[1])
        lowering.fill(target, value, size.number, record.align)
    else:
        source = lowering.pointer(record.operands[1])
        lowering.copy(target, source, size.number, record.aligns)
