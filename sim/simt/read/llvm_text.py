"""Reads LLVM's textual IR into plain records: one function, its globals and its debug locations.

Only what clang and LLVM's scalar optimiser write for kernels is understood; the rest is refused
with the line of IR that was not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..ir.llvm_types import Opaque, Type
from .llvm_instructions import read_instruction
from .llvm_records import FunctionText, Global, IRSyntaxError, ModuleText, Record
from .llvm_tokens import Line

_TYPE_DEFINITION = re.compile(r"^(%(?:\"[^\"]*\"|\S+)) = type (.*)$", re.MULTILINE)
_METADATA = re.compile(r"^(![0-9]+) = (?:distinct )?(.*)$")


def read_module(text: str) -> ModuleText:
    """Read a module's text.

    Raises:
        IRSyntaxError: for a construct that kernels are not known to use.
    """
    module = ModuleText({}, {}, {})
    types = _NamedTypes(text)
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith("@"):
            variable = _read_global(line, types)
            if variable is not None:
                module.globals[variable.name] = variable
        elif line.startswith("define"):
            function = _read_function(line, lines, types)
            module.functions[function.name] = function
        elif line.startswith("!") and (match := _METADATA.match(line)):
            module.metadata[match[1]] = match[2]
    return module


def read_globals(text: str) -> list[Global]:
    """The global variables of a module's text."""
    types = _NamedTypes(text)
    lines = (line for line in text.splitlines() if line.startswith("@"))
    return [variable for line in lines if (variable := _read_global(line, types)) is not None]


def types_of(text: str) -> dict[str, Type]:
    """The named structures of a module's text."""
    return _NamedTypes(text)


def read_type_of_alloca(text: str, types: dict[str, Type]) -> Type:
    """The type at the start of what follows the word `alloca`."""
    return Line(text, types).type()


class _NamedTypes(dict[str, Type]):
    """Structures by name, read when first asked for, since they may be used before their line."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._definitions = {m[1]: m[2] for m in _TYPE_DEFINITION.finditer(text)}

    def __missing__(self, name: str) -> Type:
        definition = self._definitions.get(name, "opaque")
        kind = Opaque(name) if definition == "opaque" else Line(definition, self).type()
        self[name] = kind
        return kind


_GLOBAL_WORDS = {
    "private",
    "internal",
    "external",
    "dso_local",
    "local_unnamed_addr",
    "unnamed_addr",
    "linkonce_odr",
    "weak_odr",
    "linkonce",
    "weak",
    "common",
    "appending",
    "hidden",
    "externally_initialized",
    "available_externally",
    "protected",
    "extern_weak",
}


def _read_global(text: str, types: dict[str, Type]) -> Global | None:
    line = Line(text, types)
    name = line.next()
    line.expect("=")
    while line.peek() in _GLOBAL_WORDS:
        line.next()
    space = 0
    if line.accept("addrspace"):
        line.expect("(")
        space = int(line.next())
        line.expect(")")
    if line.peek() not in ("global", "constant"):
        return None
    constant = line.next() == "constant"
    kind = line.type()
    initialiser = None if line.peek() in (",", "") else line.value(kind)
    return Global(name, kind, space, constant, initialiser)


def _read_function(text: str, lines: Iterator[str], types: dict[str, Type]) -> FunctionText:
    line = Line(text.split(" !dbg ")[0].rstrip("{ "), types)
    while not line.peek().startswith("@"):
        line.next()
    name = line.next()
    line.expect("(")
    parameters: list[tuple[str, Type]] = []
    while not line.accept(")"):
        kind = line.type()
        line.attributes()
        parameters.append((line.next(), kind))
        line.accept(",")
    blocks: dict[str, list[Record]] = {}
    label = f"%{len(parameters)}" if _numbered(parameters) else "%0"
    current: list[Record] | None = None
    body = iter(lines)
    for entry in body:
        if entry.startswith("}"):
            return FunctionText(name, parameters, blocks)
        stripped = entry.strip()
        if not stripped or stripped.startswith((";", "#dbg_")):
            continue
        if not entry.startswith(" "):
            label = "%" + stripped.split(":")[0]
            current = blocks.setdefault(label, [])
            continue
        if stripped.startswith("switch"):
            while not stripped.rstrip().split(", !")[0].endswith("]"):
                stripped += " " + next(body).strip()
        if current is None:
            current = blocks.setdefault(label, [])
        current.append(read_instruction(stripped, types))
    raise IRSyntaxError(f"function {name} is cut off")


def _numbered(parameters: list[tuple[str, Type]]) -> bool:
    return all(name == f"%{i}" for i, (name, _) in enumerate(parameters))
