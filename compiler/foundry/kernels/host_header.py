"""A header in C for host programs in C, C++, Objective-C and Swift: buffer indices and structs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ..structs import Struct
from ..structs.types import Array, MslType, Scalar, Vector
from .arguments import Output, Params, Updated
from .declared import Declared, structs_of

_C_TYPES: Final = {
    "bool": "bool",
    "char": "int8_t",
    "uchar": "uint8_t",
    "short": "int16_t",
    "ushort": "uint16_t",
    "int": "int32_t",
    "uint": "uint32_t",
    "long": "int64_t",
    "ulong": "uint64_t",
    "half": "uint16_t",
    "bfloat": "uint16_t",
    "float": "float",
}


def host_header(kernel: Declared) -> str:
    """The header; static assertions hold the compiler of the host to the layout.

    `half` and `bfloat` are their bits, as `uint16_t`; vectors are arrays. Padding has names of its
    own, to be left zero.
    """
    lines = [
        f"// Arguments of the kernel {kernel.function}.",
        "#pragma once",
        "#include <stdbool.h>",
        "#include <stddef.h>",
        "#include <stdint.h>",
        "#if !defined(__cplusplus) && !defined(static_assert)",
        "#define static_assert _Static_assert",
        "#endif",
        "",
        *_indices(kernel),
    ]
    for each in structs_of(kernel.arguments.values(), kernel.function):
        lines += ["", *_struct(each)]
    return "\n".join(lines) + "\n"


def _indices(kernel: Declared) -> Iterator[str]:
    yield f"enum {kernel.function}_buffer {{"
    for name, index in sorted(kernel.indices.items(), key=lambda each: each[1]):
        argument = kernel.arguments[name]
        if isinstance(argument, Params):
            what = f"{argument.layout.name}, {argument.layout.size} bytes"
        else:
            what = f"{argument.element.name}s"
        written = ", written" if isinstance(argument, Output | Updated) else ""
        yield f"    {kernel.function}_{name} = {index},  // {what}{written}"
    yield "};"


def _struct(layout: Struct) -> Iterator[str]:
    end = gaps = 0
    yield f"typedef struct {layout.name} {{"
    for member in layout.members:
        if member.offset > end:
            yield f"    uint8_t padding_{gaps}[{member.offset - end}];"
            gaps += 1
        yield f"    {_declaration(member.type, member.name)};"
        end = member.offset + member.type.size
    if layout.size > end:
        yield f"    uint8_t padding_{gaps}[{layout.size - end}];"
    yield f"}} {layout.name};"
    yield f'static_assert(sizeof({layout.name}) == {layout.size}, "{layout.name}");'
    for member in layout.members:
        place = f"offsetof({layout.name}, {member.name})"
        yield f'static_assert({place} == {member.offset}, "{layout.name}.{member.name}");'


def _declaration(kind: MslType, name: str) -> str:
    if isinstance(kind, Array):
        return _declaration(kind.element, f"{name}[{kind.count}]")
    if isinstance(kind, Vector):
        return f"{_C_TYPES[kind.element.name]} {name}[{kind.size // kind.element.size}]"
    if isinstance(kind, Scalar):
        return f"{_C_TYPES[kind.name]} {name}"
    return kind.declaration(name)
