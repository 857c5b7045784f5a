"""The function through which the engine calls a kernel: buffers come in, positions do not."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .clean import CPU
from .container import AirFormatError
from .metadata import AirArgument
from .names import vector_parts

SYMBOL = "__assay_entry"
# Those of several dimensions take the number of one.
_VECTORS = frozenset(
    {
        "thread_position_in_grid",
        "thread_position_in_threadgroup",
        "threadgroup_position_in_grid",
        "threads_per_threadgroup",
        "dispatch_threads_per_threadgroup",
        "threads_per_grid",
        "threadgroups_per_grid",
    }
)
_SCALARS = frozenset(
    {
        "thread_index_in_threadgroup",
        "thread_index_in_simdgroup",
        "simdgroup_index_in_threadgroup",
        "simdgroups_per_threadgroup",
        "dispatch_simdgroups_per_threadgroup",
    }
)
POSITIONS = (
    _VECTORS
    | _SCALARS
    | {
        "threads_per_simdgroup",
        "thread_execution_width",
        "thread_index_in_quadgroup",
        "quadgroup_index_in_threadgroup",
        "quadgroups_per_threadgroup",
    }
)
MEMORY = frozenset({"buffer", "indirect_buffer"})
# What the host gives the address of a description, words or numbers for.
RESOURCES = frozenset({"texture", "sampler", "visible_function_table", "tensor"})
_CONSTANT = "ptr addrspace(6)"


def parameter_types(text: str, symbol: str) -> list[str]:
    """LLVM types of a function's parameters, in a module's text. Raises AirFormatError."""
    return [_type_of(part) for part in _parameters(text, symbol)]


def parameter_name(text: str, symbol: str, number: int) -> str:
    """What a function's text calls a parameter, which may have no name of its own."""
    found = re.search(r"%\S+$", _parameters(text, symbol)[number])
    return found[0] if found else f"%{number}"


def _parameters(text: str, symbol: str) -> list[str]:
    found = re.search(rf"^define [^\n]*{re.escape(symbol)}\((?P<taken>.*)\) [^\n]*\{{$", text, re.M)
    if found is None:
        raise AirFormatError(f"there is no function {symbol}")
    return re.split(r",(?![^<(]*[>)])", found["taken"]) if found["taken"].strip() else []


def _type_of(part: str) -> str:
    found = re.match(r"\s*(ptr(?: addrspace\(\d+\))?|<\d+ x \w+>|\w+)", part)
    if found is None:
        raise AirFormatError(f"a parameter's type is not understood: {part.strip()}")
    return found[1]


def wrapper(
    symbol: str, arguments: Sequence[AirArgument], kinds: Sequence[str], kept: set[int]
) -> str:
    """LLVM IR of the entry: `kept` are the parameters that the host gives something for.

    Raises:
        AirFormatError: for an argument of a kind that is not known.
    """
    taken, lines, passed = [], [], []
    for argument, kind in zip(arguments, kinds, strict=True):
        number = argument.parameter
        if argument.kind in MEMORY:
            if number in kept:
                taken.append(f"{kind} %b{number}")
            passed.append(f"{kind} {f'%b{number}' if number in kept else 'null'}")
        elif argument.kind in RESOURCES:
            if number in kept:
                taken.append(f"{_CONSTANT} %b{number}")
                lines += _resource(argument, kind)
            passed.append(f"{kind} {f'%r{number}' if number in kept else 'null'}")
        elif argument.kind in POSITIONS:
            new, name = _position(argument.kind, kind, number)
            lines += new
            passed.append(f"{kind} {name}")
        else:
            raise AirFormatError(
                f"argument '{argument.name}' is of kind '{argument.kind}', which kernels of "
                "Metal libraries cannot have here yet"
            )
    body = "".join(f"  {line}\n" for line in lines)
    return (
        f"define void @{SYMBOL}({', '.join(taken)}) #994 {{\n{body}"
        f"  call void {symbol}({', '.join(passed)})\n  ret void\n}}\n"
        f'attributes #994 = {{ convergent nounwind "no-builtins" {CPU} }}\n'
    )


def _resource(argument: AirArgument, kind: str) -> list[str]:
    """Lines that make a texture, sampler or table, or an array of them, of what the host gives."""
    number = argument.parameter
    given = f"{_CONSTANT} %b{number}"
    if is_array(argument):
        if kind != "ptr":
            raise AirFormatError(f"argument '{argument.name}' is an array that is passed as {kind}")
        lines = [f"%r{number} = alloca [{argument.count} x i64]"]
        for at in range(argument.count):
            of, to = f"%f{number}.{at}", f"%t{number}.{at}"
            lines += [
                f"{of} = getelementptr i64, {given}, i64 {at}",
                f"{of}w = load i64, {_CONSTANT} {of}",
                f"{to} = getelementptr i64, ptr %r{number}, i64 {at}",
                f"store i64 {of}w, ptr {to}",
            ]
        return lines
    word = f"%w{number} = ptrtoint {given} to i64"
    if argument.kind == "sampler":
        word = f"%w{number} = load i64, {given}"
    return [word, f"%r{number} = inttoptr i64 %w{number} to {kind}"]


def is_array(argument: AirArgument) -> bool:
    """Whether an argument is an array of textures or samplers, each with an index."""
    return argument.count > 1 or argument.type_name.startswith("array")


def _position(name: str, kind: str, number: int) -> tuple[list[str], str]:
    """Lines that make a position of an LLVM type, and the value."""
    count, element = vector_parts(kind) or (1, kind)
    lines: list[str] = []
    found = "poison"
    for at in range(count):
        place = f"%p{number}.{at}"
        lines += _one(name, place, at)
        if element != "i32":
            op = "trunc" if int(element[1:]) < 32 else "zext"
            lines.append(f"{place}n = {op} i32 {place} to {element}")
            place += "n"
        if count == 1:
            return lines, place
        lines.append(f"%v{number}.{at} = insertelement {kind} {found}, {element} {place}, i64 {at}")
        found = f"%v{number}.{at}"
    return lines, found


def _one(name: str, place: str, dimension: int) -> list[str]:
    if name in _VECTORS:
        return [f"{place} = call i32 @__assay_{name}(i32 {dimension})"]
    if name in ("threads_per_simdgroup", "thread_execution_width"):
        return [f"{place} = add i32 32, 0"]
    if name == "thread_index_in_quadgroup":
        return [
            f"{place}l = call i32 @__assay_thread_index_in_simdgroup()",
            f"{place} = and i32 {place}l, 3",
        ]
    if name == "quadgroup_index_in_threadgroup":
        return [
            f"{place}t = call i32 @__assay_thread_index_in_threadgroup()",
            f"{place} = lshr i32 {place}t, 2",
        ]
    if name == "quadgroups_per_threadgroup":
        return [
            *(
                f"{place}{axis} = call i32 @__assay_threads_per_threadgroup(i32 {axis})"
                for axis in range(3)
            ),
            f"{place}m = mul i32 {place}0, {place}1",
            f"{place}c = mul i32 {place}m, {place}2",
            f"{place}r = add i32 {place}c, 3",
            f"{place} = lshr i32 {place}r, 2",
        ]
    return [f"{place} = call i32 @__assay_{name}()"]


def declarations() -> list[str]:
    """Lines that declare what wrappers ask the engine for."""
    return [
        *(f"declare i32 @__assay_{name}(i32) #991" for name in sorted(_VECTORS)),
        *(f"declare i32 @__assay_{name}() #991" for name in sorted(_SCALARS)),
    ]
