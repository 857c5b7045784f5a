"""Runs the kernels of a file as `assay check FILE.metal` does."""

from __future__ import annotations

import functools
from pathlib import Path

from assay.checks import Report, SourceOptions, check_source
from assay.sim.check import Finding

from .cases import Case
from .program import findings_of_program

# `assay check` takes no grid that Metal would refuse; programs may try.
_PROGRAMS = "budget/bugs/grids/"


def findings_of(
    case: Case, checks: frozenset[str], *, seeds: tuple[int, ...] = ()
) -> list[Finding]:
    """What the checks say to the kernel in the natural order and in that of each seed."""
    if case.name.startswith(_PROGRAMS):
        return findings_of_program(case, checks)
    return [f for f in _findings_in(case.path, checks, seeds) if f.kernel == case.kernel]


@functools.lru_cache(maxsize=4)
def _findings_in(path: Path, checks: frozenset[str], seeds: tuple[int, ...]) -> tuple[Finding, ...]:
    """The findings in all kernels of a file: compiled once, its cases follow one another."""
    report = Report(checks, seeds=seeds)
    check_source(path.read_text(), str(path), report, SourceOptions())
    assert not report.problems, report.problems
    return tuple(report.findings)
