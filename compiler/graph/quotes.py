"""Whether strings in MLIR text end, looked for in one go before a parser reads it.

xDSL's lexer takes exponential time for a long string that has no end or an unknown escape.
"""

from __future__ import annotations

import re

from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Input, Span

_TEXT = re.compile(r'(?:[^"/]++|//[^\n]*+|/|"(?:[^"\\\n\v\f]|\\(?:[nt"\\]|[0-9A-Fa-f]{2}))*+")*+')


def check_quotes(text: str, name: str) -> None:
    """Raises ParseError at the first string that does not end as it should."""
    found = _TEXT.match(text)
    at = found.end() if found else 0
    if at < len(text):
        end = text.find("\n", at)
        span = Span(at, min(len(text) if end < 0 else end, at + 60), Input(text, name))
        raise ParseError(span, "this string does not end, or has an unknown escape")
