"""Template headers: the count of a vector is an `int`, whatever integer the program wrote."""

from __future__ import annotations

from ..source.lexer import TokenStream

_INTEGERS = frozenset(
    {"uint", "ushort", "uchar", "size_t", "short", "char", "uint32_t", "unsigned"}
)


def rewrite_vector_counts(stream: TokenStream) -> None:
    """`template<uint N> ... vec<T, N>` becomes `template<int N> ...`, or N would not be deduced."""
    texts = stream.texts
    if "vec" not in texts:
        return
    for index, text in enumerate(texts):
        if text != "template" or texts[index + 1] != "<":
            continue
        close = stream.close_angle(index + 1)
        if close is None:
            continue
        for position in range(index + 2, close):
            name = texts[position + 1]
            if texts[position] in _INTEGERS and _counts_a_vector(stream, close, name):
                stream.set(position, "int")


def _counts_a_vector(stream: TokenStream, start: int, name: str) -> bool:
    """Whether the declaration after a template header has a `vec<..., name>`."""
    texts = stream.texts
    for index in range(start, len(texts)):
        if texts[index] in ("{", ";"):
            return False
        if texts[index] == "vec" and texts[index + 1] == "<":
            close = stream.close_angle(index + 1)
            if close is not None and texts[close - 1] == name:
                return True
    return False
