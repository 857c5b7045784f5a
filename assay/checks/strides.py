"""Which assumed values the addresses of findings are made of: strides and counts, most often."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from assay.sim.check import Finding
from assay.sim.simt.analysis.behind import words_behind

from ..launches.structs import members_of

if TYPE_CHECKING:
    from assay.compiler.msl import Argument

    from ..launches.plan import Plan

Line = tuple[str, int]


def resting(
    plan: Plan, findings: Iterable[Finding], sources: Iterable[str]
) -> dict[Line, tuple[str, ...]]:
    """Names of assumed values by the lines of races and bad accesses whose addresses use them."""
    assumed = plan.assumed_values
    lines = {
        (party.site.file, party.site.line)
        for finding in findings
        if finding.check in ("race", "bounds")
        for party in finding.parties
    }
    if not assumed or not lines:
        return {}
    arguments = plan.kernel.arguments
    numbers = {n for n, argument in enumerate(arguments) if argument.name in assumed}
    function = plan.kernel.program().function
    texts = tuple(sources)
    found: dict[Line, tuple[str, ...]] = {}
    for line in lines:
        words = words_behind(function, {line}, numbers)
        names = {
            name
            for number, offset, size in sorted(words)
            for name in _names(arguments[number], offset, size, assumed, texts)
        }
        if names:
            found[line] = tuple(sorted(names))
    return found


def _names(
    argument: Argument,
    offset: int,
    size: int,
    assumed: dict[str, tuple[str, ...]],
    sources: tuple[str, ...],
) -> list[str]:
    """The argument, or those of its members that lie in the bytes and were assumed."""
    members = assumed[argument.name]
    if not members or offset < 0:
        return [argument.name]
    return [
        f"{argument.name}.{member.name}"
        for member in members_of(argument.type_name, argument.size, sources)
        if member.name in members
        and member.offset < offset + size
        and offset < member.offset + member.count * member.element.itemsize
    ]
