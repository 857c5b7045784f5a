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
from ..ir.nodes import integer
from ..ir.operations.marks import BEGINNING_SHIFT, NARROWED, PLAIN, UNINITIALISED
from .llvm_text import read_type_of_alloca, types_of

PREFIX = f"__assay_{UNINITIALISED.name}_"
_SIGNED_NAMES = {each.name: f"__assay_{mark.name}_" for mark, each in PLAIN.items()}
_ADDRESS = "i64"  # what a pointer that was not set leads to
_MAX_SCALARS = 256
UNSET = "__assay_unset"
"""The optimiser takes this function to set a larger variable, which so stays in memory, of which
there is a shadow."""
_UNSET = re.compile(rf"^ *(?:tail )?call void @{UNSET}\([^\n]*\n", re.MULTILINE)
_ALLOCA = re.compile(r'^\s*(%[-$._A-Za-z0-9]+|%"[^"]*") = alloca (.*)$')
_BEGIN = re.compile(r"^\s*call void @llvm\.lifetime\.start\.p0\(ptr[^%]*(%[^)\s]+)\)(.*)$")
_UNIFORM = re.compile(r"^declare [^@\n]*(@__assay_uniform_i32)\([^\n]*$", re.MULTILINE)
_LANE_OF = re.compile(r"^declare [^@\n]*(@__assay_lane_of_i32)\([^\n]*$", re.MULTILINE)
_KIND = re.compile(r"^declare [^@\n]*(@__assay_access_kind)\([^\n]*$", re.MULTILINE)
_EXPECTED = re.compile(r"^declare [^@\n]*(@__assay_expect_uniform_i64)\([^\n]*$", re.MULTILINE)
_SIMDGROUPS = re.compile(r"^declare [^@\n]*(@__assay_expect_simdgroups)\([^\n]*$", re.MULTILINE)
_INSIDE = re.compile(r"^declare [^@\n]*(@__assay_expect_inside)\([^\n]*$", re.MULTILINE)
_SIGNED = re.compile(
    r"^(\s*%\S+) = (add|sub|mul) (?:nuw )?nsw (i32|i64) ([^,\n]+), ([^,\n]+)((?:, ![^\n]*)?)$",
    re.MULTILINE,
)
_NARROWED = re.compile(
    r"^(\s*)%(\S+) = trunc i32 ([^,\s]+) to i(16|8)((?:, ![^\n]*)?)$", re.MULTILINE
)
# Functions in the namespace `metal`, and what such a one returns in its caller's variable.
_IN_LIBRARY = re.compile(r"^define [^@\n]*@_ZN[A-Z]*5metal")
_MADE_BY_LIBRARY = re.compile(
    r"^\s*call [^@\n]*@_ZN[A-Z]*5metal\w*\(ptr [^()\n]*\bsret\([^)]*\) [^%\n]*"
    r'(%[-$._A-Za-z0-9]+|%"[^"]*")'
)
_OF_LIBRARY = "metal::"
"""Part of the names of types whose functions set all that they return, such as matrices."""
# Three lanes that become four, and a lane of a vector at a known place.
_WIDENED = re.compile(
    r"^\s*(?P<name>%\S+) = shufflevector <3 x (?P<kind>\w+)> [^,]+, <3 x \w+> (?:undef|poison), "
    r"<4 x i32> <i32 0, i32 1, i32 2, i32 (?:3|undef|poison)>"
)
_BEYOND = re.compile(
    r"^\s*(?P<name>%\S+) = extractelement <(?P<count>\d+) x (?P<kind>\w+)> [^,]+, "
    r"i\d+ (?P<lane>\d+)"
)
_DEBUG = re.compile(r"!dbg (![0-9]+)")


def forget_uniform(text: str) -> str:
    """The unoptimised module `text`, in which marks of arguments mean nothing."""
    text = _LANE_OF.sub(r"define internal i32 \1(i32 %0, i32 %1) { ret i32 %0 }", text)
    text = _SIMDGROUPS.sub(r"define internal void \1(i32 %0) { ret void }", text)
    text = _INSIDE.sub(r"define internal void \1(i32 %0, i32 %1) { ret void }", text)
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
    """The unoptimised module `text`, in which numbers that become 16 or 8 bits are marked."""
    mark = f"@__assay_{NARROWED.name}_i32"
    text = _NARROWED.sub(
        rf"\1%narrowed.\2 = call i32 {mark}(i32 \3, i32 \4)\5\n"
        r"\1%\2 = trunc i32 %narrowed.\2 to i\4\5",
        text,
    )
    return f"{text}\ndeclare i32 {mark}(i32, i32) nounwind willreturn memory(none)"


def mark_uninitialised(text: str, *, padding: bool = False) -> str:
    """The unoptimised module `text`, with calls as values of variables that have none yet.

    With `padding` also of bytes that may be a class's padding, or a last field of the user's, of
    those between fields, and of lanes behind a vector's last.
    """
    marks = _Beginnings(types_of(text), padding=padding)
    lines: list[str] = []
    body: list[str] = []
    for line in text.splitlines():
        body.append(line)
        if line == "}":
            lines += marks.marked(body)
            body = []
    lines += body
    lines += [
        f"declare {kind} @{PREFIX}{kind}(i32) nounwind willreturn memory(none)"
        for kind in sorted(marks.used)
    ]
    lines.append(f"declare void @{UNSET}(ptr nocapture) nounwind willreturn memory(argmem: write)")
    return "\n".join(lines)


