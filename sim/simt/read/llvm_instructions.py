"""Reads one instruction of LLVM's textual IR into a record."""

from __future__ import annotations

import re

from ..ir.llvm_types import Opaque, Pointer, Scalar, Struct, Type, Vector
from .llvm_records import IRSyntaxError, Record
from .llvm_tokens import Line

_BINARY = {
    "add",
    "sub",
    "mul",
    "udiv",
    "sdiv",
    "urem",
    "srem",
    "shl",
    "lshr",
    "ashr",
    "and",
    "or",
    "xor",
    "fadd",
    "fsub",
    "fmul",
    "fdiv",
    "frem",
}
_CASTS = {
    "trunc",
    "zext",
    "sext",
    "fptrunc",
    "fpext",
    "fptoui",
    "fptosi",
    "uitofp",
    "sitofp",
    "bitcast",
    "ptrtoint",
    "inttoptr",
    "addrspacecast",
    "ptrtoaddr",
}

_DBG = re.compile(r", !dbg (![0-9]+)")
_TRAILING_METADATA = re.compile(r"(?:, ![a-zA-Z_.]+ ![0-9]+)+\s*(?:#\d+)?\s*$")


def read_instruction(text: str, types: dict[str, Type]) -> Record:
    """The record of an instruction's text. Raises IRSyntaxError."""
    location = ""
    if ", !" in text:
        match = _DBG.search(text)
        location = match[1] if match else ""
        text = _TRAILING_METADATA.sub("", text)
    line = Line(text, types)
    name = ""
    if line.peek()[:1] == "%":
        name = line.next()
        line.expect("=")
    op = line.next()
    while op in ("tail", "musttail", "notail"):
        op = line.next()
    reader = _READERS.get(op)
    if reader is None:
        raise IRSyntaxError(f"instruction '{op}' is not known here: {text}")
    record = reader(line, op)
    record.name, record.location = name, location
    return record


def _binary(line: Line, op: str) -> Record:
    flags = line.flags()
    left = line.typed()
    line.expect(",")
    return Record(op, "", left.type, [left, line.value(left.type)], flags)


def _unary(line: Line, op: str) -> Record:
    flags = line.flags()
    operand = line.typed()
    return Record(op, "", operand.type, [operand], flags)


def _compare(line: Line, op: str) -> Record:
    flags = line.flags()
    predicate = line.next()
    left = line.typed()
    line.expect(",")
    right = line.value(left.type)
    kind: Type = Scalar("i1")
    if isinstance(left.type, Vector):
        kind = Vector(left.type.count, kind)
    return Record(op, "", kind, [left, right], flags, predicate)


def _select(line: Line, op: str) -> Record:
    flags = line.flags()
    condition = line.typed()
    line.expect(",")
    first = line.typed()
    line.expect(",")
    return Record(op, "", first.type, [condition, first, line.typed()], flags)


def _cast(line: Line, op: str) -> Record:
    flags = line.flags()
    operand = line.typed()
    line.expect("to")
    return Record(op, "", line.type(), [operand], flags)


def _getelementptr(line: Line, op: str) -> Record:
    flags = line.flags()
    source = line.type()
    operands = []
    while line.accept(","):
        operands.append(line.typed())
    kind: Type = operands[0].type
    vectors = [o.type for o in operands if isinstance(o.type, Vector)]
    if vectors and not isinstance(kind, Vector):
        kind = Vector(vectors[0].count, kind)
    return Record(op, "", kind, operands, flags, source=source)


def _alignment(line: Line) -> int:
    while line.accept(","):
        if line.accept("align"):
            return int(line.next())
        line.next()
    return 0


def _load(line: Line, op: str) -> Record:
    atomic = _is_atomic(line)
    kind = line.type()
    return _access(line, Record(op, "", kind, []), atomic)


def _store(line: Line, op: str) -> Record:
    atomic = _is_atomic(line)
    value = line.typed()
    return _access(line, Record(op, "", Opaque("void"), [value]), atomic)


def _is_atomic(line: Line) -> bool:
    atomic = line.accept("atomic")
    line.accept("volatile")
    return atomic


def _access(line: Line, record: Record, atomic: bool) -> Record:
    """A load or store with what both have at their end: pointer, memory order, alignment."""
    line.expect(",")
    record.operands.append(line.typed())
    record.flags = frozenset({"atomic"}) if atomic else frozenset()
    while line.peek() not in (",", ""):
        line.next()
    record.align = _alignment(line)
    return record


