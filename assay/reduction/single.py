"""A source with all that it includes, as one text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"].*$', re.M)
_HEADER = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<metal_stdlib>.*\n?", re.M)
_REPEATED = re.compile(
    r"\b(template\s*\[\[[^\]]*\]\]\s*)(?:kernel|\[\[\s*kernel\s*\]\])(\s+)void(\s+)"
    r"(\w+\s*<[^;(){}]*>)\s*\(([^;{}]*)\)\s*;"
)
_ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once.*$", re.M)


def single_text(
    source: str, folder: Path, include_paths: Sequence[Path], macros: Mapping[str, str]
) -> str:
    """The text with macros defined, and files that are found in the place of their `#include`.

    Headers of Metal are not found, and stay.
    """
    defined = "".join(f"#define {name} {value}\n" for name, value in macros.items())
    return defined + _included(source, folder, tuple(include_paths), set())


def _included(source: str, folder: Path, paths: tuple[Path, ...], seen: set[Path]) -> str:
    def replaced(found: re.Match[str]) -> str:
        for each in (folder, *paths):
            path = (each / found[1]).resolve()
            if path.is_file():
                if path in seen:
                    return ""
                text = path.read_text(errors="replace")
                if _ONCE.search(text):
                    seen.add(path)
                return _ONCE.sub("", _included(text, path.parent, paths, seen))
        return found[0]

    return _INCLUDE.sub(replaced, source)


def without_header(source: str) -> tuple[str, str]:
    """What includes Metal's library, and the text without it: a file for Macs needs it."""
    found = _HEADER.search(source)
    return (found[0].strip() + "\n" if found else ""), _HEADER.sub("", source)


def by_type(source: str) -> str:
    """A text whose instantiations of kernels do not repeat parameters, with the lines that it had:
    else parameters that are removed would stay in them.
    """

    def shorter(found: re.Match[str]) -> str:
        lines = "\n" * found[5].count("\n")
        return f"{found[1]}[[kernel]]{found[2]}decltype({found[4]}){found[3]}{found[4]};{lines}"

    return _REPEATED.sub(shorter, source)
