"""Pragmas of MSL: the floating-point ones become clang's, those of loops stay, others go."""

from __future__ import annotations

import re

from ..source.lexer import TokenStream

_CONTRACT = re.compile(r"#\s*pragma\s+METAL\s+fp\s+contract\s*\(\s*(\w+)\s*\)")
_MATH_MODE = re.compile(r"#\s*pragma\s+METAL\s+fp\s+math_mode\s*\(\s*(\w+)\s*\)")
_PRAGMA = re.compile(r"#\s*pragma\b")
_KEPT = re.compile(
    r"#\s*pragma\s+(?:clang\s+(?:fp|loop\s+unroll(?:_count)?)|pack|unroll|nounroll)\b"
)


def rewrite_pragmas(stream: TokenStream) -> None:
    """Rewrite or drop every pragma of the text."""
    for token in stream.all:
        if token.kind != "directive" or not _PRAGMA.match(token.text):
            continue
        contract, mode = _CONTRACT.match(token.text), _MATH_MODE.match(token.text)
        if contract:
            token.text = f"#pragma clang fp contract({contract[1]})"
        elif mode:
            setting = "fast" if mode[1] in ("fast", "relaxed") else "on"
            token.text = f"#pragma clang fp contract({setting})"
        elif not _KEPT.match(token.text):
            token.text = ""