def without_unset(text: str) -> str:
    """The module `text`, optimised, without calls that are said to set a variable."""
    return _UNSET.sub("", text)


class _Beginnings:
    """Puts marks where variables begin, function by function."""

    def __init__(self, types: dict[str, Type], *, padding: bool) -> None:
        self.used: set[str] = set()
        self._padding = padding
        self._types = types
        self._number = 0

    def marked(self, body: list[str]) -> list[str]:
        """The lines of a function, and of what stands before it."""
        variables: dict[str, Type] = {}
        last, begun, made, of_library = 0, set[str](), set[str](), set[str]()
        is_library = any(_IN_LIBRARY.match(line) for line in body)
        for number, line in enumerate(body):
            if match := _ALLOCA.match(line):
                variables[match[1]] = read_type_of_alloca(match[2], self._types)
                last = number
                if _OF_LIBRARY in match[2]:
                    of_library.add(match[1])
            elif match := _BEGIN.match(line):
                begun.add(match[1])
            elif match := _MADE_BY_LIBRARY.match(line):
                made.add(match[1])
        made = of_library if is_library else of_library & made
        lines: list[str] = []
        for number, line in enumerate(body):
            lines += self._with_lanes(line) if self._padding else [line]
            if variables and number == last:
                # What a function returns lives in its caller, and begins unseen.
                for name in (each for each in variables if each not in begun | made):
                    debug = next((d for each in body[number:] if (d := _debug(each, name))), "")
                    lines += self._unset(name, variables[name], debug)
            elif (match := _BEGIN.match(line)) and match[1] in variables:
                lines += self._unset(match[1], variables[match[1]], _debug(line, match[1]))
        return lines

    def _with_lanes(self, line: str) -> list[str]:
        """A line; lanes that it adds to a vector, or takes from behind its last, have no value."""
        widened, beyond = _WIDENED.match(line), _BEYOND.match(line)
        if widened is None and (beyond is None or int(beyond["lane"]) < int(beyond["count"])):
            return [line]
        self._number += 1
        which = integer("i32", self._number << BEGINNING_SHIFT).literal
        found = widened or beyond
        assert found is not None
        kind, name, place = found["kind"], found["name"], _place(line)
        self.used.add(kind)
        lane = f"call {kind} @{PREFIX}{kind}(i32 {which}){place}"
        if widened is None:
            return [f"  {name} = {lane}"]
        wide = f"%assay.wide.{self._number}"
        return [
            line.replace(f"  {name} =", f"  {wide} =", 1),
            f"  {wide}.lane = {lane}",
            f"  {name} = insertelement <4 x {kind}> {wide}, {kind} {wide}.lane, i32 3{place}",
        ]

    def _unset(self, variable: str, of: Type, location: str) -> list[str]:
        """Set the scalars of a variable to what the optimiser knows nothing of."""
        places = list(_scalars(of, 0, padding=self._padding))
        if len(places) > _MAX_SCALARS:
            return [f"  call void @{UNSET}(ptr nocapture {variable}){location}"]
        lines: list[str] = []
        self._number += 1
        for offset, kind in places:
            scalar = _ADDRESS if kind.startswith("ptr") else kind
            self.used.add(scalar)
            name = f"%assay.u{self._number}.{offset}"
            # The argument keeps two variables from becoming one.
            which = integer("i32", self._number << BEGINNING_SHIFT | offset).literal
            lines.append(f"  {name} = call {scalar} @{PREFIX}{scalar}(i32 {which}){location}")
            if scalar != kind:
                lines.append(f"  {name}.a = inttoptr {scalar} {name} to {kind}{location}")
                name = f"{name}.a"
            lines += [
                f"  {name}.p = getelementptr i8, ptr {variable}, i64 {offset}{location}",
                f"  store {kind} {name}, ptr {name}.p, align 1{location}",
            ]
        return lines


def _debug(line: str, variable: str) -> str:
    """The place that a line which uses a variable has in the source, as it is appended."""
    return _place(line) if re.search(rf"{re.escape(variable)}\b", line) else ""


def _place(line: str) -> str:
    found = _DEBUG.search(line)
    return f", !dbg {found[1]}" if found else ""


def _scalars(kind: Type, start: int, *, padding: bool) -> Iterator[tuple[int, str]]:
    """(byte offset, type) of the scalars and pointers in an object.

    With `padding` also those of a fourth lane behind three, and bytes between a struct's fields.
    """
    match kind:
        case Scalar(name):
            yield start, name
        case Vector(count, element) | Array(count, element):
            step = size_of(element)
            has_more = padding and isinstance(kind, Vector) and size_of(kind) == (count + 1) * step
            for index in range(count + has_more):
                yield from _scalars(element, start + index * step, padding=padding)
        case Struct(fields):
            end = 0
            for index, field in enumerate(fields):
                at = field_offset(kind, index)
                if padding:
                    yield from ((start + each, "i8") for each in range(end, at))
                if padding or index < len(fields) - 1 or not _is_padding(kind):
                    yield from _scalars(field, start + at, padding=padding)
                end = at + size_of(field)
            if padding:
                yield from ((start + each, "i8") for each in range(end, size_of(kind)))
        case Pointer(space):
            yield start, f"ptr addrspace({space})" if space else "ptr"


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
