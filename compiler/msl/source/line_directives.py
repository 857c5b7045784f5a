"""What a source's own `#line` directives say: generated MSL names the texts it was made of."""

from __future__ import annotations

import re

_ESCAPED = re.compile(rb"\\([0-7]{1,3}|.)", re.S)
_CONTROL = {b"t": b"\t", b"n": b"\n"}
_DIRECTIVE = re.compile(r'[ \t]*#[ \t]*(?:line[ \t]+)?(\d{1,6})[ \t]+"((?:[^"\\]|\\.)*)"')


def named_texts(source: str, file_name: str) -> dict[str, str]:
    """The texts of `source` by the names its `#line` directives give them.

    Each text has its lines at the numbers that diagnostics use; what comes before the first
    directive is `file_name`'s.
    """
    texts: dict[str, dict[int, str]] = {file_name: {}}
    name, number = file_name, 1
    for line in source.split("\n"):
        directive = _DIRECTIVE.match(line)
        if directive:
            name, number = unescaped(directive[2]), int(directive[1])
            continue
        texts.setdefault(name, {})[number] = line
        number += 1
    return {name: _padded(lines) for name, lines in texts.items()}


def unescaped(name: str) -> str:
    """A file's name as it is, from between the quotes of a directive: the preprocessor writes bytes
    beyond ASCII as octal numbers.
    """
    if "\\" not in name:
        return name
    raw = _ESCAPED.sub(lambda found: _meant(found[1]), name.encode())
    return raw.decode("utf-8", "replace")


def _meant(escape: bytes) -> bytes:
    if escape[0] in b"01234567":
        return bytes([int(escape, 8) & 0xFF])
    return _CONTROL.get(escape, escape)


def _padded(lines: dict[int, str]) -> str:
    """The lines at their numbers, from 1 on, with empty ones between."""
    return "\n".join(lines.get(number, "") for number in range(1, max(lines, default=0) + 1))
