"""Where the members of structures lie, as far as their declarations in the source tell."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_SIZES = {
    **dict.fromkeys(("bool", "char", "uchar", "int8_t", "uint8_t"), 1),
    **dict.fromkeys(("short", "ushort", "half", "bfloat", "int16_t", "uint16_t"), 2),
    **dict.fromkeys(("int", "uint", "float", "int32_t", "uint32_t"), 4),
    **dict.fromkeys(("long", "ulong", "size_t", "int64_t", "uint64_t"), 8),
}
_VECTOR = re.compile(r"(?P<packed>packed_)?(?P<element>[a-z]+)(?P<count>[234])$")
_MEMBER = re.compile(r"(?P<name>[A-Za-z_]\w*)\s*(?P<extent>(?:\[\s*\d+\s*\]\s*)*)$")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_DEPTH = 4  # structures in structures


@dataclass(frozen=True, slots=True)
class _Member:
    name: str
    type: str
    start: int
    count: int  # elements, 0 if it is no array
    size: int  # of one element


def size_of_type(type: str, sources: Iterable[str]) -> int:
    """Bytes of a type of MSL or of a structure that a source declares; 0 if it is not known."""
    size, _ = _measure(type, tuple(sources), 0)
    return size


def member_at(type: str, offset: int, sources: Iterable[str]) -> str:
    """The path to the member of a structure at a byte offset, `.index`; "" if it is not known."""
    texts, path = tuple(sources), ""
    for _ in range(_DEPTH):
        members = _members(type, texts, 0)
        found = [m for m in members or () if m.start <= offset < m.start + m.size * max(m.count, 1)]
        if not found:
            return path
        (member,) = found
        offset -= member.start
        path += f".{member.name}"
        if member.count:
            path += f"[{offset // member.size}]"
            offset %= member.size
        type = member.type
    return path


def _measure(type: str, sources: tuple[str, ...], depth: int) -> tuple[int, int]:
    """(size, alignment) in bytes; 0 if they are not known."""
    name = type.removeprefix("metal::")
    if name in _SIZES:
        return _SIZES[name], _SIZES[name]
    vector = _VECTOR.match(name)
    if vector and vector["element"] in _SIZES:
        size, count = _SIZES[vector["element"]], int(vector["count"])
        if vector["packed"]:
            return size * count, size
        whole = size * (4 if count == 3 else count)
        return whole, whole
    members = _members(type, sources, depth)
    if not members:
        return 0, 0
    align = max(_measure(member.type, sources, depth + 1)[1] for member in members)
    last = members[-1]
    end = last.start + last.size * max(last.count, 1)
    return -(-end // align) * align, align


def _members(type: str, sources: tuple[str, ...], depth: int) -> list[_Member] | None:
    """The members of a structure in their order; None if one of them is not understood."""
    body = _body(type, sources)
    if body is None or depth > _DEPTH:
        return None
    members: list[_Member] = []
    start = 0
    for declared, name, count in _declarators(body):
        size, align = _measure(declared, sources, depth + 1)
        if not size:
            return None
        start = -(-start // align) * align
        members.append(_Member(name, declared, start, count, size))
        start += size * max(count, 1)
    return members


def _body(type: str, sources: tuple[str, ...]) -> str | None:
    """What is between the braces of a structure with members only."""
    pattern = re.compile(rf"\bstruct\s+{re.escape(type)}\s*\{{([^{{}}]*)\}}")
    for source in sources:
        found = pattern.search(_COMMENT.sub("", source))
        if found:
            return found[1]
    return None


def _declarators(body: str) -> Iterator[tuple[str, str, int]]:
    """(type, name, elements or 0) of each member; an unknown type where one is not understood."""
    for declaration in body.split(";"):
        words = declaration.strip().split(None, 1)
        if not words:
            continue
        for part in words[1].split(",") if len(words) == 2 else ("",):
            found = _MEMBER.match(part.strip())
            if not found:
                yield "", "", 0
                continue
            count = 1
            extents = [int(each) for each in re.findall(r"\d+", found["extent"])]
            for extent in extents:
                count *= extent
            yield words[0], found["name"], count if extents else 0
