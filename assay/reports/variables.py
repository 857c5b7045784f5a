"""Names of variables, read in the source where they are declared: bitcode does not have them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from assay.sim.check import Finding
from assay.sim.check.finding import NAMELESS
from assay.sim.site import Site

from .members import member_at, size_of_type

_OPENING, _CLOSING = "([{<", ")]}>"
_DECLARATOR = re.compile(r"(?P<name>[A-Za-z_]\w*)\s*(?P<extent>\[[^=]*)?$")
_TYPE = re.compile(r"^(?:const\s+|thread\s+)*(?P<type>[A-Za-z_][\w:]*(?:\s*<[^;]*>)?)[\s*&]+")
_WORD = re.compile(r"[A-Za-z_]\w*")
_LINES_ABOVE = 60  # where the declaration of a variable is looked for that a line uses


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """A variable as the source declares it."""

    name: str
    type: str
    is_array: bool


def with_variable(finding: Finding, sources: Mapping[str, str]) -> Finding:
    """The finding with the name of the variable that began without a value, if it can be read."""
    if finding.kind != "uninitialised-read" or finding.memory or len(finding.parties) < 2:
        return finding
    site = finding.parties[-1].site
    declared = _declaration(sources.get(site.file, "").split("\n"), site)
    if declared is None:
        return replace(finding, offset=-1)
    name, message = declared.name, finding.message
    if finding.offset >= 0 and declared.is_array:
        size = size_of_type(declared.type, sources.values())
        if size:
            element = f"whose element {finding.offset // size} was not written"
            message = message.replace("which was not written", element)
    elif finding.offset >= 0:
        name += member_at(declared.type, finding.offset, sources.values())
    parties = tuple(
        replace(each, what=each.what.replace(NAMELESS, f"'{name}'")) for each in finding.parties
    )
    message = message.replace(NAMELESS, f"'{name}'")
    return replace(finding, message=message, memory=f"'{name}'", parties=parties)


def _declaration(lines: list[str], site: Site) -> Declared | None:
    """The variable that a place declares, or that it is the first to use a part of."""
    if not 0 < site.line <= len(lines):
        return None
    line = lines[site.line - 1]
    found = declared_variable(line[max(site.column - 1, 0) :])
    if found is not None:
        return found
    used = {match[0] for match in _WORD.finditer(line)}
    for above in reversed(lines[max(site.line - _LINES_ABOVE, 0) : site.line - 1]):
        found = declared_variable(above.strip())
        if found is not None and found.name in used and above.strip().endswith(";"):
            return found
    return None


def declared_variable(text: str) -> Declared | None:
    """The variable without a value that the declaration at the start of `text` declares.

    Nothing if there are several, or if it is no declaration.
    """
    declaration = text.partition(";")[0]
    type = _TYPE.match(declaration)
    if not type or type["type"] in ("return", "goto", "else"):
        return None
    found = [_DECLARATOR.search(part) for part in _split(declaration) if "=" not in part]
    if len(found) != 1 or found[0] is None:
        return None
    return Declared(name=found[0]["name"], type=type["type"], is_array=bool(found[0]["extent"]))


def _split(text: str) -> list[str]:
    """Parts between commas that are in no parentheses."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in _OPENING) - (character in _CLOSING)
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts
