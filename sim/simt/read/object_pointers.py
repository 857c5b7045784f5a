"""Follows pointers into a kernel's own variables and tables, through unoptimised code.

Read from the text of one function into which everything was inlined.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..ir.llvm_types import (
    Array,
    Pointer,
    Scalar,
    Struct,
    Type,
    Vector,
    bits,
    field_offset,
    size_of,
)
from .llvm_instructions import read_instruction
from .llvm_records import Operand, Record
from .ranges import Range, Ranges
from .uninitialised import UNSET

_STEPS = ("getelementptr", "addrspacecast", "bitcast", "freeze", "phi", "select")
_WANTED = re.compile(
    r"^  (?:%\S+ = )?(?:alloca|getelementptr|addrspacecast|load|store|phi ptr|select|freeze ptr|"
    r"(?:tail |musttail |notail )?call|ptrtoint|insertvalue|icmp|ret ptr|insertelement)\b"
)
# Pointers to device and threadgroup memory are none to variables or tables.
_POINTER = re.compile(r"\bptr(?! addrspace\([13]\))|= alloca ")
_COPIES = ("@llvm.memcpy", "@llvm.memmove", "@llvm.memset")
_HARMLESS = (
    "@llvm.lifetime",
    "@llvm.dbg",
    "@llvm.assume",
    "@llvm.annotation",
    "@llvm.invariant",
    f"@{UNSET}",
)


@dataclass(frozen=True, slots=True)
class Thing:
    """A variable of a thread, or a table of constants: its name in the IR and its bytes."""

    name: str
    size: int


@dataclass(frozen=True, slots=True)
class Step:
    """How a pointer comes from `base`: bytes added, and indices (text, bits) times bytes."""

    base: Operand
    fixed: int
    scaled: tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True)
class Touch:
    """An access of `bytes` at `pointer`; `line` counts in the function's text."""

    line: int
    is_store: bool
    pointer: Operand
    bytes: int


class Pointers:
    """The pointers of a function's text, and what they point into."""

    def __init__(
        self, lines: list[str], tables: Mapping[str, Thing], types: dict[str, Type]
    ) -> None:
        self.things: dict[str, Thing] = dict(tables)
        self.defined: dict[str, tuple[int, Record]] = {}
        self.touches: list[Touch] = []
        self.escaped: list[Operand] = []  # stored, compared or handed on
        self.loads_pointers = self.has_variables = False
        self._roots: dict[str, frozenset[Thing | None]] = {}
        self._fixed: dict[str, int | None] = {}
        for number, line in enumerate(lines):
            if _WANTED.match(line) and _POINTER.search(line):
                self._read(number, read_instruction(line.strip(), types))

    def _read(self, number: int, record: Record) -> None:
        if record.op == "alloca":
            assert record.source is not None
            self.has_variables = True
            self.things[record.name] = Thing(record.name, size_of(record.source))
        elif record.op in _STEPS and isinstance(record.type, Pointer):
            self.defined[record.name] = (number, record)
        elif record.op == "load":
            self.loads_pointers |= isinstance(record.type, Pointer)
            self._touch(number, record, record.operands[0], record.type)
        elif record.op == "store":
            value, pointer = record.operands
            self._touch(number, record, pointer, value.type)
            self._escape([value])
        elif record.op == "call" and record.callee.startswith(_COPIES):
            self._copy(number, record)
        elif not (record.op == "call" and record.callee.startswith(_HARMLESS)):
            self._escape(record.operands)

    def _touch(self, number: int, record: Record, pointer: Operand, kind: Type) -> None:
        self.touches.append(Touch(number, record.op == "store", pointer, size_of(kind)))

    def _escape(self, operands: list[Operand]) -> None:
        self.escaped += [o for o in operands if isinstance(o.type, Pointer)]

    def _copy(self, number: int, record: Record) -> None:
        target, source, size = record.operands[:3]
        if not size.text.isdigit():
            self._escape(record.operands)
            return
        self.touches.append(Touch(number, True, target, int(size.text)))
        if isinstance(source.type, Pointer):
            self.touches.append(Touch(number, False, source, int(size.text)))

    def things_of(self, operand: Operand) -> frozenset[Thing | None]:
        """What a pointer may point into; None stands for anything else."""
        if operand.text in ("getelementptr", "addrspacecast", "bitcast") and operand.parts:
            return self.things_of(operand.parts[0])
        known = self._roots.get(operand.text)
        if known is None:
            known = self._roots[operand.text] = self._search(operand.text)
        return known

    def _search(self, name: str) -> frozenset[Thing | None]:
        found: set[Thing | None] = set()
        seen, work = {name}, [name]
        while work:
            current = work.pop()
            if current in self.things:
                found.add(self.things[current])
                continue
            if current not in self.defined:
                found.add(None)
                continue
            for source in sources(self.defined[current][1]):
                inner = innermost(source).text
                if inner not in seen:
                    seen.add(inner)
                    work.append(inner)
        return frozenset(found)

    def fixed_offset(self, operand: Operand) -> int | None:
        """Bytes from the start of a pointer's only thing, if that is a number."""
        if operand.text in ("getelementptr", "addrspacecast", "bitcast") and operand.parts:
            step = step_of(
                Record(operand.text, "", operand.type, list(operand.parts), source=operand.source)
            )
            base = self.fixed_offset(step.base)
            return None if base is None or step.scaled else base + step.fixed
        if operand.text in self.things:
            return 0
        if operand.text not in self._fixed:
            self._fixed[operand.text] = None
            self._fixed[operand.text] = self._find_fixed(operand.text)
        return self._fixed[operand.text]

    def _find_fixed(self, name: str) -> int | None:
        if name not in self.defined:
            return None
        record = self.defined[name][1]
        if record.op in ("phi", "select"):
            return None
        step = step_of(record)
        base = self.fixed_offset(step.base)
        return None if base is None or step.scaled else base + step.fixed

    def stays_inside(self, touch: Touch, ranges: Ranges) -> bool:
        """Whether an access lies in the one thing that it can mean, by what its indices can be."""
        found = self.things_of(touch.pointer)
        bounds = self._bounds(touch.pointer, touch.line, ranges)
        if len(found) != 1 or bounds is None:
            return False
        (thing,) = found
        return thing is not None and bounds[0] >= 0 and bounds[1] <= thing.size - touch.bytes

    def _bounds(self, pointer: Operand, line: int, ranges: Ranges) -> Range | None:
        """The least and the most bytes from the start of a pointer's only thing, if known."""
        least = most = 0
        while pointer.text not in self.things:
            record = self._record_of(pointer)
            if record is None or record.op in ("phi", "select"):
                return None
            step = step_of(record)
            least, most = least + step.fixed, most + step.fixed
            for index, width, stride in step.scaled:
                first, last = ranges.at(line, index, width)
                if last >> (width - 1):
                    return None  # it may be negative
                least, most = least + first * stride, most + last * stride
            pointer = step.base
        return least, most

    def _record_of(self, pointer: Operand) -> Record | None:
        """What makes a pointer of another one: an instruction, or a constant expression."""
        if pointer.parts and pointer.text in ("getelementptr", "addrspacecast", "bitcast"):
            parts = list(pointer.parts)
            return Record(pointer.text, "", pointer.type, parts, source=pointer.source)
        return self.defined[pointer.text][1] if pointer.text in self.defined else None

    def is_inside(self, touch: Touch) -> bool:
        """Whether an access is known to lie in what it can mean, or in other memory."""
        return self._lies_inside(touch.pointer, touch.bytes, frozenset())

    def _lies_inside(self, pointer: Operand, count: int, seen: frozenset[str]) -> bool:
        found = self.things_of(pointer)
        if found == {None}:
            return True
        at = self.fixed_offset(pointer)
        if len(found) == 1 and at is not None:
            (thing,) = found
            return thing is not None and 0 <= at <= thing.size - count
        record = self._record_of(pointer)
        if record is None or record.op not in ("select", "phi") or pointer.text in seen:
            return False
        further = seen | {pointer.text}
        return all(self._lies_inside(each, count, further) for each in sources(record))