def _alloca(line: Line, op: str) -> Record:
    kind = line.type()
    return Record(op, "", Pointer(0), [], source=kind, align=_alignment(line))


def _phi(line: Line, op: str) -> Record:
    line.flags()
    kind = line.type()
    record = Record(op, "", kind, [])
    while line.accept("["):
        record.operands.append(line.value(kind))
        line.expect(",")
        record.labels.append(line.next())
        line.expect("]")
        line.accept(",")
    return record


def _branch(line: Line, op: str) -> Record:
    record = Record(op, "", Opaque("void"), [])
    if not line.accept("label"):
        record.operands.append(line.typed())
        line.expect(",")
        line.expect("label")
    record.labels.append(line.next())
    if line.accept(","):
        line.expect("label")
        record.labels.append(line.next())
    return record


def _switch(line: Line, op: str) -> Record:
    record = Record(op, "", Opaque("void"), [line.typed()])
    line.expect(",")
    line.expect("label")
    record.labels.append(line.next())
    line.expect("[")
    while not line.accept("]"):
        case = line.typed()
        line.expect(",")
        line.expect("label")
        record.operands.append(case)
        record.labels.append(line.next())
    return record


def _return(line: Line, op: str) -> Record:
    operands = [] if line.accept("void") else [line.typed()]
    return Record(op, "", Opaque("void"), operands)


def _bare(line: Line, op: str) -> Record:
    return Record(op, "", Opaque("void"), [])


def _call(line: Line, op: str) -> Record:
    flags = line.flags()
    while line.peek() in ("fastcc", "spir_func", "ccc", "spir_kernel"):
        line.next()
    line.attributes()
    kind = line.type()
    if line.peek() == "(":  # the callee's type is written out when it is variadic
        line.skip_parenthesised()
    callee = line.next()
    line.expect("(")
    record = Record(op, "", kind, [], flags, callee=callee)
    if callee.startswith(
        ("@llvm.dbg", "@llvm.lifetime", "@llvm.assume", "@llvm.experimental.noalias")
    ):
        return record
    aligns = []
    while not line.accept(")"):
        kind = line.type()
        aligns.append(line.attributes() or 1)
        record.operands.append(line.value(kind))
        line.accept(",")
    if callee.startswith(("@llvm.memcpy", "@llvm.memmove")):
        record.aligns = tuple(aligns[:2])
    elif callee.startswith("@llvm.memset"):
        record.align = aligns[0]
    return record


def _extractvalue(line: Line, op: str) -> Record:
    operands = [line.typed()]
    if op == "insertvalue":
        line.expect(",")
        operands.append(line.typed())
    indices = []
    while line.accept(","):
        indices.append(int(line.next()))
    return Record(op, "", operands[0].type, operands, indices=indices)


def _elements(line: Line, op: str) -> Record:
    operands = [line.typed()]
    while line.accept(","):
        operands.append(line.typed())
    kind = operands[0].type
    if op == "extractelement" and isinstance(kind, Vector):
        kind = kind.element
    if op == "shufflevector" and isinstance(kind, Vector):
        mask = operands[2].type
        assert isinstance(mask, Vector)
        kind = Vector(mask.count, kind.element)
    return Record(op, "", kind, operands)


def _atomicrmw(line: Line, op: str) -> Record:
    line.accept("volatile")
    operation = line.next()
    pointer = line.typed()
    line.expect(",")
    value = line.typed()
    return Record(op, "", value.type, [pointer, value], predicate=operation)


def _cmpxchg(line: Line, op: str) -> Record:
    line.accept("weak")
    line.accept("volatile")
    pointer = line.typed()
    line.expect(",")
    expected = line.typed()
    line.expect(",")
    desired = line.typed()
    return Record(op, "", Struct((expected.type, Scalar("i1"))), [pointer, expected, desired])


_READERS = {
    **dict.fromkeys(_BINARY, _binary),
    **dict.fromkeys(_CASTS, _cast),
    "fneg": _unary,
    "freeze": _unary,
    "icmp": _compare,
    "fcmp": _compare,
    "select": _select,
    "getelementptr": _getelementptr,
    "load": _load,
    "store": _store,
    "alloca": _alloca,
    "phi": _phi,
    "br": _branch,
    "switch": _switch,
    "ret": _return,
    "unreachable": _bare,
    "fence": _bare,
    "call": _call,
    "extractvalue": _extractvalue,
    "insertvalue": _extractvalue,
    "extractelement": _elements,
    "insertelement": _elements,
    "shufflevector": _elements,
    "atomicrmw": _atomicrmw,
    "cmpxchg": _cmpxchg,
}
