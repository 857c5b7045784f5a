"""Conversions between half and bfloat, which clang's own casts refuse."""

from __future__ import annotations

from .lexer import TokenStream

_SIXTEEN = frozenset({"half", "bfloat", "bfloat16_t", "float16_t"})


def rewrite_casts(stream: TokenStream) -> None:
    """`static_cast<T>(x)` of a value goes through a helper; so does `half(x)` beside bfloat."""
    texts = stream.texts
    uses_bfloat = "bfloat" in texts
    for index, text in enumerate(texts):
        if text == "static_cast" and texts[index + 1] == "<":
            close = stream.close_angle(index + 1)
            if close is not None and texts[close - 1] not in ("*", "&", "&&"):
                stream.set(index, "__assay_static_cast")
        elif text in _SIXTEEN and uses_bfloat:
            _rewrite_sixteen_bit_cast(stream, index)


def _rewrite_sixteen_bit_cast(stream: TokenStream, index: int) -> None:
    """`half(x)` and `(half)x` go through float, which is exact from either 16-bit type."""
    texts = stream.texts
    before = texts[index - 1] if index else ""
    following = texts[index + 1] if index + 1 < len(texts) else ""
    if before == "(" and following == ")" and _casts(stream, index - 1):
        stream.after(index + 1, "(float)")
    elif following == "(" and before in ("=", "(", ",", "+", "-", "*", "/", "return", "?", ":"):
        close = stream.match[index + 1]
        if close > index + 2 and texts[index + 2] not in ("*", "&"):
            stream.set(index, f"__assay_static_cast<{texts[index]}>")


def _casts(stream: TokenStream, paren: int) -> bool:
    """Whether `(half)` at `paren` is a cast: an operand follows, no name stands before."""
    following = stream.tokens[paren + 3] if paren + 3 < len(stream.tokens) else None
    if following is None or not (following.kind in ("ident", "number") or following.text == "("):
        return False
    before = stream.tokens[paren - 1]
    return before.text == "return" or (before.kind == "punct" and before.text not in (")", "]"))
