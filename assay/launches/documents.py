"""TOML about kernels, from a file of its own or from `//!` lines of a source.

Knows where each key stands, for messages; what the tables say is for those who read them.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .errors import LaunchInputError

_TABLES = ("kernel", "suppress")
_DEEP = re.compile(r"[\[{](?:\s*[\[{]){99}")  # brackets in a row
_ANNOTATION = re.compile(r"\s*//!(.*)")
_HEADER = re.compile(r"\s*\[\[?\s*(?:kernel\s*\.|suppress)")


class Document:
    """Tables, the folder that files in them are relative to, and what messages need.

    Args:
        text: the TOML.
        name: of the file that it stands in.
        folder: where that file is.

    Raises:
        LaunchInputError: if it is not valid TOML, or has tables of other names.
    """

    def __init__(self, text: str, name: str, folder: Path) -> None:
        self.folder = folder
        self._lines = text.split("\n")
        self._name = name
        self._tables = _parsed(text, name)
        self.only_keys(self._tables, _TABLES, ())

    def get(self, name: str, default: Any) -> Any:
        """What stands in the document under one of its names."""
        return self._tables.get(name, default)

    def table(self, path: tuple[str, ...], value: Any) -> dict[str, Any]:
        """`value`, which is at `path`. Raises LaunchInputError unless it is a table."""
        if not isinstance(value, dict):
            raise self.error(path, "expected a table")
        return value

    def only_keys(
        self, table: Mapping[str, Any], known: Sequence[str], path: tuple[str, ...]
    ) -> None:
        """Raise LaunchInputError for a key that is not known."""
        for key in table:
            if key not in known:
                raise self.error((*path, key), f"unknown key; expected {', '.join(known)}")

    def error(self, path: tuple[str, ...], message: str) -> LaunchInputError:
        """What is wrong with the value at `path`."""
        return LaunchInputError(f"{self.place(path)}: {'.'.join(path)}: {message}")

    def place(self, path: tuple[str, ...], value: str = "") -> str:
        """File and line of a key: the last of its words that can be found, in order."""
        found = 0
        start = 0
        for word in path:
            matching = re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])(?=.*{re.escape(value)})")
            lines = range(start, len(self._lines))
            at = next((n for n in lines if matching.search(self._lines[n])), None)
            if at is not None:
                found, start = at + 1, at
        return f"{self._name}:{found}" if found else self._name


def document_in_file(path: Path) -> Document:
    """The document that a TOML file is. Raises LaunchInputError."""
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise LaunchInputError(f"{path}: cannot be read: {reason}") from None
    return Document(text, str(path), path.parent)


def document_in_source(source: str, file_name: str) -> Document:
    """The document in the `//!` lines of MSL source. Raises LaunchInputError.

    A block of such lines counts if it begins with a header: documentation is written so as well.
    """
    lines: list[str] = []
    inside = False
    for line in source.split("\n"):
        match = _ANNOTATION.match(line)
        if match is None:
            inside = False
        elif _HEADER.match(match[1]):
            inside = True
        lines.append(match[1] if match is not None and inside else "")
    # Empty lines stand for the code, so that line numbers are the source's.
    return Document("\n".join(lines), file_name, Path(file_name).parent)


def is_count(value: Any) -> bool:
    """Whether a value of TOML is a positive integer of a sensible size."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1 << 40


def _parsed(text: str, name: str) -> dict[str, Any]:
    # How deep the parser itself goes depends on the interpreter's limit, which others may change.
    if _DEEP.search(text):
        raise LaunchInputError(f"{name}: the TOML is nested too deeply")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        match = re.fullmatch(r"(.*?) \(at line (\d+), column (\d+)\)", str(error), re.S)
        place, why = (f"{name}:{match[2]}:{match[3]}", match[1]) if match else (name, str(error))
        raise LaunchInputError(f"{place}: not valid TOML: {why}") from None
    except RecursionError:
        raise LaunchInputError(f"{name}: the TOML is nested too deeply") from None
