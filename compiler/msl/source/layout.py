"""Where rewritten tokens stand: at the user's columns, which debug information then has.

What became shorter is followed by spaces. Behind what became longer, within braces, a line begins
anew under the number that it has, and the next token is moved to its column.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .lexer import LINE_MARKER, Token

_LAST = 200  # longer lines are macros', whose columns are no user's
_OF_SYSTEM = "3"  # the flag of a file of the system, which a marker without it would lose


def rendered(tokens: Iterable[Token]) -> str:
    """The text that tokens make."""
    return "".join([part for token, lead, _ in laid_out(tokens) for part in (lead, token.text)])


def columns(tokens: Iterable[Token]) -> dict[int, int]:
    """By the identity of each token, its column in the text that they make."""
    return {id(token): column for token, _, column in laid_out(tokens)}


def laid_out(tokens: Iterable[Token]) -> Iterator[tuple[Token, str, int]]:
    """Each token, what stands in front of it, and its column (from 1)."""
    column, depth, is_ours = 1, 0, False
    for token in tokens:
        lead = ""
        text = token.text
        if token.kind == "directive":
            marker = LINE_MARKER.match(text)
            is_ours = is_ours if marker is None else _OF_SYSTEM not in marker[3].split()
        elif token.significant:
            depth += (token.original == "{") - (token.original == "}")
            if text and is_ours and column != token.column <= _LAST:
                lead = _lead(token, column, depth)
                column = token.column if lead else column
        yield token, lead, column
        end = text.rfind("\n")
        column = column + len(text) if end < 0 else len(text) - end


def _lead(token: Token, column: int, depth: int) -> str:
    """What moves a token to its column; "" where that would be a line for nothing."""
    if column < token.column:
        return " " * (token.column - column)
    if depth <= 0:
        return ""
    name = token.file.replace("\\", "\\\\").replace('"', '\\"')
    return f'\n# {token.line} "{name}"\n{" " * (token.column - 1)}'
