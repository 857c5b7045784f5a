"""Makes visible where a kernel's variables begin without a value.

LLVM's optimiser may take any value for a variable that was never set, and removes what depends on
one. Here, every variable is set to the result of a call that the optimiser cannot see through, at
the place where its life begins; what is left of these calls afterwards is read uninitialised.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..ir.llvm_types import (
    Array,
    Pointer,
    Scalar,
    Struct,
    Type,
    Vector,
    align_of,
    field_offset,
    size_of,
)
from ..ir.operations.marks import NARROWED, PLAIN, UNINITIALISED
from .llvm_text import read_type_of_alloca, types_of

PREFIX = f"__assay_{UNINITIALISED.name}_"
_SIGNED_NAMES = {each.name: f"__assay_{mark.name}_" for mark, each in PLAIN.items()}
_MAX_SCALARS = 256  # a larger variable stays in memory, which has a shadow of its own
_ALLOCA = re.compile(r'^\s*(%[-$._A-Za-z0-9]+|%"[^"]*") = alloca (.*)$')
_BEGIN = re.compile(r"^\s*call void @llvm\.lifetime\.start\.p0\(ptr[^%]*(%[^)\s]+)\)(.*)$")
_UNIFORM = re.compile(r"^declare [^@\n]*(@__assay_uniform_i32)\([^\n]*$", re.MULTILINE)
_LANE_OF = re.compile(r"^declare [^@\n]*(@__assay_lane_of_i32)\([^\n]*$", re.MULTILINE)
_KIND = re.compile(r"^declare [^@\n]*(@__assay_access_kind)\([^\n]*$", re.MULTILINE)
_EXPECTED = re.compile(r"^declare [^@\n]*(@__assay_expect_uniform_i64)\([^\n]*$", re.MULTILINE)
_SIGNED = re.compile(
    r"^(\s*%\S+) = (add|sub|mul) (?:nuw )?nsw (i32|i64) ([^,\n]+), ([^,\n]+)((?:, ![^\n]*)?)$",
    re.MULTILINE,
)
_COMPUTED = re.compile(r"^\s*(%\S+) = (?:add|sub|mul|shl)(?: n[us]w)* i32 ")
_NARROWED = re.compile(r"^\s*(%\S+) = trunc i32 ([^,\s]+) to i16((?:, ![^\n]*)?)$")
_DEBUG = re.compile(r"!dbg (![0-9]+)")


def forget_uniform(text: str) -> str:
    """The unoptimised module `text`, in which marks of arguments mean nothing."""
    text = _LANE_OF.sub(r"define internal i32 \1(i32 %0, i32 %1) { ret i32 %0 }", text)
    text = _UNIFORM.sub(r"define internal i32 \1(i32 %0) { ret i32 %0 }", text)
    return _EXPECTED.sub(r"define internal void \1(i64 %0) { ret void }", text)


def forget_kinds(text: str) -> str:
    """The unoptimised module `text`, in which all accesses are plain ones."""
    return _KIND.sub(r"define internal void \1(i32 %0) { ret void }", text)


def mark_signed(text: str) -> str:
    """The unoptimised module `text`, in which signed arithmetic stays what the source says.

    The optimiser forgets which sums must not overflow. Calls that it does not know remind of them.
    """
    used: set[tuple[str, str]] = set()

    def call(match: re.Match[str]) -> str:
        name, op, kind, left, right, rest = match.groups()
        used.add((op, kind))
        mark = _SIGNED_NAMES[op]
        return f"{name} = call {kind} @{mark}{kind}({kind} {left}, {kind} {right}){rest}"

    text = _SIGNED.sub(call, text)
    attributes = "nounwind willreturn memory(none)"
    declared = [
        f"declare {kind} @{_SIGNED_NAMES[op]}{kind}({kind}, {kind}) {attributes}"
        for op, kind in sorted(used)
    ]
    return "\n".join([text, *declared])


def mark_narrowed(text: str) -> str:
    """The unoptimised module `text`, in which sums and products that become 16 bits are marked."""
    lines: list[str] = []
    computed: set[str] = set()
    for line in text.splitlines():
        if line.startswith("define"):
            computed = set()
        elif match := _COMPUTED.match(line):
            computed.add(match[1])
        elif (match := _NARROWED.match(line)) and match[2] in computed:
            name, source, rest = match.groups()
            mark = f"@__assay_{NARROWED.name}_i32"
            marked = f"%narrowed.{name[1:]}"
            lines.append(f"  {marked} = call i32 {mark}(i32 {source}){rest}")
            line = f"  {name} = trunc i32 {marked} to i16{rest}"
        lines.append(line)
    lines.append(f"declare i32 @__assay_{NARROWED.name}_i32(i32) nounwind willreturn memory(none)")
    return "\n".join(lines)


def mark_uninitialised(text: str) -> str:
    """The unoptimised module `text`, with calls as values of variables that have none yet."""
    types = types_of(text)
    variables: dict[str, Type] = {}
    lines: list[str] = []
    used: set[str] = set()
    number = 0
    for line in text.splitlines():
        lines.append(line)
        if line.startswith("define"):
            variables = {}
        elif match := _ALLOCA.match(line):
            variables[match[1]] = read_type_of_alloca(match[2], types)
        elif (match := _BEGIN.match(line)) and match[1] in variables:
            places = list(_scalars(variables[match[1]], 0))
            debug = _DEBUG.search(match[2])
            location = f", !dbg {debug[1]}" if debug else ""
            for offset, kind in places if len(places) <= _MAX_SCALARS else ():
                number += 1
                used.add(kind)
                name = f"%assay.u{number}"
                lines += [
                    f"  {name} = call {kind} @{PREFIX}{kind}(i32 {number}){location}",
                    f"  {name}.p = getelementptr i8, ptr {match[1]}, i64 {offset}{location}",
                    f"  store {kind} {name}, ptr {name}.p, align 1{location}",
                ]
    # The argument keeps two variables from becoming one.
    lines += [
        f"declare {kind} @{PREFIX}{kind}(i32) nounwind willreturn memory(none)"
        for kind in sorted(used)
    ]
    return "\n".join(lines)


def _scalars(kind: Type, start: int) -> Iterator[tuple[int, str]]:
    """(byte offset, type) of the scalars in an object; pointers are left out."""
    match kind:
        case Scalar(name):
            yield start, name
        case Vector(count, element) | Array(count, element):
            step = size_of(element)
            for index in range(count):
                yield from _scalars(element, start + index * step)
        case Struct(fields):
            for index, field in enumerate(fields):
                if index < len(fields) - 1 or not _is_padding(kind):
                    yield from _scalars(field, start + field_offset(kind, index))
        case Pointer():
            return


def _is_padding(kind: Struct) -> bool:
    """Whether the last field may be what clang adds to fill up a class with constructors.

    Its bytes are never set, and travel in one integer with those of fields that are.
    """
    *fields, last = kind.fields
    align = max((align_of(field) for field in fields), default=1)
    return (
        isinstance(last, Array)
        and last.element == Scalar("i8")
        and last.count < align
        and size_of(kind) % align == 0
    )
