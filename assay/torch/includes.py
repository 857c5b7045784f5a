"""The headers that come with PyTorch, such as <c10/metal/utils.h>, put into a shader's source."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

_INCLUDE = re.compile(r'\s*#\s*include\s*[<"]([^>"]+)[>"]')
_ONCE = re.compile(r"\s*#\s*pragma\s+once\b")


def with_headers(source: str, name: str) -> str:
    """`source`, called `name` in diagnostics, with each of PyTorch's headers where it is included.

    Each comes once; other includes stay as they are, for the compiler to find.
    """
    return _embedded(source, name, _folder(), set())


def _folder() -> Path:
    """Where the installed PyTorch keeps its headers."""
    return Path(str(import_module("torch").__file__)).parent / "include"


def _embedded(text: str, name: str, folder: Path, seen: set[str]) -> str:
    out = [f'# 1 "{name}"']
    for number, line in enumerate(text.split("\n"), 1):
        header = _header(line, folder)
        if _ONCE.match(line) or header in seen:
            out.append("")
        elif header is None:
            out.append(line)
        else:
            seen.add(header)
            out.append(_embedded((folder / header).read_text(), header, folder, seen))
            out.append(f'# {number + 1} "{name}"')
    return "\n".join(out)


def _header(line: str, folder: Path) -> str | None:
    """The header of PyTorch's that a line includes, or None."""
    match = _INCLUDE.match(line)
    if match is None:
        return None
    path = (folder / match[1]).resolve()
    inside = path.is_relative_to(folder.resolve()) and path.is_file()
    return path.relative_to(folder.resolve()).as_posix() if inside else None
