"""Parameter structs: one declaration gives the text of the struct in MSL and the bytes it takes."""

from __future__ import annotations

import keyword
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Final, TypeVar, dataclass_transform, get_args, get_type_hints

from ..errors import FoundryError
from .dynamic import DynamicValue, resolve
from .names import PLAIN
from .types import Array, MslType, Scalar, Values, Vector

_T = TypeVar("_T")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_RESERVED: Final = frozenset(
    re.findall(
        r"\w+",
        """
        alignas alignof asm auto bool break case catch char class const constant constexpr
        continue decltype default delete device do double else enum explicit export extern false
        float for fragment friend goto half if inline int kernel long mutable namespace new
        noexcept nullptr operator private protected public register return short signed sizeof
        static struct switch template this thread threadgroup throw true try typedef typename uint
        union unsigned using vertex virtual void volatile while
        """,
    )
)
_ATTRIBUTE: Final = "__msl_struct__"


@dataclass(frozen=True, slots=True)
class Named:
    """In an annotation: the member's name in MSL, where it is not the field's."""

    name: str


@dataclass(frozen=True, slots=True)
class HostOnly:
    """In an annotation: the field stays in Python."""


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a struct; `offset` in bytes from its beginning."""

    field: str
    name: str
    type: MslType
    offset: int


@dataclass(frozen=True, slots=True)
class Struct:
    """A struct of MSL: a type, and the members it consists of."""

    name: str
    members: tuple[Member, ...]
    size: int
    alignment: int

    @property
    def inner(self) -> tuple[Struct, ...]:
        """Structs that members are made of, each before those that need it."""
        found: dict[str, Struct] = {}
        for member in self.members:
            kind = member.type
            while isinstance(kind, Array):
                kind = kind.element
            if isinstance(kind, Struct):
                found.update({each.name: each for each in (*kind.inner, kind)})
        return tuple(found.values())

    @property
    def text(self) -> str:
        """The definition in MSL, which the compiler holds to this layout."""
        lines = [f"    {member.type.declaration(member.name)};" for member in self.members]
        body = "\n".join(lines)
        return (
            f"struct {self.name} {{\n{body}\n}};\n"
            f'static_assert(sizeof({self.name}) == {self.size}, "layout of {self.name}");\n'
        )

    def declaration(self, name: str) -> str:
        """Such as `Window window`."""
        return f"{self.name} {name}"

    def pack(self, value: Any, where: str, values: Values) -> bytes:
        """The bytes of an instance; padding is zero. Raises FoundryError."""
        if layout_of(type(value)) is not self:
            raise FoundryError("struct-value", f"{where} = {value!r} is no {self.name}")
        packed = bytearray(self.size)
        for member in self.members:
            place = f"{where}.{member.field}"
            found = resolve(getattr(value, member.field), values, place)
            data = member.type.pack(found, place, values)
            packed[member.offset : member.offset + len(data)] = data
        return bytes(packed)


@dataclass_transform(frozen_default=True, kw_only_default=True)
def struct(cls: type[_T]) -> type[_T]:
    """Makes a class a parameter struct: a frozen dataclass whose fields are members in MSL.

    Annotations are the types of `assay.foundry` (`uint`, `float4`, `packed_half3`, ...), `int`,
    `float`, `bool`, other structs, and `Annotated[..., array(uint, 4)]`. Raises FoundryError.
    """
    made = dataclass(frozen=True, kw_only=True)(cls)
    around = sys._getframe(1).f_locals  # where other structs of a function or test are found
    setattr(made, _ATTRIBUTE, _laid_out(made, around))
    return made


def layout_of(declared: Any) -> Struct | None:
    """The struct that a class declares; None for other classes."""
    found = vars(declared).get(_ATTRIBUTE) if isinstance(declared, type) else None
    return found if isinstance(found, Struct) else None


def pack(value: Any, values: Mapping[str, Any] | None = None) -> bytes:
    """The bytes of a parameter struct, with `values` for its dynamic fields.

    Raises FoundryError that names the struct and the field.
    """
    layout = layout_of(type(value))
    if layout is None:
        raise FoundryError("struct-value", f"{type(value).__name__} is no parameter struct")
    return layout.pack(value, layout.name, values or {})


def waits_for(value: Any) -> set[str]:
    """The names of values that dynamic fields of a struct, and of structs in it, wait for."""
    if isinstance(value, DynamicValue):
        return {value.name}
    if isinstance(value, list | tuple):
        return set().union(*map(waits_for, value))
    layout = layout_of(type(value))
    if layout is None:
        return set()
    return set().union(*(waits_for(getattr(value, each.field)) for each in layout.members))


def array(element: Any, count: int) -> Array:
    """For annotations: `Annotated[Sequence[int], array(uint, 4)]` is `uint name[4]`."""
    if count < 1:
        raise FoundryError("struct-field", f"an array of {count} elements has no place in a struct")
    return Array(_type_of(element, "an array's element"), count)


def _laid_out(cls: type, around: Mapping[str, Any]) -> Struct:
    assert is_dataclass(cls)
    hints = get_type_hints(cls, localns=dict(around), include_extras=True)
    members: list[Member] = []
    end, alignment = 0, 1
    for field in fields(cls):
        where = f"{cls.__name__}.{field.name}"
        marks = get_args(hints[field.name])[1:]
        if any(isinstance(mark, HostOnly) or mark is HostOnly for mark in marks):
            continue
        kind = _type_of(hints[field.name], where)
        name = next((mark.name for mark in marks if isinstance(mark, Named)), field.name)
        _check_name(name, where, [member.name for member in members])
        offset = -(-end // kind.alignment) * kind.alignment
        members.append(Member(field.name, name, kind, offset))
        end, alignment = offset + kind.size, max(alignment, kind.alignment)
    if not members:
        raise FoundryError("struct-field", f"{cls.__name__} has no fields for the GPU")
    return Struct(cls.__name__, tuple(members), -(-end // alignment) * alignment, alignment)


def _type_of(annotation: Any, where: str) -> MslType:
    marks = [a for a in get_args(annotation)[1:] if isinstance(a, Scalar | Vector | Array)]
    if marks:
        return marks[0]
    plain = get_args(annotation)[0] if hasattr(annotation, "__metadata__") else annotation
    found = PLAIN.get(plain) or layout_of(plain)
    if found is None:
        spelled = getattr(plain, "__name__", str(plain))
        raise FoundryError("struct-field", f"{where}: {spelled} is no type that MSL has")
    return found


def _check_name(name: str, where: str, taken: list[str]) -> None:
    if name in taken:
        raise FoundryError("struct-field", f"{where}: two members are called {name}")
    if fault := name_fault(name):
        other = " (Python's keywords are no names either)" if keyword.iskeyword(name) else ""
        raise FoundryError(
            "struct-field", f"{where}: {name} is {fault}{other}; Named(...) gives it another name"
        )


def name_fault(name: str) -> str | None:
    """Why MSL does not take a name; None for one that it takes."""
    if name in _RESERVED or "__" in name:
        return "reserved in MSL"
    return None if _NAME.fullmatch(name) else "no name"
