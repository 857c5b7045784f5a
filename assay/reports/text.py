"""Reports for people: source lines with carets, who did what where, and one summary line."""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterable, Iterator, Sequence

from assay.sim.check import Finding, Party
from assay.sim.names import LISTED
from assay.sim.site import Site, shown_line

from .report import NOTHING_RAN, KernelRecord, Report

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
        f"{_place(kernel.file, kernel.line)}{kernel.noun} '{kernel.name}' was not checked: "
        f"{kernel.problem}"
        for kernel in report.problems
    ]
    parts += [text for text in (_assumed(report, findings), _missed(report)) if text]
    # What the summary says of a run without kernels is not said twice.
    parts += [_obstacle(text, report) for text in report.obstacles if text != NOTHING_RAN]
    notes = [f"note: {text}" for text in report.notes]
    notes += [f"note: {each.origin}: nothing to suppress for '{each}'" for each in unused]
    if report.dropped:
        notes.append(f"note: {_counted(report.dropped, 'further finding')} were not kept")
    if notes:
        parts.append("\n".join(notes))
    parts.append(summary(report, len(findings), len(suppressed)))
    return "\n\n".join(parts)


def _obstacle(text: str, report: Report) -> str:
    """An error; one of the compiler begins with its place as findings do."""
    error = report.uncompiled.get(text)
    is_placed = error is not None and text.startswith(error.site.file)
    return text if is_placed else f"error: {text}"


def _assumed(report: Report, findings: Sequence[Finding]) -> str:
    """What nobody stated for kernels whose findings do not say it."""
    told = {report.kernel_of(finding) for finding in findings}
    kernels = [each for each in report.kernels if each.assumptions and each not in told]
    lines = [f"assumed for {each.name}: {_some(each.assumptions)}" for each in kernels[:LISTED]]
    if (rest := len(kernels) - LISTED) > 0:
        lines.append(f"assumed for {_counted(rest, 'further kernel')}: see --json")
    return "\n".join(lines)


def _some(assumptions: Sequence[str]) -> str:
    shown = list(assumptions[:_SHOWN_ASSUMPTIONS])
    if len(assumptions) > len(shown):
        shown.append(f"{len(assumptions) - len(shown)} more")
    return "; ".join(shown)


def _missed(report: Report) -> str:
    """Kernels that ran without part of their code, of which clean says nothing then."""
    kernels = [each for each in report.kernels if each.missed]
    lines = [f"{_place(each.file, each.line)}{missed_text(each)}" for each in kernels[:LISTED]]
    if (rest := len(kernels) - LISTED) > 0:
        lines.append(f"... and {_counted(rest, 'further kernel')} of which part never ran")
    return "\n".join(lines)


def missed_text(kernel: KernelRecord) -> str:
    """What of a kernel never ran: a warning if it rests on what nobody stated."""
    said = "; ".join(kernel.missed)
    level = "warning" if kernel.assumed_values else "note"
    state = ", ".join(kernel.assumed_values)
    hint = f": state {state}, as assay inspect --args-template prints it" if state else ""
    return f"{level}: of kernel '{kernel.name}' not all was checked: {said}{hint}"


def summary(report: Report, findings: int, suppressed: int) -> str:
    """One line: how many kernels and findings, and what was looked for."""
    checked = len(report.kernels) - len(report.problems)
    counts = [*_checked(report), _counted(findings, "finding")]
    if suppressed:
        counts.append(f"{suppressed} suppressed")
    if report.problems:
        noun = report.problems[0].noun
        counts.append(f"{_counted(len(report.problems), noun)} not checked")
    files = sum(text in report.uncompiled for text in report.obstacles)
    if files:
        counts.append(f"{_counted(files, 'file')} not compiled")
    text = ", ".join(counts)
    looked = ", ".join(report.checks) or "nothing"
    seeds = f", seeds {', '.join(map(str, report.seeds))}" if report.seeds else ""
    text += f" (looked for: {looked}{seeds})"
    if not report.kernels:
        text += f"\n{'Nothing' if files else 'No kernel was dispatched: nothing'} was checked."
    if not findings and checked:
        what = "inputs and grids" if _has_kernels(report) else "inputs"
        text += f"\nChecked were these runs; other {what} may behave differently."
    return text


def _checked(report: Report) -> list[str]:
    """How many of each sort were checked: kernels, executables."""
    nouns = [kernel.noun for kernel in report.kernels if not kernel.problem]
    every = dict.fromkeys([*nouns, *(kernel.noun for kernel in report.kernels)]) or ["kernel"]
    return [_counted(nouns.count(noun), noun) for noun in every]


def _has_kernels(report: Report) -> bool:
    return any(kernel.noun == "kernel" for kernel in report.kernels)


def finding_text(finding: Finding, report: Report, *, also: Sequence[Finding] = ()) -> str:
    """One finding: what, both places with their source lines, memory, hint, assumptions.

    `also` has the same in other kernels, which are only named.
    """
    first, *others = finding.parties or (None,)
    where = _where(finding, report)
    head = f"{where}{finding.place}: {finding.severity}: {finding.message} [{finding.kind}]"
    lines = [head, *_excerpt(finding.site, report)]
    if first is not None:
        lines += [f"  {_action(first)}"] if _action(first) else []
        lines += _callers(first)
    for party in others:
        if party is not None:
            lines.append(f"{where}{party.place}: note: {_action(party)}")
            lines += [*_excerpt(party.site, report), *_callers(party)]
    lines += [f"  {line}" for line in _facts(finding, report, also)]
    return "\n".join(lines)


def _where(finding: Finding, report: Report) -> str:
    """The file of a program without source lines, as compilers begin their lines."""
    kernel = report.kernel_of(finding) if finding.at.unit else None
    return f"{kernel.file}: " if kernel is not None and kernel.file else ""


def _action(party: Party) -> str:
    who = party.who()
    if party.unit is not None and party.unit.operation:
        return f"{party.what}, in {party.unit.operation}".removeprefix(", ")
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
        kernel = report.kernel_of(finding)
        yield f"{kernel.noun if kernel is not None else 'kernel'}: {finding.kernel}{times}"
    if also:
        yield f"the same in: {_others(also)}"
    if finding.hint:
        yield f"hint: {finding.hint}"
    assumptions = report.assumptions_of(finding)
    if assumptions:
        yield f"assumed: {_some(assumptions)}"


def memory_text(finding: Finding) -> str:
    """Which memory, and which byte and element of it; empty if none is concerned."""
    if finding.bytes_text():
        return finding.bytes_text()
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
    known = report.sources.get(site.file)
    if known is None and site.file.endswith(".py"):
        known = "".join(linecache.getlines(site.file))
    lines = (known or "").split("\n")
    if not 0 < site.line <= len(lines) or not lines[site.line - 1].strip():
        return
    line = lines[site.line - 1].rstrip()[:_LONGEST_LINE]
    yield f"{site.line:5} | {shown_line(line)}"
    if 0 < site.column <= len(line) + 1:
        indent = "".join("\t" if c == "\t" else " " for c in line[: site.column - 1])
        yield f"      | {indent}^"


def _place(file: str, line: int) -> str:
    return f"{file}:{line}: " if file and line else ""


def _counted(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"
