"""Marks what the optimiser leaves nothing to see of.

Calls of functions that a machine has instructions for are marked so that models can tell them: the
front end's headers compute such a function, like `exp2`, from simpler operations, and do so in one
place: a class `__op_exp2` with a function `call` on scalars, or a template of one. Each call's
result is passed through a function that the optimiser does not know, together with the call's
operands: whoever reads the IR may take that for the whole, and whoever executes it for its first
operand. Asynchronous copies of a simdgroup, which the headers do at once in a loop, are marked by
functions of the same kind that do nothing. Indices of rows of arrays of arrays are marked since
they are added up to one offset.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..ir.operations import positions as p
from ..ir.operations.functions import COPIES, COPY_EVENT, PRECISE, PREFIX
from ..ir.operations.marks import IN_ROW
from ..ir.operations.operation import Operation
from ..ir.operations.table import OPERATIONS

_CALL = re.compile(
    r"^(?P<result>\s*%\S+) = (?:tail )?call (?:[a-z]+ )*?"
    r"(?P<type>half|float|bfloat|i1|i8|i16|i32|i64) "
    r"@_ZN5metal(?P<precise>7precise)?(?P<length>\d+)__op_(?P<name>\w+?)[IE]\w+\((?P<operands>.*?)\)"
    r"(?: #\d+)?(?P<debug>, !dbg !\d+)?$",
    re.MULTILINE,
)
_OPERAND = re.compile(r"^(?P<type>half|float|bfloat|i1|i8|i16|i32|i64)\s(?:.*\s)?(?P<value>\S+)$")
_FAST = re.compile(r"= (?:fadd|fsub|fmul|fdiv)(?: [a-z]+)* contract ")
_ARITHMETIC = re.compile(r"= f(?:add|sub|mul|div) |@llvm\.fmuladd\.")
_FUNCTION = re.compile(r"^define [^\n]*?@(\w+)\([^\n]*\n(.*?)^\}$", re.MULTILINE | re.DOTALL)
_HEADERS = "_ZN5metal"  # what the headers' own functions are called, which never fuse
_POSITIONS = (
    p.THREAD_POSITION_IN_GRID,
    p.THREAD_POSITION_IN_THREADGROUP,
    p.THREAD_INDEX_IN_THREADGROUP,
    p.THREAD_INDEX_IN_SIMDGROUP,
    p.SIMDGROUP_INDEX_IN_THREADGROUP,
    p.SIMDGROUPS_PER_THREADGROUP,
    p.DISPATCH_THREADS_PER_THREADGROUP,
    p.DISPATCH_SIMDGROUPS_PER_THREADGROUP,
    p.MATRIX_ROW,
    p.MATRIX_COLUMN,
)
# Positions and their declarations; what follows them are numbers of attributes.
_POSITION_DECLARED = re.compile(
    r"(?P<start>(?P<kind>declare|call)[^\n@]*"
    rf"@__assay_(?:{'|'.join(position.name for position in _POSITIONS)})\([^)]*\))"
    r"(?: local_unnamed_addr)?(?: #\d+)?"
)
_PURE = "nounwind willreturn memory(none)"
_APART = "nounwind willreturn memory(inaccessiblemem: readwrite)"  # calls are never made one

_ROW = rf"@__assay_{IN_ROW.name}_i64"
_ROW_ADDRESS = re.compile(
    r"^\s*(?P<name>%\S+) = getelementptr (?:(?:inbounds|nuw|nusw) )*"
    r"\[(?P<count>\d+) x (?P<element>[^,]*)\], ptr(?: addrspace\(\d\))? (?P<base>[^,\s]+), "
    r"(?P<rest>.*)$"
)
_ROW_INDEX = re.compile(r"^(?P<start>\s*%\S+ = .*, i64 0, i64 )(?P<index>%[^,\s]+)(?P<rest>.*)$")
_DEBUG = re.compile(r", !dbg !\d+")


def mark_math(text: str) -> str:
    """The unoptimised module `text`, in which calls of such functions are marked."""
    text = _marked(text, OPERATIONS, _PURE, careful=_is_careful(text))
    return _POSITION_DECLARED.sub(_speculatable, text)


def mark_events(text: str) -> str:
    """The unoptimised module `text`, in which only events are marked, each of a copy of its own."""
    return _marked(text, {COPY_EVENT.name: COPY_EVENT}, _APART, careful=False)


def _marked(text: str, known: Mapping[str, Operation], attributes: str, *, careful: bool) -> str:
    declared: set[str] = set()

    def mark(match: re.Match[str]) -> str:
        name = _name(match["name"], int(match["length"]))
        operands = [_OPERAND.match(part) for part in match["operands"].split(", ")]
        function = known.get(PREFIX + name)
        if function is None or not all(operands):
            return match[0]
        mode = PRECISE if function not in COPIES and (careful or match["precise"]) else ""
        result, type = match["result"], match["type"]
        found = [(o["type"], o["value"]) for o in operands if o is not None]
        kinds = [type, *(kind for kind, _ in found)]
        symbol = f"@__assay_{PREFIX}{mode}{name}.{'.'.join(kinds)}"
        declared.add(f"declare {type} {symbol}({', '.join(kinds)}) {attributes}")
        whole = f"{result.replace('%', '%marked.')}.m"
        passed = ", ".join(f"{kind} {value}" for kind, value in [(type, whole.strip()), *found])
        return "\n".join(
            (
                match[0].replace(result, whole, 1),
                f"{result} = call {type} {symbol}({passed}){match['debug'] or ''}",
            )
        )

    return "\n".join([_CALL.sub(mark, text), *sorted(declared)])


def _is_careful(text: str) -> bool:
    """Whether a program was not compiled for fast mathematics: nothing may be fused later."""
    own = [body for name, body in _FUNCTION.findall(text) if not name.startswith(_HEADERS)]
    computes = any(_ARITHMETIC.search(body) for body in own)
    return computes and not any(_FAST.search(body) for body in own)


def _speculatable(match: re.Match[str]) -> str:
    """A position without what ties it to its place: it is the same wherever a thread asks."""
    if match["kind"] == "declare":
        return f"{match['start']} nounwind willreturn speculatable memory(none)"
    return match["start"]


def _name(mangled: str, length: int) -> str:
    """`exp24call` of which `__op_exp2` is a name of 9 characters -> `exp2`."""
    return mangled[: length - len("__op_")]


def mark_rows(text: str) -> str:
    """The unoptimised module `text`, in which an index within a row is told with the row's length.

    A row is an array that lies in another one, or that a pointer to arrays leads to.
    """
    lines: list[str] = []
    places: set[str] = set()  # of arrays that others follow directly
    is_used = False
    for line in text.splitlines():
        if line.startswith("define"):
            places = set()
        match = _ROW_ADDRESS.match(line)
        index = _ROW_INDEX.match(line) if match is not None else None
        if match is not None and index is not None and match["base"] in places:
            is_used = True
            marked = f"%row.{match['name'][1:]}"
            place = _DEBUG.search(index["rest"])
            lines.append(
                f"  {marked} = call i64 {_ROW}(i64 {index['index']}, i64 {match['count']})"
                f"{place[0] if place else ''}"
            )
            line = f"{index['start']}{marked}{index['rest']}"
        if match is not None and _is_row(match):
            places.add(match["name"])
        lines.append(line)
    if is_used:
        lines.append(f"declare i64 {_ROW}(i64, i64) nounwind willreturn memory(none)")
    return "\n".join(lines)


def _is_row(address: re.Match[str]) -> bool:
    """Whether an address is that of one array among several."""
    among = address["rest"].startswith("i64 0, i64 ")
    return address["element"].startswith("[") if among else True
