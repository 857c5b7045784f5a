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
    """Raise CompileError at the first use of ray tracing and the like."""
    texts = stream.texts
    for index, text in enumerate(texts):
        if text in _NAMES and _is_used(stream, index):
            raise stream.error(index, f"'{text}': {_NAMES[text]}")
        if text in _ATTRIBUTES and texts[index - 2 : index] == ["[", "["]:
            raise stream.error(index, f"'[[{text}]]': {_ATTRIBUTES[text]}")


def _is_used(stream: TokenStream, index: int) -> bool:
    """Whether a name is used as a type or namespace."""
    following = index + 1
    if following >= len(stream.texts):
        return False
    return stream.texts[following] in ("<", "::", ";", ">") or (
        stream.tokens[following].kind == "ident"
    )
