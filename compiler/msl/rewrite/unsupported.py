"""Refuses what MSL has and this compiler has not, at the line where the program uses it."""

from __future__ import annotations

from ..source.lexer import TokenStream

_RAY_TRACING = "ray tracing is not supported"
# Types and namespaces that programs do not name their own things after.
_NAMES = {
    "imageblock": "imageblocks and tile functions are not supported",
    "raytracing": _RAY_TRACING,
    "intersector": _RAY_TRACING,
    "intersection_query": _RAY_TRACING,
    "intersection_function_table": _RAY_TRACING,
    "acceleration_structure": _RAY_TRACING,
    "instance_acceleration_structure": _RAY_TRACING,
    "primitive_acceleration_structure": _RAY_TRACING,
    "mesh_grid_properties": "mesh functions are not supported",
}
_ATTRIBUTES = {
    "imageblock_data": _NAMES["imageblock"],
    "object": _NAMES["mesh_grid_properties"],
    "mesh": _NAMES["mesh_grid_properties"],
    "intersection": _RAY_TRACING,
}


def refuse_unsupported(stream: TokenStream) -> None:
    """Report every use of ray tracing and the like."""
    for index, text in enumerate(stream.texts):
        if _is_type(stream, index):
            stream.report(index, f"'{text}': {_NAMES[text]}")
        if _is_attribute(stream, index):
            stream.report(index, f"'[[{text}]]': {_ATTRIBUTES[text]}")


def uses_unsupported(stream: TokenStream, first: int, last: int) -> bool:
    """Whether something that would be reported stands among the tokens first..last."""
    return any(_is_type(stream, at) or _is_attribute(stream, at) for at in range(first, last + 1))


def _is_type(stream: TokenStream, index: int) -> bool:
    return stream.texts[index] in _NAMES and _is_used(stream, index)


def _is_attribute(stream: TokenStream, index: int) -> bool:
    is_known = stream.texts[index] in _ATTRIBUTES
    return is_known and stream.texts[index - 2 : index] == ["[", "["]


def _is_used(stream: TokenStream, index: int) -> bool:
    """Whether a name is used as a type or namespace."""
    following = index + 1
    if following >= len(stream.texts):
        return False
    return stream.texts[following] in ("<", "::", ";", ">") or (
        stream.tokens[following].kind == "ident"
    )
