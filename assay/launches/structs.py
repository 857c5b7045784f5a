"""Reads plain structs out of MSL source, so that their members get values by name and type.

Only what adds up to the size that the compiler knows is believed; all else is left to the caller.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .scalars import axes_of, element_of, lanes_of

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
_ATTRIBUTE = re.compile(r"\[\[.*?\]\]|alignas\s*\([^)]*\)|\bconst\b", re.S)
_DECLARATION = re.compile(
    r"(?P<type>[A-Za-z_][\w:]*(?:\s+(?:int|char|short|long))?)\s+(?P<names>.+)"
)
_DECLARATOR = re.compile(r"(?P<name>[A-Za-z_]\w*)\s*(?:\[\s*(?P<count>\d+)\s*\])?")
_MOST_ELEMENTS = 1 << 12
_DEEPEST = 8  # structs in structs


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """Scalars of one type at byte `offset` of a struct: `count` of them.

    `length` is how many of them have a meaning: one less in a vector of three. Members of a struct
    in it are called `inner.n`, those of one of several structs `many.0.n`.
    """

    name: str
    element: np.dtype[Any]
    count: int
    offset: int
    length: int


def members_of(type_name: str, size: int, sources: Iterable[str]) -> tuple[Member, ...]:
    """The members of the struct `type_name` of `size` bytes; empty if it is not understood.

    Args:
        type_name: the struct as an argument names it.
        size: what the compiler says.
        sources: texts to look in.
    """
    known = _described(type_name, tuple(_without_comments(text) for text in sources), 0)
    return known.members if known is not None and known.size == size else ()


# Texts of many kernels are large, and asked for each of them.
@functools.lru_cache(maxsize=8)
def _without_comments(text: str) -> str:
    return _COMMENT.sub(" ", text)


@dataclass(frozen=True, slots=True)
class _Struct:
    """Members at their offsets, those of inner structs among them; sizes in bytes."""

    members: tuple[Member, ...]
    size: int
    alignment: int


def _described(type_name: str, texts: tuple[str, ...], depth: int) -> _Struct | None:
    """The struct of a name in the first text that has it; None if it is not understood."""
    name = type_name.split("::")[-1].strip()
    if not name.isidentifier() or depth > _DEEPEST:
        return None
    for text in texts:
        body = _body(name, text)
        if body is not None:
            return _laid_out(body, texts, depth)
    return None


@functools.lru_cache(maxsize=64)
def _body(name: str, text: str) -> str | None:
    """What stands between the braces of a struct, or of a typedef for one."""
    direct = re.search(rf"\bstruct\s+(?:alignas\s*\([^)]*\)\s*)?{name}\s*\{{([^{{}}]*)\}}", text)
    found = direct or re.search(rf"\btypedef\s+struct\s*\w*\s*\{{([^{{}}]*)\}}\s*{name}\s*;", text)
    return found[1] if found else None


def _laid_out(body: str, texts: tuple[str, ...], depth: int) -> _Struct | None:
    """The struct that a body is of; None if a member is not understood."""
    members: list[Member] = []
    at, widest = 0, 1
    for statement in _ATTRIBUTE.sub(" ", body).split(";"):
        if not statement.strip():
            continue
        declaration = _DECLARATION.fullmatch(" ".join(statement.split()))
        if declaration is None:
            return None
        kind = _one(declaration["type"]) or _described(declaration["type"], texts, depth + 1)
        if kind is None:
            return None
        for text in declaration["names"].split(","):
            declarator = _DECLARATOR.fullmatch(text.strip())
            count = int(declarator["count"] or 1) if declarator else 0
            elements = count * sum(member.count for member in kind.members)
            if declarator is None or not 0 < elements <= _MOST_ELEMENTS:
                return None
            at += -at % kind.alignment
            is_array = declarator["count"] is not None
            members += _repeated(kind, declarator["name"], count, at, is_array=is_array)
            at += count * kind.size
            widest = max(widest, kind.alignment)
    return _Struct(tuple(members), at + -at % widest, widest)


def _one(type_name: str) -> _Struct | None:
    """A scalar, vector or matrix as a struct of one member without a name."""
    element = element_of(type_name)
    if element is None:
        return None
    lanes, alignment = lanes_of(type_name, element.itemsize)
    length = 3 if lanes == 4 and axes_of(type_name) == 3 else lanes
    member = Member(name="", element=element, count=lanes, offset=0, length=length)
    return _Struct((member,), lanes * element.itemsize, alignment)


def _repeated(kind: _Struct, name: str, count: int, at: int, *, is_array: bool) -> list[Member]:
    """What a member of some type has for members, from byte `at` on.

    Elements of an array of numbers are one member; those of an array of structs have numbers.
    """
    first = kind.members[0]
    if not first.name:
        length = first.length if count == 1 else first.count * count
        return [replace(first, name=name, count=first.count * count, length=length, offset=at)]
    return [
        replace(
            member,
            name=f"{name}.{number}.{member.name}" if is_array else f"{name}.{member.name}",
            offset=at + number * kind.size + member.offset,
        )
        for number in range(count)
        for member in kind.members
    ]
