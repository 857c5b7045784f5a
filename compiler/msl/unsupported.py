"""Refuses what MSL has and this compiler has not, at the line where the program uses it."""

from __future__ import annotations

from .lexer import TokenStream

_TYPES = {
    "imageblock": "imageblocks",
    "intersection_function_table": "ray tracing",
    "instance_acceleration_structure": "ray tracing",
    "primitive_acceleration_structure": "ray tracing",
}
_ASSEMBLY = frozenset({"asm", "__asm", "__asm__"})


def refuse_unsupported(stream: TokenStream) -> None:
    """Raise CompileError at the first use of ray tracing, assembly and the like."""
    texts = stream.texts
    for index, text in enumerate(texts):
        following = texts[index + 1] if index + 1 < len(texts) else ""
        if text in _TYPES and following == "<":
            raise stream.error(index, f"'{text}': {_TYPES[text]} are not supported")
        if text in _ASSEMBLY:
            raise stream.error(index, f"'{text}': assembly is not part of MSL")
