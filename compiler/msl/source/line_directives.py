"""What a source's own `#line` directives say: generated MSL names the texts it was made of."""

from __future__ import annotations

import re

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
            name, number = re.sub(r"\\(.)", r"\1", directive[2]), int(directive[1])
            continue
        texts.setdefault(name, {})[number] = line
        number += 1
    return {name: _padded(lines) for name, lines in texts.items()}


def _padded(lines: dict[int, str]) -> str:
    """The lines at their numbers, from 1 on, with empty ones between."""
    return "\n".join(lines.get(number, "") for number in range(1, max(lines, default=0) + 1))
