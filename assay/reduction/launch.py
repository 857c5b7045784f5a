"""The `//!` lines that say how a kernel is run, apart from the source that they stand in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

_LINE = re.compile(r"^[ \t]*//!(.*)\n?", re.M)
_HEADER = re.compile(r"\s*\[\[?\s*(?:kernel\s*\.\s*\"?(\w+)|suppress)")
_NUMBER = re.compile(r"(?<![\w.\"@])\d+(?![\w.\"])")


def launch_lines(source: str, kernel: str, arguments: Path | None) -> list[str]:
    """What says how a kernel is run, as lines of TOML; those of a file replace the source's."""
    if arguments is not None:
        lines = _of_kernel(arguments.read_text().split("\n"), kernel)
        if lines:
            folder = arguments.parent.resolve()
            return [re.sub(r'"@(?!/)', f'"@{folder}/', line) for line in lines]
    return _of_kernel([found[1].strip() for found in _LINE.finditer(source)], kernel)


def without_launch(source: str) -> str:
    """A source less its `//!` lines."""
    return _LINE.sub("", source)


def shrunk(lines: list[str]) -> Iterator[list[str]]:
    """The same with one number smaller, the smallest first."""
    for at, line in enumerate(lines):
        for found in _NUMBER.finditer(line.partition("#")[0]):
            number = int(found[0])
            for less in dict.fromkeys((1, 32, number // 4, number // 2)):
                if 0 < less < number:
                    text = f"{line[: found.start()]}{less}{line[found.end() :]}"
                    yield [*lines[:at], text, *lines[at + 1 :]]


def as_comments(lines: list[str]) -> str:
    """Lines of TOML as a source has them."""
    return "".join(f"//! {line}\n" for line in lines)


def _of_kernel(lines: list[str], kernel: str) -> list[str]:
    found, inside = [], False
    for line in lines:
        header = _HEADER.match(line)
        if header is not None:
            inside = header[1] == kernel
        if inside and line.strip() and not line.strip().startswith("#"):
            found.append(line.strip())
    return found
