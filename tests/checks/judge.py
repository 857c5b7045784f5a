"""Compares what was found with what is marked."""

from __future__ import annotations

from collections.abc import Sequence

from assay.sim.check import Finding
from assay.sim.check.finding import DECLARED

from .cases import Case

_RACES = ("race", "lanes")
_SYMMETRIC = (*_RACES, "barrier", "shuffle")


def complaints(case: Case, findings: Sequence[Finding]) -> list[str]:
    """What is wrong with the findings, one sentence each; empty if they are as marked."""
    wrong = [line for finding in findings for line in _unexpected(case, finding)]
    for line, mark in case.marks.items():
        if mark.word == "BUG" and not any(_names(case, f, line, mark.kinds) for f in findings):
            wrong.append(f"line {line}: no finding of {' or '.join(sorted(mark.kinds))}")
        if mark.word == "WITH" and case.check in _RACES and not _is_party(findings, line):
            wrong.append(f"line {line}: no finding has it as the other side")
    return wrong


def _unexpected(case: Case, finding: Finding) -> list[str]:
    """Why the finding should not be there."""
    lines = _lines(finding)
    if not case.marks:
        return [f"nothing is wrong here, yet there is\n{finding}"]
    marked = [case.marks[line] for line in lines if line in case.marks]
    if len(marked) < len(lines) or not any(finding.kind in mark.kinds for mark in marked):
        return [f"not marked:\n{finding}"]
    return []


def _names(case: Case, finding: Finding, line: int, kinds: frozenset[str]) -> bool:
    """Whether the finding is the one that `line` must have.

    Which of two racing accesses or waiting simdgroups is the later one depends on the schedule; a
    shuffle comes before what its result decides. Of other findings the first party is the place to
    look at.
    """
    lines = _lines(finding)
    return finding.kind in kinds and line in (lines if case.check in _SYMMETRIC else lines[:1])


def _is_party(findings: Sequence[Finding], line: int) -> bool:
    return any(party.site.line == line for finding in findings for party in finding.parties)


def _lines(finding: Finding) -> list[int]:
    """Lines of the kernel that do something; declarations and the host program do not count."""
    parties = [party for party in finding.parties if party.what != DECLARED]
    return [each.site.line for each in parties if not each.site.file.endswith(".py")]
