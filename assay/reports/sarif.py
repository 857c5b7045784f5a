"""Reports as SARIF 2.1.0, which code hosts show beside the lines of a change."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any
from urllib.parse import quote

from assay.sim.check import Finding, Party, UnitPlace
from assay.sim.site import Site

from .kinds import kind_of
from .report import Report
from .suppressions import Suppression
from .text import finding_text

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_LEVELS = {"error": "error", "warning": "warning"}


def report_sarif(report: Report, *, root: Path | None = None) -> dict[str, Any]:
    """The report as a SARIF log with one run.

    Args:
        report: what was found.
        root: files below it are named relative to it; the working directory if None.
    """
    from .. import __version__

    findings, suppressed, _ = report.divided()
    writer = _Writer(report, (root or Path.cwd()).resolve())
    results = [writer.result(finding) for finding in findings]
    results += [writer.result(finding, by) for finding, by in suppressed]
    results += [writer.result(error) for error in report.uncompiled.values()]
    notifications = [_notification("error", text) for text in report.unchecked]
    notifications += [
        _notification("note", f"{kernel.noun} '{kernel.name}': assumed: {text}")
        for kernel in report.kernels
        for text in kernel.assumptions
    ]
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "Assay",
                        "version": __version__,
                        "semanticVersion": __version__,
                        "rules": [_rule(name, writer.checks[name]) for name in writer.rules],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "invocations": [
                    {
                        "executionSuccessful": not report.unchecked,
                        "toolExecutionNotifications": notifications,
                    }
                ],
                "results": results,
            }
        ],
    }


def _notification(level: str, text: str) -> dict[str, Any]:
    return {"level": level, "message": {"text": text}}


def _rule(name: str, check: str) -> dict[str, Any]:
    kind = kind_of(name, check)
    return {
        "id": name,
        "shortDescription": {"text": kind.title},
        "fullDescription": {"text": f"{kind.title}."},
        "help": {"text": kind.help or kind.title, "markdown": kind.help or kind.title},
        "defaultConfiguration": {"level": "error"},
        "properties": {"tags": [kind.check]},
    }


class _Writer:
    """Results, and the rules that they need, in the order of first use."""

    def __init__(self, report: Report, root: Path) -> None:
        self._report = report
        self._root = root
        self.rules: list[str] = []
        self.checks: dict[str, str] = {}

    def result(self, finding: Finding, by: Suppression | None = None) -> dict[str, Any]:
        """One finding, suppressed if `by` says so."""
        if finding.kind not in self.checks:
            self.checks[finding.kind] = finding.check
            self.rules.append(finding.kind)
        related = [
            {**self._location(finding, party), "id": number, "message": {"text": _action(party)}}
            for number, party in enumerate(finding.parties[1:], 1)
            if party.site.file or party.unit is not None
        ]
        result: dict[str, Any] = {
            "ruleId": finding.kind,
            "ruleIndex": self.rules.index(finding.kind),
            "level": _LEVELS.get(finding.severity, "note"),
            "message": {"text": finding_text(finding, self._report)},
            "locations": [self._location(finding, next(iter(finding.parties), None))],
            "partialFingerprints": {"assayFinding/v1": self._fingerprint(finding)},
            "occurrenceCount": finding.count,
        }
        if related:
            result["relatedLocations"] = related
        if by is not None:
            in_source = by.origin.rpartition(":")[0] in self._report.sources
            result["suppressions"] = [
                {
                    "kind": "inSource" if in_source else "external",
                    "justification": by.reason,
                }
            ]
        return result

    def _location(self, finding: Finding, party: Party | None) -> dict[str, Any]:
        """A line, or a file with the unit of the machine that runs it."""
        site = party.site if party is not None and party.site.file else self._kernel_site(finding)
        found = self._line(site)
        if party is not None and party.unit is not None:
            found["logicalLocations"] = [_logical(finding.kernel, party.unit)]
        return found

    def _kernel_site(self, finding: Finding) -> Site:
        """Where the kernel is."""
        kernel = self._report.kernel_of(finding)
        if kernel is None:
            return Site()
        return Site(kernel.file, kernel.line, 1 if kernel.line else 0)

    def _line(self, site: Site) -> dict[str, Any]:
        place: dict[str, Any] = {"artifactLocation": {"uri": self._uri(site.file)}}
        if site.line > 0:
            place["region"] = {"startLine": site.line}
            if site.column > 0:
                place["region"]["startColumn"] = site.column
        return {"physicalLocation": place}

    def _uri(self, file: str) -> str:
        path = Path(file or "unknown")
        full = path if path.is_absolute() else Path.cwd() / path
        resolved = full.resolve()
        if resolved.is_relative_to(self._root):
            return quote(resolved.relative_to(self._root).as_posix())
        return resolved.as_uri()

    def _fingerprint(self, finding: Finding) -> str:
        """The same for the same defect, also after lines were added above it."""
        parts = [finding.kind, finding.kernel, finding.memory]
        for party in finding.parties:
            if party.unit is not None:
                parts += _unit_fingerprint(party.unit, finding)
                continue
            lines = self._report.sources.get(party.site.file, "").split("\n")
            at = party.site.line
            text = lines[at - 1].strip() if 0 < at <= len(lines) else str(at)
            parts += [Path(party.site.file).name, text]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def _logical(program: str, place: UnitPlace) -> dict[str, Any]:
    """A place in a machine: program, task, unit and agent; the address is given apart."""
    steps = [program, f"task[{place.task}]" if place.task >= 0 else "", place.unit, place.agent]
    name = next((step for step in reversed(steps) if step), "program")
    found: dict[str, Any] = {
        "name": name,
        "fullyQualifiedName": ".".join(step for step in steps if step),
        "kind": "module",
    }
    if place.address is not None:
        found["properties"] = {"address": f"{place.address:#x}"}
    return found


def _unit_fingerprint(place: UnitPlace, finding: Finding) -> list[str]:
    """What stays when the program is compiled again: names, and numbers only where none are."""
    what = place.operation or f"task {place.task}, {place.address}"
    return [place.unit, place.agent, what, finding.tensor or str(finding.offset)]


def _action(party: Party) -> str:
    who = party.who()
    return f"{party.what} by {who}" if who else party.what
