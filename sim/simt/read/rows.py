"""Marks indices of rows of arrays of arrays, which the optimiser adds up to one offset."""

from __future__ import annotations

import re

from ..ir.operations.marks import IN_ROW

_NAME = rf"@__assay_{IN_ROW.name}_i64"
_ADDRESS = re.compile(
    r"^\s*(?P<name>%\S+) = getelementptr (?:(?:inbounds|nuw|nusw) )*"
    r"\[(?P<count>\d+) x (?P<element>[^,]*)\], ptr(?: addrspace\(\d\))? (?P<base>[^,\s]+), "
    r"(?P<rest>.*)$"
)
_INDEX = re.compile(r"^(?P<start>\s*%\S+ = .*, i64 0, i64 )(?P<index>%[^,\s]+)(?P<rest>.*)$")
_PLACE = re.compile(r", !dbg !\d+")


def mark_rows(text: str) -> str:
    """The unoptimised module `text`, in which an index within a row is told with the row's length.

    A row is an array that lies in another one, or that a pointer to arrays leads to.
    """
    lines: list[str] = []
    places: set[str] = set()  # of arrays that others follow directly
    is_used = False
    for line in text.splitlines():
        if line.startswith("define"):
            places = set()
        match = _ADDRESS.match(line)
        index = _INDEX.match(line) if match is not None else None
        if match is not None and index is not None and match["base"] in places:
            is_used = True
            marked = f"%row.{match['name'][1:]}"
            place = _PLACE.search(index["rest"])
            lines.append(
                f"  {marked} = call i64 {_NAME}(i64 {index['index']}, i64 {match['count']})"
                f"{place[0] if place else ''}"
            )
            line = f"{index['start']}{marked}{index['rest']}"
        if match is not None and _is_row(match):
            places.add(match["name"])
        lines.append(line)
    if is_used:
        lines.append(f"declare i64 {_NAME}(i64, i64) nounwind willreturn memory(none)")
    return "\n".join(lines)


def _is_row(address: re.Match[str]) -> bool:
    """Whether an address is that of one array among several."""
    among = address["rest"].startswith("i64 0, i64 ")
    return address["element"].startswith("[") if among else True
