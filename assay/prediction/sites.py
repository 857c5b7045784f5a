"""Cycles by line and by function of the user's own source.

An instruction belongs to the innermost place that is in the source: what comes from the standard
library counts for the line that calls it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from assay.sim.site import Site

Causes = dict[str, float]
ELSEWHERE = "elsewhere"
"""What time is called that belongs to no function: a core without work, the launch."""


ELSEWHERE_IS = "cycles of no function: starting threadgroups, and partitions without a simdgroup"


@dataclass(frozen=True, slots=True, kw_only=True)
class LineTime:
    """What one line costs: cycles by cause, in the measure of `DispatchTime.causes`."""

    file: str
    line: int
    causes: Causes

    @property
    def cycles(self) -> float:
        """All causes together."""
        return sum(self.causes.values())

    @property
    def main_cause(self) -> str:
        """The cause of most of it."""
        return max(self.causes, key=lambda cause: self.causes[cause])


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionTime:
    """What one function costs: `causes` in its own lines, `total` with those it calls."""

    name: str
    causes: Causes
    total: float

    @property
    def cycles(self) -> float:
        """All causes together, without the functions it calls."""
        return sum(self.causes.values())


def own_places(site: Site, files: Iterable[str]) -> tuple[Site, ...]:
    """The places of `site` that are in `files`, innermost first; empty if none is."""
    known = set(files)
    return tuple(place for place in (site, *site.inlined) if place.file in known and place.line)


def by_line(
    by_site: Mapping[Site, Mapping[str, float]], files: Iterable[str]
) -> tuple[LineTime, ...]:
    """The lines that cost anything, by file and line; line 0 of no file is what has no place."""
    known = frozenset(files)
    found: dict[tuple[str, int], Causes] = {}
    for site, causes in by_site.items():
        places = own_places(site, known)
        where = (places[0].file, places[0].line) if places else ("", 0)
        _add(found.setdefault(where, {}), causes)
    return tuple(
        LineTime(file=file, line=line, causes=causes)
        for (file, line), causes in sorted(found.items())
        if any(causes.values())
    )


def by_function(
    by_site: Mapping[Site, Mapping[str, float]], files: Iterable[str], kernel: str
) -> tuple[FunctionTime, ...]:
    """The functions that cost anything, the most expensive first."""
    known = frozenset(files)
    own: dict[str, Causes] = {}
    total: dict[str, float] = {}
    for site, causes in by_site.items():
        names = [place.function or kernel for place in own_places(site, known)] or [ELSEWHERE]
        _add(own.setdefault(names[0], {}), causes)
        for name in dict.fromkeys(names):
            total[name] = total.get(name, 0.0) + sum(causes.values())
    found = [
        FunctionTime(name=name, causes=own.get(name, {}), total=cycles)
        for name, cycles in total.items()
        if cycles
    ]
    return tuple(sorted(found, key=lambda each: (-each.cycles, each.name)))


def with_rest(
    by_site: Mapping[Site, Mapping[str, float]], causes: Mapping[str, float]
) -> dict[Site, Mapping[str, float]]:
    """`by_site` with what is left of `causes` at a place that is nowhere."""
    rest = dict(causes)
    for parts in by_site.values():
        for cause, cycles in parts.items():
            rest[cause] = rest.get(cause, 0.0) - cycles
    nowhere = dict(by_site.get(Site(), {}))
    _add(nowhere, {cause: max(0.0, cycles) for cause, cycles in rest.items()})
    return {**by_site, Site(): nowhere}


def _add(into: Causes, causes: Mapping[str, float]) -> None:
    for cause, cycles in causes.items():
        into[cause] = into.get(cause, 0.0) + cycles
