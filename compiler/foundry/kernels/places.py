"""Code of a source without its comments, and what a place in it is called."""

from __future__ import annotations

import re
from typing import Final

_COMMENT_OR_STRING: Final = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', re.DOTALL)
_LINE: Final = re.compile(r'^#line (\d+) "(.*)"', re.MULTILINE)


def code_of(text: str) -> str:
    """The text with comments and strings blanked; every other character stays where it is."""
    return _COMMENT_OR_STRING.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def place_of(text: str, at: int) -> str:
    """File and line of a character, by the directives in front of it."""
    number, file, begin = 1, "", 0
    for found in _LINE.finditer(text, 0, at):
        number, file, begin = int(found[1]), found[2], found.end() + 1
    line = number + text.count("\n", begin, at)
    return f"{file}:{line}" if file else f"line {line}"
