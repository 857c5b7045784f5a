"""Structures that C and Python share: a `ctypes.Structure` is the declaration.

From it come the C text (`c_structure`) and the element type of arrays (`dtype_of`). In C a class
`SomeThing` is called `struct some_thing`, and numbers have short names: `c_uint32` is `u32`.
"""

from __future__ import annotations

import ctypes
import functools
import re
from typing import Any

import numpy as np

NUMBERS: dict[type, str] = {
    ctypes.c_int8: "i8",
    ctypes.c_uint8: "u8",
    ctypes.c_int16: "i16",
    ctypes.c_uint16: "u16",
    ctypes.c_int32: "i32",
    ctypes.c_uint32: "u32",
    ctypes.c_int64: "i64",
    ctypes.c_uint64: "u64",
    ctypes.c_float: "f32",
    ctypes.c_double: "f64",
}
_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@functools.cache
def pointer(to: str) -> type[ctypes.c_void_p]:
    """An address as a field of a structure, given as a number; in C it points to `to`."""
    return type(f"Pointer to {to}", (ctypes.c_void_p,), {"_to_": to})


def c_name(structure: type[ctypes.Structure]) -> str:
    """What a structure is called in C, behind `struct`."""
    return _CAPITAL.sub("_", structure.__name__).lower()


def c_structure(structure: type[ctypes.Structure]) -> str:
    """The C text of a structure, which does not compile if C lays it out in another way."""
    name = c_name(structure)
    fields = "".join(f"    {_declaration(field[1], field[0])};\n" for field in _fields(structure))
    size = ctypes.sizeof(structure)
    check = f'_Static_assert(sizeof(struct {name}) == {size}, "as Python has it");'
    return f"struct {name} {{\n{fields}}};\n{check}\n"


def dtype_of(structure: type[ctypes.Structure]) -> np.dtype[np.void]:
    """The element type of arrays of a structure; addresses are unsigned numbers."""
    fields = _fields(structure)
    return np.dtype(
        {
            "names": [field[0] for field in fields],
            "formats": [_element(field[1]) for field in fields],
            "offsets": [getattr(structure, field[0]).offset for field in fields],
            "itemsize": ctypes.sizeof(structure),
        }
    )


def pointed_to(structure: type[ctypes.Structure]) -> set[str]:
    """Structures, by C name, that the fields of a structure point to."""
    targets = {_target(field[1]) for field in _fields(structure)}
    return {to.removeprefix("struct ") for to in targets if to and to.startswith("struct ")}


def _fields(structure: type[ctypes.Structure]) -> list[tuple[str, Any]]:
    return [(field[0], field[1]) for field in structure._fields_]


def _declaration(kind: Any, name: str) -> str:
    if issubclass(kind, ctypes.Array):
        return _declaration(kind._type_, f"{name}[{kind._length_}]")
    target = _target(kind)
    if target is not None:
        return f"{target} *{name}"
    return f"{_value(kind)} {name}"


def _target(kind: Any) -> str | None:
    """What a pointer points to; None for another kind of field."""
    if issubclass(kind, ctypes.c_void_p):
        return str(getattr(kind, "_to_", "void"))
    return _value(kind._type_) if issubclass(kind, ctypes._Pointer) else None


def _value(kind: Any) -> str:
    return f"struct {c_name(kind)}" if issubclass(kind, ctypes.Structure) else NUMBERS[kind]


def _element(kind: Any) -> Any:
    if issubclass(kind, ctypes.Array):
        return (_element(kind._type_), (kind._length_,))
    if issubclass(kind, ctypes.Structure):
        return dtype_of(kind)
    return np.dtype(np.uintp) if _target(kind) is not None else np.dtype(kind)
