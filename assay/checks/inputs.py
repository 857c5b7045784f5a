"""What files and comments say to checks: how kernels are run, and which findings are accepted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..launches.documents import Document, document_in_file, document_in_source, is_count
from ..launches.inputs import Setup
from ..launches.setups import read_setups
from ..reports.suppressions import Suppression


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """All that a file or the comments of a source say: setups by kernel, and suppressions."""

    setups: Mapping[str, tuple[Setup, ...]] = field(default_factory=dict)
    suppressions: tuple[Suppression, ...] = ()


def read_file(path: Path) -> Inputs:
    """The inputs in a TOML file. Raises CheckInputError."""
    return _inputs(document_in_file(path))


def read_annotations(source: str, file_name: str) -> Inputs:
    """The inputs in the `//!` lines of MSL source. Raises CheckInputError."""
    return _inputs(document_in_source(source, file_name))


def _inputs(document: Document) -> Inputs:
    setups = read_setups(document)
    entries = document.get("suppress", [])
    if not isinstance(entries, list):
        raise document.error(("suppress",), "expected tables [[suppress]]")
    suppressions = tuple(_suppression(document, entry) for entry in entries)
    return Inputs(setups=setups, suppressions=suppressions)


def _suppression(document: Document, entry: Any) -> Suppression:
    table = document.table(("suppress",), entry)
    document.only_keys(table, ("kind", "kernel", "file", "line", "reason"), ("suppress",))
    for key in ("kind", "reason"):
        if not isinstance(table.get(key), str) or not table[key].strip():
            raise document.error(("suppress",), f'each [[suppress]] needs {key} = "..."')
    for key in ("kernel", "file"):
        if not isinstance(table.get(key, ""), str):
            raise document.error(("suppress", key), "expected text")
    if not is_count(table.get("line", 1)):
        raise document.error(("suppress", "line"), "expected a line number")
    return Suppression(
        kind=table["kind"],
        kernel=table.get("kernel", ""),
        file=table.get("file", ""),
        line=table.get("line", 0),
        reason=table["reason"],
        origin=document.place(("suppress", "kind"), table["kind"]),
    )
