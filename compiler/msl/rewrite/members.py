"""Members of argument buffers: structs of addresses and textures that hosts encode by numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ..source.attributes import Attributes
from ..source.lexer import TokenStream
from ..source.scopes import ClassScope

SPACES = ("device", "constant", "threadgroup")
_TEXTURE_TYPE = re.compile(r"(?:texture|depth)(?:1d|2d|3d|cube|_buffer)\w*")
_NO_MEMBER = frozenset(
    {"static", "constexpr", "using", "typedef", "friend", "enum", "static_assert"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A member of an argument buffer as the source declares it; `id` is an expression."""

    name: str
    id: str
    kind: str
    space: str


def members_of(
    stream: TokenStream, attributes: Attributes, classes: Mapping[str, ClassScope], type_name: str
) -> tuple[Member, ...]:
    """Members of the struct or template of this name that have numbers; none of other types.

    They are those with `[[id(n)]]`. Without any, all members of a struct that has addresses or
    textures count from 0, if each takes one number: arrays and structs in it are left out.
    """
    owner = classes.get(type_name.partition("<")[0].strip())
    if owner is None:
        return ()
    every = list(_declared(stream, attributes, owner))
    numbered = tuple(member for member, _ in every if member.id)
    if numbered:
        return numbered
    plain = all(_takes_one_number(words, classes) for _, words in every)
    if not plain or all(member.kind == "constant" for member, _ in every):
        return ()
    return tuple(replace(member, id=str(at)) for at, (member, _) in enumerate(every))


def _declared(
    stream: TokenStream, attributes: Attributes, owner: ClassScope
) -> Iterator[tuple[Member, list[str]]]:
    """The members of a struct, and the words of their declarations; `id` is "" of most."""
    for first, last in owner.statements:
        plain = outside_attributes(attributes, first, last - 1)
        words = [stream.texts[index] for index in plain]
        name_at = declared_name(stream, plain)
        if name_at is None or _NO_MEMBER & set(words):
            continue
        points = "*" in words or "&" in words
        member = Member(
            name=stream.texts[name_at],
            id=attributes.within(first, last).get("id", ""),
            kind="buffer" if points else resource_kind(words) or "constant",
            space=next((word for word in words if word in SPACES), ""),
        )
        yield member, words


def _takes_one_number(words: Sequence[str], classes: Mapping[str, ClassScope]) -> bool:
    points = "*" in words or "&" in words
    holds = not points and any(word in classes for word in words)
    return not holds and "[" not in words and "array" not in words and not _has_comma(words)


def _has_comma(words: Sequence[str]) -> bool:
    """Whether several are declared at once: a comma outside of template arguments."""
    depth = 0
    for word in words:
        depth += (word == "<") - (word == ">")
        if word == "," and depth == 0:
            return True
    return False


def outside_attributes(attributes: Attributes, first: int, last: int) -> list[int]:
    """The tokens first..last that stand in no attribute."""
    found: list[int] = []
    index = first
    while index <= last:
        group = attributes.end_of_group(index)
        if group is None:
            found.append(index)
            index += 1
        else:
            index = group + 1
    return found


def declared_name(stream: TokenStream, plain: Sequence[int]) -> int | None:
    """Index of the declared name: the last identifier before array brackets, outside <>."""
    depth = 0
    name: int | None = None
    for index in plain:
        text = stream.texts[index]
        depth += (text == "<") - (text == ">")
        if text == "[":
            break
        if depth == 0 and stream.tokens[index].kind == "ident":
            name = index
    return name


def resource_kind(words: Sequence[str]) -> str:
    """What a type made of these words is: "texture", "sampler", "function_table" or ""."""
    for word in words:
        if _TEXTURE_TYPE.fullmatch(word):
            return "texture"
        if word == "sampler":
            return "sampler"
        if word == "visible_function_table":
            return "function_table"
    return ""
