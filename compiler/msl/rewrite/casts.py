"""Conversions that clang's own casts refuse: of half to bfloat, and of a program's own vectors."""

from __future__ import annotations

from ..source.lexer import TokenStream

_SIXTEEN = frozenset({"half", "bfloat", "bfloat16_t", "float16_t"})


def rewrite_casts(stream: TokenStream) -> None:
    """`static_cast<T>(x)` of a value goes through a helper; so does `half(x)` beside bfloat."""
    texts = stream.texts
    uses_bfloat = "bfloat" in texts
    vectors = _own_vectors(stream) if "ext_vector_type" in texts else set[str]()
    for index, text in enumerate(texts):
        if text in vectors and texts[index + 1] == "(" and texts[index + 2] != "*":
            stream.set(index, f"__assay_make_vector<{text}>")
            continue
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


def _own_vectors(stream: TokenStream) -> set[str]:
    """Names that `typedef T name __attribute__((ext_vector_type(n)))` and its like declare."""
    texts = stream.texts
    names: set[str] = set()
    for index, text in enumerate(texts):
        if text != "ext_vector_type":
            continue
        start = index - 1
        while texts[start] not in (";", "{", "}", "typedef", "using"):
            start -= 1
        if texts[start] == "using":
            names.add(texts[start + 1])
        elif texts[start] == "typedef":
            while texts[index] != ";":
                index += 1
            before = index - 1
            # The attribute may stand before or behind the name.
            if texts[before] == ")":
                before = stream.match[before] - 2
            names.add(texts[before])
    return names
