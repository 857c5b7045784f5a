"""`c ? buffer[i] : float4(0)`: clang finds no common type of a class in device memory and a value.

Which conditional expressions need it only types tell, so they are repaired when clang objects.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..source.layout import columns
from ..source.lexer import Token

_COMPLAINT = re.compile(
    r"(?P<file>.+?):(?P<line>\d+):(?P<column>\d+): error: incompatible operand types"
)
_OPENERS = ("(", "[", "{")
_CLOSERS = (")", "]", "}")
_VALUE = "__assay_value("


def repair(tokens: Sequence[Token], diagnostics: str) -> bool:
    """Make values of both operands of the conditionals that clang names; whether any changed."""
    places = {
        (m["file"], int(m["line"]), int(m["column"]))
        for m in map(_COMPLAINT.match, diagnostics.splitlines())
        if m
    }
    if not places:
        return False
    significant = [token for token in tokens if token.significant]
    starts = columns(tokens)
    changed = False
    for index, token in enumerate(significant):
        if token.text == "?" and (token.file, token.line, starts[id(token)]) in places:
            changed = _wrap(significant, index) or changed
    return changed


def _wrap(tokens: Sequence[Token], question: int) -> bool:
    colon = _end(tokens, question + 1, conditional=True)
    end = _end(tokens, colon + 1, conditional=False)
    if colon >= len(tokens) or tokens[colon].original != ":":
        return False
    for first, last in ((question + 1, colon - 1), (colon + 1, end - 1)):
        tokens[first].text = _VALUE + tokens[first].text
        tokens[last].text += ")"
    tokens[question].text = "? "
    return True


def _end(tokens: Sequence[Token], index: int, *, conditional: bool) -> int:
    """Index of the token that ends an operand: its own `:`, or what closes the expression."""
    depth = nested = 0
    while index < len(tokens):
        text = tokens[index].original
        if text in _OPENERS:
            depth += 1
        elif text in _CLOSERS:
            if depth == 0:
                return index
            depth -= 1
        elif depth == 0:
            if text == "?":
                nested += 1
            elif text == ":":
                if nested == 0:
                    return index
                nested -= 1
            elif text in (",", ";") and not conditional:
                return index
        index += 1
    return index
