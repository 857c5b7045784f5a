"""Which assumed values the addresses of findings are made of: strides and counts, most often."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from assay.sim.check import Finding
from assay.sim.simt.analysis.behind import words_behind, words_behind_own

from ..launches.structs import members_of

if TYPE_CHECKING:
    from assay.compiler.msl import Argument
    from assay.sim.simt.ir.nodes import Function

    from ..launches.plan import Plan

Line = tuple[str, int]
Behind = Callable[["Function", set[Line], set[int]], set[tuple[int, int, int]]]


def resting(plan: Plan, findings: Iterable[Finding]) -> dict[Line, tuple[str, ...]]:
    """Names of assumed values by the lines of races and bad accesses whose addresses use them."""
    lines = _lines(finding for finding in findings if finding.check in ("race", "bounds"))
    return _names_behind(plan, lines, words_behind)


def resting_own(plan: Plan, findings: Iterable[Finding]) -> dict[Line, tuple[str, ...]]:
    """The same of accesses beyond the kernel's own arrays, and of what counts their indices."""
    lines = _lines(finding for finding in findings if finding.check == "bounds")
    return _names_behind(plan, lines, words_behind_own)


def _lines(findings: Iterable[Finding]) -> set[Line]:
    return {(party.site.file, party.site.line) for finding in findings for party in finding.parties}


def _names_behind(plan: Plan, lines: set[Line], behind: Behind) -> dict[Line, tuple[str, ...]]:
    assumed = plan.assumed_values
    if not assumed or not lines:
        return {}
    arguments = plan.kernel.arguments
    numbers = {n for n, argument in enumerate(arguments) if argument.name in assumed}
    function = plan.kernel.program().function
    found: dict[Line, tuple[str, ...]] = {}
    for line in lines:
        words = behind(function, {line}, numbers)
        names = {
            name
            for number, offset, size in sorted(words)
            for name in _names(arguments[number], offset, size, assumed)
        }
        if names:
            found[line] = tuple(sorted(names))
    return found


def _names(
    argument: Argument,
    offset: int,
    size: int,
    assumed: dict[str, tuple[str, ...]],
) -> list[str]:
    """The argument, or those of its members that lie in the bytes and were assumed."""
    members = assumed[argument.name]
    if not members or offset < 0:
        return [argument.name]
    return [
        f"{argument.name}.{member.name}"
        for member in members_of(argument)
        if member.name in members
        and member.offset < offset + size
        and offset < member.offset + member.count * member.element.itemsize
    ]
