"""What the parameters of a template are in an explicit instantiation of it."""

from __future__ import annotations

from collections.abc import Iterator

from ..source.lexer import TokenStream

Brackets = tuple[int, int]
"""Positions of `<` and `>` among the tokens."""


def given_types(stream: TokenStream, header: Brackets, arguments: Brackets) -> dict[str, str]:
    """What is written for each parameter, by its name; those left to their defaults are missing."""
    names = [_name(stream, *part) for part in _parts(stream, header)]
    given = [stream.source(first, last - 1) for first, last in _parts(stream, arguments)]
    return dict(zip(names, given, strict=False))


def _name(stream: TokenStream, first: int, last: int) -> str:
    """The name that a part of a header declares, "" if it has none."""
    found = ""
    for index in range(first, last):
        if stream.texts[index] == "=":
            break
        if stream.tokens[index].kind == "ident":
            found = stream.texts[index]
    return found


def _parts(stream: TokenStream, brackets: Brackets) -> Iterator[tuple[int, int]]:
    """Begin and end of what commas part between brackets."""
    begin = index = brackets[0] + 1
    while index < brackets[1]:
        text = stream.texts[index]
        if text in ("(", "[", "{"):
            index = stream.match[index]
        elif text == "<":
            index = stream.close_angle(index) or index
        elif text == ",":
            yield begin, index
            begin = index + 1
        index += 1
    if begin < brackets[1]:
        yield begin, brackets[1]
