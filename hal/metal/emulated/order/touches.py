"""Who touched which bytes, and where two of them meet."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from assay.sim.simt.run.accesses import Accesses, Spans
from assay.sim.site import Site

from .clock import Clock
from .notes import PassNotes
from .resources import Resource

if TYPE_CHECKING:
    from assay.sim.simt.run.access_sites import AccessSite


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CommandsRun:
    """A committed command buffer: what it is called, and where it was committed."""

    name: str
    site: Site
    clock: Clock


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PassRun:
    """An encoder's commands on their queue, of which they are the `number`-th, from 1 on."""

    queue: int
    number: int
    before: Clock
    notes: PassNotes
    commands: CommandsRun


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Step:
    """A command of a pass: `group` is that of commands of an indirect command buffer."""

    run: PassRun
    what: str
    kernel: str = ""
    number: int = 0
    group: int = 0
    site: Site = field(default_factory=Site)
    tick: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HostStep:
    """Something that the host did, and what it knew to have ended by then."""

    what: str
    site: Site
    clock: Clock


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Way:
    """Bytes that were touched in one way: `spans` are addresses of the process."""

    write: bool
    atomic: bool
    spans: Spans
    sites: tuple[tuple[AccessSite, int, int], ...] = ()

    def site_at(self, address: int) -> AccessSite | None:
        """The line that touched a byte, as well as it is known."""
        around = [site for site, start, end in self.sites if start <= address < end]
        return next(iter(around or [site for site, _, _ in self.sites]), None)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Touch:
    """What one step did to one resource; all bytes lie in low..high."""

    step: Step | HostStep
    resource: Resource
    ways: tuple[Way, ...]
    low: int
    high: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Clash:
    """Two touches that meet at a byte, one of them a write: the later one first."""

    later: Touch
    earlier: Touch
    later_way: Way
    earlier_way: Way
    address: int


def touch(step: Step | HostStep, resource: Resource, ways: Iterable[Way]) -> Touch | None:
    """What a step did to a resource; None for nothing."""
    chosen = tuple(way for way in ways if way.spans.size)
    if not chosen:
        return None
    return Touch(
        step=step,
        resource=resource,
        ways=chosen,
        low=min(int(way.spans[0, 0]) for way in chosen),
        high=max(int(way.spans[-1, 1]) for way in chosen),
    )


def way_of(accesses: Accesses, resource: Resource) -> Way:
    """A kernel's accesses to a resource, at addresses of the process."""
    start = resource.start
    return Way(
        write=accesses.write,
        atomic=accesses.atomic,
        spans=accesses.spans + start,
        sites=tuple((site, low + start, high + start) for site, low, high in accesses.sites),
    )


def span(start: int, size: int) -> Spans:
    """One run of bytes."""
    return np.array([(start, start + size)] if size else np.zeros((0, 2)), np.int64)


def clash(later: Touch, earlier: Touch) -> Clash | None:
    """Where two touches meet, one of them a write and not both atomic."""
    if later.low >= earlier.high or earlier.low >= later.high:
        return None
    for mine in later.ways:
        for other in earlier.ways:
            if not (mine.write or other.write) or (mine.atomic and other.atomic):
                continue
            address = common_byte(mine.spans, other.spans)
            if address is not None:
                return Clash(
                    later=later,
                    earlier=earlier,
                    later_way=mine,
                    earlier_way=other,
                    address=address,
                )
    return None


def common_byte(first: Spans, second: Spans) -> int | None:
    """The first byte that both have."""
    if not first.size or not second.size:
        return None
    at = np.searchsorted(second[:, 1], first[:, 0], side="right")
    inside = at < len(second)
    meets = np.zeros(len(first), bool)
    meets[inside] = second[at[inside], 0] < first[inside, 1]
    found = np.flatnonzero(meets)
    if not found.size:
        return None
    row = int(found[0])
    return int(max(first[row, 0], second[at[row], 0]))
