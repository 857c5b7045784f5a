"""Names of variables, read in the source where they are declared: bitcode does not have them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from assay.sim.check import Finding

_NAMELESS = "a variable"
_OPENING, _CLOSING = "([{<", ")]}>"
_DECLARATOR = re.compile(r"(?P<name>[A-Za-z_]\w*)\s*(?:\[[^=]*)?$")
_TYPE = re.compile(r"^[A-Za-z_][\w:]*(?:\s*<[^;]*>)?[\s*&]+")


def with_variable(finding: Finding, sources: Mapping[str, str]) -> Finding:
    """The finding with the name of the variable that began without a value, if it can be read."""
    if finding.kind != "uninitialised-read" or finding.memory or len(finding.parties) < 2:
        return finding
    site = finding.parties[1].site
    lines = sources.get(site.file, "").split("\n")
    if not 0 < site.line <= len(lines):
        return finding
    name = declared_name(lines[site.line - 1][max(site.column - 1, 0) :])
    if not name:
        return finding
    return replace(
        finding, message=finding.message.replace(_NAMELESS, f"'{name}'"), memory=f"'{name}'"
    )


def declared_name(text: str) -> str:
    """The variable without a value that the declaration at the start of `text` declares.

    Nothing if there are several, or if it is no declaration.
    """
    declaration = text.partition(";")[0]
    if not _TYPE.match(declaration):
        return ""
    found = [_DECLARATOR.search(part) for part in _split(declaration) if "=" not in part]
    return found[0]["name"] if len(found) == 1 and found[0] is not None else ""


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
