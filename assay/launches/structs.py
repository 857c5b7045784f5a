"""Reads plain structs out of MSL source, so that their members get values by name and type.

Only what adds up to the size that the compiler knows is believed; all else is left to the caller.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """Scalars of one type at byte `offset` of a struct: `count` of them.

    `length` is how many of them have a meaning: one less in a vector of three.
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
    name = type_name.split("::")[-1].strip()
    if not name.isidentifier():
        return ()
    for text in sources:
        body = _body(name, _COMMENT.sub(" ", text))
        if body is not None:
            members, total = _laid_out(body)
            return members if total == size else ()
    return ()


def _body(name: str, text: str) -> str | None:
    """What stands between the braces of a struct, or of a typedef for one."""
    direct = re.search(rf"\bstruct\s+(?:alignas\s*\([^)]*\)\s*)?{name}\s*\{{([^{{}}]*)\}}", text)
    found = direct or re.search(rf"\btypedef\s+struct\s*\w*\s*\{{([^{{}}]*)\}}\s*{name}\s*;", text)
    return found[1] if found else None


def _laid_out(body: str) -> tuple[tuple[Member, ...], int]:
    """(members at their offsets, size in bytes); size 0 if one is not understood."""
    members: list[Member] = []
    at, widest = 0, 1
    for statement in _ATTRIBUTE.sub(" ", body).split(";"):
        if not statement.strip():
            continue
        declaration = _DECLARATION.fullmatch(" ".join(statement.split()))
        element = element_of(declaration["type"]) if declaration else None
        if declaration is None or element is None:
            return (), 0
        lanes, alignment = lanes_of(declaration["type"], element.itemsize)
        for text in declaration["names"].split(","):
            declarator = _DECLARATOR.fullmatch(text.strip())
            count = int(declarator["count"] or 1) * lanes if declarator else 0
            if declarator is None or not 0 < count <= _MOST_ELEMENTS:
                return (), 0
            at += -at % alignment
            is_three = lanes == 4 and axes_of(declaration["type"]) == 3 and count == lanes
            members.append(
                Member(
                    name=declarator["name"],
                    element=element,
                    count=count,
                    offset=at,
                    length=3 if is_three else count,
                )
            )
            at += count * element.itemsize
            widest = max(widest, alignment)
    return tuple(members), at + -at % widest
