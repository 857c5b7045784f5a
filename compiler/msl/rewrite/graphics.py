"""Leaves out vertex, fragment and other rendering functions: a library keeps its compute side.

To be told what is wrong in vertex and fragment functions, they are made functions as others.
"""

from __future__ import annotations

from ..source.attributes import Attributes
from ..source.lexer import TokenStream
from ..source.scopes import Function, Scopes, Statement
from .unsupported import uses_unsupported

_STAGES = frozenset({"vertex", "fragment", "mesh", "object", "intersection"})
_PLAIN_STAGES = frozenset({"vertex", "fragment"})
# Words that stand between a stage's keyword and the start of the declaration.
_SPECIFIERS = frozenset({"static", "inline", "extern", "constexpr"})


def remove_rendering(stream: TokenStream, scopes: Scopes, attributes: Attributes) -> bool:
    """Take the rendering functions of a text out of `stream`; whether there were any.

    They and what only they use (interpolation, imageblocks, rasterisation) are never looked at.
    """
    functions = _rendering(stream, scopes, attributes)
    return _removed(stream, scopes, attributes, functions)


def demote_rendering(stream: TokenStream, scopes: Scopes, attributes: Attributes) -> bool:
    """Make vertex and fragment functions plain ones and take out the others; whether some were.

    Those that use what this compiler has not are taken out, too.
    """
    kept: list[Function] = []
    left_out: list[Function] = []
    for function in _rendering(stream, scopes, attributes):
        words = range(function.start, function.name_index)
        stages = {stream.texts[at] for at in words if not attributes.covers(at)}
        stages.update(attributes.within(function.start, function.name_index))
        is_plain = not stages & (_STAGES - _PLAIN_STAGES)
        is_known = not uses_unsupported(stream, function.start, function.end)
        (kept if is_plain and is_known else left_out).append(function)
    for function in kept:
        for at in range(function.start, function.name_index):
            if stream.texts[at] in _PLAIN_STAGES:
                stream.remove(at, at)
    return _removed(stream, scopes, attributes, left_out) or bool(kept)


def _rendering(stream: TokenStream, scopes: Scopes, attributes: Attributes) -> list[Function]:
    return [
        function
        for function in scopes.functions
        if _renders(stream, attributes, function.start, function.name_index)
    ]


def _removed(
    stream: TokenStream, scopes: Scopes, attributes: Attributes, functions: list[Function]
) -> bool:
    """Take functions and the instantiations of rendering functions out; whether there were any."""
    ranges = [(function.start, function.end) for function in functions]
    ranges += [
        (statement.start, statement.end)
        for statement in scopes.statements
        if _instantiates_rendering(stream, attributes, statement)
    ]
    for first, last in ranges:
        stream.remove(first, last)
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
