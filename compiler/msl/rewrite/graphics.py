"""Leaves out vertex, fragment and other rendering functions: a library keeps its compute side."""

from __future__ import annotations

from ..source.attributes import Attributes
from ..source.lexer import TokenStream
from ..source.scopes import Scopes, Statement

_STAGES = frozenset({"vertex", "fragment", "mesh", "object", "intersection"})
# Words that stand between a stage's keyword and the start of the declaration.
_SPECIFIERS = frozenset({"static", "inline", "extern", "constexpr"})


def remove_rendering(stream: TokenStream, scopes: Scopes, attributes: Attributes) -> bool:
    """Take the rendering functions of a text out of `stream`; whether there were any.

    They and what only they use (interpolation, imageblocks, rasterisation) are never looked at.
    """
    ranges = [
        (function.start, function.end)
        for function in scopes.functions
        if _renders(stream, attributes, function.start, function.name_index)
    ]
    ranges += [
        (statement.start, statement.end)
        for statement in scopes.statements
        if _instantiates_rendering(stream, attributes, statement)
    ]
    for first, last in ranges:
        stream.remove(first, last)
    if ranges:
        stream.refresh()
    return bool(ranges)


def _renders(stream: TokenStream, attributes: Attributes, start: int, name: int) -> bool:
    """Whether a declaration has a stage as keyword (`vertex T f`) or attribute (`[[vertex]]`)."""
    if any(stage in _STAGES for stage in attributes.within(start, name)):
        return True
    index = start
    while index < name:
        group = attributes.end_of_group(index)
        if group is not None:
            index = group
        elif stream.texts[index] == "template" and stream.texts[index + 1] == "<":
            index = stream.close_angle(index + 1) or index
        elif stream.texts[index] in _STAGES:
            return stream.tokens[index + 1].kind == "ident" or stream.texts[index + 1] == "["
        elif stream.texts[index] not in _SPECIFIERS:
            return False
        index += 1
    return False


def _instantiates_rendering(
    stream: TokenStream, attributes: Attributes, statement: Statement
) -> bool:
    """Whether a statement is `template [[host_name("n")]] vertex T f<args>(...);`."""
    index = statement.start
    while (group := attributes.end_of_group(index)) is not None:
        index = group + 1
    if stream.texts[index] != "template" or stream.texts[index + 1] == "<":
        return False
    return _renders(stream, attributes, index + 1, statement.end)
