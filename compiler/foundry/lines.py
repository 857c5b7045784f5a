"""Lines of MSL, broken as people break them."""

from __future__ import annotations

import re
from typing import Final

_WIDTH: Final = 100


def folded(line: str, indent: str, width: int = _WIDTH) -> list[str]:
    """A line at its indent, broken behind commas where it is too long."""
    inner = indent + " " * (len(line) - len(line.lstrip()))
    code = line.strip()
    if len(inner) + len(code) <= width:
        return [inner + code]
    hang = inner + " " * (code.index("(") + 1)
    lines = [inner]
    for part in re.split(r"(?<=,) ", code):
        if len(lines[-1]) + len(part) > width:
            lines[-1] = lines[-1].rstrip()
            lines.append(hang)
        lines[-1] += f"{part} "
    lines[-1] = lines[-1].rstrip()
    return lines
