"""Number literals that MSL has otherwise than C++: `1.0h` is half, `1.0bf` bfloat, `1.0` float.

clang can take literals without a suffix for float, but forgets it where templates are instantiated.
"""

from __future__ import annotations

import re

from ..source.lexer import TokenStream

_HALF = re.compile(r"((?:\d[\d']*\.?[\d']*|\.\d[\d']*)(?:[eE][+-]?\d+)?)[hH]")
_HEXADECIMAL = re.compile(r"(0[xX][\da-fA-F']*\.?[\da-fA-F']*[pP][+-]?\d+)(h|H|bf|BF)")
_BFLOAT = re.compile(r"((?:\d[\d']*\.?[\d']*|\.\d[\d']*)(?:[eE][+-]?\d+)?)(?:bf|BF)")


_PLAIN = re.compile(
    r"(?:\d[\d']*\.[\d']*|\.\d[\d']*)(?:[eE][+-]?\d+)?|\d[\d']*[eE][+-]?\d+"
    r"|0[xX][\da-fA-F']*\.?[\da-fA-F']*[pP][+-]?\d+"
)


def rewrite_literals(stream: TokenStream) -> None:
    """Replace literals by C++ ones of the same type and value."""
    for index, token in enumerate(stream.tokens):
        text = token.text
        if token.kind != "number":
            continue
        if not text.endswith(("h", "H", "f", "F")):
            if _PLAIN.fullmatch(text):
                stream.set(index, f"{text}f")
            continue
        if text.startswith(("0x", "0X")):
            _rewrite_hexadecimal(stream, index)
            continue
        half = _HALF.fullmatch(token.text)
        bfloat = _BFLOAT.fullmatch(token.text)
        if half:
            stream.set(index, f"{_floating(half[1])}f16")
        elif bfloat:
            stream.set(index, f"((__bf16){_floating(bfloat[1])}f)")


def _rewrite_hexadecimal(stream: TokenStream, index: int) -> None:
    """`0x1.8p-3h`: exact in float whenever the shorter type has the value."""
    found = _HEXADECIMAL.fullmatch(stream.tokens[index].text)
    if found:
        type_name = "_Float16" if found[2] in "hH" else "__bf16"
        stream.set(index, f"(({type_name}){found[1]}f)")


def _floating(digits: str) -> str:
    """`digits` with a decimal point or exponent."""
    return digits if re.search(r"[.eE]", digits) else digits + ".0"
