"""C headers made of what Python declares: numbers, enumerations and structures."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from types import ModuleType

from .structures import NUMBERS, c_name, c_structure, pointed_to

_INT_LIMIT = 1 << 31
_SAID = "/* Made of what Python declares: change it there, then run `python -m tests.c_headers`. */"
# What compilers predefine, so that no header of a C library is needed.
_TYPES = "".join(
    f"typedef __{'U' if name[0] == 'u' else ''}INT{name[1:]}_TYPE__ {name};\n"
    for name in NUMBERS.values()
    if name[0] in "iu"
) + ("typedef float f32;\ntypedef double f64;\n")


def c_header(
    *,
    constants: Mapping[str, int] | None = None,
    enumerations: Sequence[type[IntEnum] | Mapping[str, int]] = (),
    structures: Sequence[type[ctypes.Structure]] = (),
) -> str:
    """The text of a header: constants, enumerations, then structures in this order."""
    numbers = "".join(f"#define {n} {_number(value)}\n" for n, value in (constants or {}).items())
    lists = "".join(_enumeration(one) for one in enumerations)
    names = {c_name(structure) for structure in structures}
    targets = sorted({to for one in structures for to in pointed_to(one)} | names)
    known = "".join(f"struct {name};\n" for name in targets)
    texts = "\n".join(c_structure(structure) for structure in structures)
    parts = (_SAID, "#pragma once", _TYPES, numbers, lists, known, texts)
    return "\n".join(part.rstrip("\n") + "\n" for part in parts if part)


def named(
    module: ModuleType, names: str | Iterable[str], prefix: str = "", suffix: str = ""
) -> dict[str, int]:
    """Constants of a Python module for C; a text has their names with spaces between."""
    each = names.split() if isinstance(names, str) else names
    return {f"{prefix}{name}{suffix}": int(getattr(module, name)) for name in each}


def numbered(names: Iterable[str], prefix: str = "", suffix: str = "") -> dict[str, int]:
    """An enumeration of words in their order, in capitals."""
    return {f"{prefix}{name.upper()}{suffix}": number for number, name in enumerate(names)}


def _enumeration(one: type[IntEnum] | Mapping[str, int]) -> str:
    members = {m.name: m.value for m in one} if isinstance(one, type) else one
    lines = "".join(f"    {name} = {value},\n" for name, value in members.items())
    return f"enum {{\n{lines}}};\n"


def _number(value: int) -> str:
    return str(value) if -_INT_LIMIT <= value < _INT_LIMIT else f"{value}ull"
