"""Reports for people: source lines with carets, who did what where, and one summary line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from assay.sim.check import Finding, Party
from assay.sim.site import Site

from .report import NOTHING_RAN, Report

SHOWN = 50
"""Findings that are written out; further ones are counted."""

_SHOWN_ASSUMPTIONS = 12
_SHOWN_KERNELS = 4
_LONGEST_LINE = 160
_BYTES = re.compile(r"\bof (\d+) bytes?\b")


def report_text(report: Report, *, shown: int = SHOWN) -> str:
    """The whole report: findings, what was not checked, suppressions, and a summary."""
    findings, suppressed, unused = report.divided()
    groups = _grouped(findings)
    parts = [finding_text(group[0], report, also=group[1:]) for group in groups[:shown]]
    hidden = sum(len(group) for group in groups[shown:])
    if hidden:
        parts.append(f"... and {_counted(hidden, 'further finding')}")
    parts += [
        f"{_place(kernel.file, kernel.line)}kernel '{kernel.name}' was not checked: "
        f"{kernel.problem}"
        for kernel in report.problems
    ]
    # What the summary says of a run without kernels is not said twice.
    parts += [f"error: {text}" for text in report.obstacles if text != NOTHING_RAN]
    notes = [f"note: {each.origin}: nothing to suppress for '{each}'" for each in unused]
    if report.dropped:
        notes.append(f"note: {_counted(report.dropped, 'further finding')} were not kept")
    if notes:
        parts.append("\n".join(notes))
    parts.append(summary(report, len(findings), len(suppressed)))
    return "\n\n".join(parts)


def summary(report: Report, findings: int, suppressed: int) -> str:
    """One line: how many kernels and findings, and what was looked for."""
    checked = len(report.kernels) - len(report.problems)
    counts = [_counted(checked, "kernel"), _counted(findings, "finding")]
    if suppressed:
        counts.append(f"{suppressed} suppressed")
    if report.problems:
        counts.append(f"{_counted(len(report.problems), 'kernel')} not checked")
    text = ", ".join(counts)
    looked = ", ".join(report.checks) or "nothing"
    seeds = f", seeds {', '.join(map(str, report.seeds))}" if report.seeds else ""
    text += f" (looked for: {looked}{seeds})"
    if not report.kernels:
        text += "\nNo kernel was dispatched: nothing was checked."
    if not findings and checked:
        text += "\nChecked were these runs; other inputs and grids may behave differently."
    return text


def finding_text(finding: Finding, report: Report, *, also: Sequence[Finding] = ()) -> str:
    """One finding: what, both places with their source lines, memory, hint, assumptions.

    `also` has the same in other kernels, which are only named.
    """
    first, *others = finding.parties or (None,)
    head = f"{finding.site}: {finding.severity}: {finding.message} [{finding.kind}]"
    lines = [head, *_excerpt(finding.site, report)]
    if first is not None:
        lines += [f"  {_deed(first)}", *_callers(first)]
    for party in others:
        if party is not None:
            lines.append(f"{party.site}: note: {_deed(party)}")
            lines += [*_excerpt(party.site, report), *_callers(party)]
    lines += [f"  {line}" for line in _facts(finding, report, also)]
    return "\n".join(lines)


def _deed(party: Party) -> str:
    who = party.who()
    return f"{party.what} by {who}" if who else party.what


def _callers(party: Party) -> Iterator[str]:
    for outer in party.site.inlined:
        yield f"    called from {outer.function or 'the kernel'} at {outer}"


def _grouped(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Findings that differ by their kernels alone, as instances of one template do, together."""
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for finding in findings:
        sites = frozenset((p.site.file, p.site.line, p.site.column) for p in finding.parties)
        where = sites if any(file for file, _, _ in sites) else finding.key
        key = (finding.kind, finding.severity, finding.memory, where)
        groups.setdefault(key, []).append(finding)
    return list(groups.values())


def _others(also: Sequence[Finding]) -> str:
    """The kernels that have the same finding."""
    names = list(dict.fromkeys(finding.kernel for finding in also))
    shown = ", ".join(names[:_SHOWN_KERNELS])
    rest = len(names) - _SHOWN_KERNELS
    return f"{shown} and {rest} more" if rest > 0 else shown


def _facts(finding: Finding, report: Report, also: Sequence[Finding]) -> Iterator[str]:
    memory = memory_text(finding)
    if memory:
        yield f"memory: {memory}"
    if finding.kernel:
        times = f", {finding.count} times" if finding.count > 1 else ""
        yield f"kernel: {finding.kernel}{times}"
    if also:
        yield f"the same in: {_others(also)}"
    if finding.hint:
        yield f"hint: {finding.hint}"
    assumptions = report.assumptions_of(finding)
    if assumptions:
        shown = list(assumptions[:_SHOWN_ASSUMPTIONS])
        if len(assumptions) > len(shown):
            shown.append(f"{len(assumptions) - len(shown)} more")
        yield f"assumed: {'; '.join(shown)}"


def memory_text(finding: Finding) -> str:
    """Which memory, and which byte and element of it; empty if none is concerned."""
    if not finding.memory or finding.offset < 0:
        return finding.memory
    sizes = [_BYTES.search(party.what) for party in finding.parties]
    size = next((int(match[1]) for match in sizes if match), 0)
    text = f"{finding.memory}, byte {finding.offset}"
    if size and finding.offset % size == 0:
        text += f" (element {finding.offset // size} of {_counted(size, 'byte')})"
    return text


def _excerpt(site: Site, report: Report) -> Iterator[str]:
    """The source line with its number and a caret; nothing if the text is not known."""
    lines = report.sources.get(site.file, "").split("\n")
    if not 0 < site.line <= len(lines) or not lines[site.line - 1].strip():
        return
    line = lines[site.line - 1].rstrip()[:_LONGEST_LINE]
    yield f"{site.line:5} | {line}"
    if 0 < site.column <= len(line) + 1:
        indent = "".join("\t" if c == "\t" else " " for c in line[: site.column - 1])
        yield f"      | {indent}^"


def _place(file: str, line: int) -> str:
    return f"{file}:{line}: " if file and line else ""


def _counted(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"
