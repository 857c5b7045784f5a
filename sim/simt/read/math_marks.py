"""Marks calls of functions that a machine has instructions for, so that models can tell them.

The front end's headers compute such a function, like `exp2`, from simpler operations, and do so in
one place: a class `__op_exp2` with a function `call` on scalars. After optimisation nothing of that
is left to see. So each call's result is passed through a function that the optimiser does not know,
together with the call's operands: whoever reads the IR may take that for the whole, and whoever
executes it for its first operand. Asynchronous copies of a simdgroup, which the headers do at once
in a loop, are marked by functions of the same kind that do nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..ir.operations import positions as p
from ..ir.operations.functions import COPIES, COPY_EVENT, PRECISE, PREFIX
from ..ir.operations.operation import Operation
from ..ir.operations.table import OPERATIONS

_CALL = re.compile(
    r"^(?P<result>\s*%\S+) = (?:tail )?call (?:[a-z]+ )*?"
    r"(?P<type>half|float|bfloat|i1|i8|i16|i32|i64) "
    r"@_ZN5metal(?P<precise>7precise)?(?P<length>\d+)__op_(?P<name>\w+?)I\w+\((?P<operands>.*?)\)"
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
_LOOP = re.compile(r"^(!(\d+) = distinct !\{!\2(?:, !\d+)*)\}$", re.MULTILINE)
_NODE = re.compile(r"^!(\d+) = ", re.MULTILINE)
_FULL = "llvm.loop.unroll.full"
_PURE = "nounwind willreturn memory(none)"
_APART = "nounwind willreturn memory(inaccessiblemem: readwrite)"  # calls are never made one


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


def unroll_all(text: str) -> str:
    """The optimised module `text`, which asks for loops of known length to be unrolled."""
    number = 1 + max((int(found) for found in _NODE.findall(text)), default=0)
    text = text.replace('"llvm.loop.unroll.disable"', '"llvm.loop.was_unrolled"')
    text = _LOOP.sub(rf"\1, !{number}}}", text)
    return f'{text}\n!{number} = !{{!"{_FULL}"}}\n'


def unroll_no_more(text: str) -> str:
    """What `unroll_all` asked for, forgotten: what could not be unrolled needs no warning."""
    return text.replace(f'"{_FULL}"', '"llvm.loop.was_unrolled"')


def _speculatable(match: re.Match[str]) -> str:
    """A position without what ties it to its place: it is the same wherever a thread asks."""
    if match["kind"] == "declare":
        return f"{match['start']} nounwind willreturn speculatable memory(none)"
    return match["start"]


def _name(mangled: str, length: int) -> str:
    """`exp24call` of which `__op_exp2` is a name of 9 characters -> `exp2`."""
    return mangled[: length - len("__op_")]