def sources(record: Record) -> list[Operand]:
    """The pointers that a pointer may come from."""
    if record.op == "select":
        return record.operands[1:]
    return record.operands if record.op == "phi" else record.operands[:1]


def step_of(record: Record) -> Step:
    """What a record adds to its only pointer."""
    base = record.operands[0]
    if record.op != "getelementptr":
        return Step(base, 0, ())
    assert record.source is not None
    fixed, scaled = moved(record.source, record.operands[1:])
    return Step(base, fixed, tuple(scaled))


def moved(source: Type, indices: list[Operand]) -> tuple[int, list[tuple[str, int, int]]]:
    """The bytes that a getelementptr adds: those known, and values, their bits and strides."""
    fixed, scaled = 0, []
    for index, stride in _strides(source, indices):
        number = _number(index)
        if isinstance(stride, Struct):
            assert number is not None
            fixed += field_offset(stride, number)
        elif number is not None:
            fixed += number * stride
        else:
            assert isinstance(index.type, Scalar)
            scaled.append((index.text, bits(index.type.name), stride))
    return fixed, scaled


def _strides(source: Type, indices: list[Operand]) -> Iterator[tuple[Operand, int | Struct]]:
    """Each index with the bytes that it counts, or the structure whose field it names."""
    kind = source
    yield indices[0], size_of(kind)
    for index in indices[1:]:
        if isinstance(kind, Struct):
            yield index, kind
            kind = kind.fields[_number(index) or 0]
        else:
            assert isinstance(kind, Array | Vector)
            kind = kind.element
            yield index, size_of(kind)


def _number(operand: Operand) -> int | None:
    return int(operand.text) if re.fullmatch(r"-?\d+", operand.text) else None


def innermost(operand: Operand) -> Operand:
    """What a constant expression steps from, or the operand itself."""
    while operand.parts and operand.text in ("getelementptr", "addrspacecast", "bitcast"):
        operand = operand.parts[0]
    return operand
