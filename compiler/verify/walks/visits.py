"""Accesses in the iterations of loops in which they are visited between two barriers."""

from __future__ import annotations

from dataclasses import dataclass

from assay.sim.simt.ir.nodes import Instruction

from ..counts import Counts
from ..intervals import Interval, State
from ..study import Study
from ..terms import Expression
from ..values import Values


@dataclass(frozen=True, slots=True, eq=False)
class Visit:
    """An access in the iterations of loops that it is in."""

    access: Instruction
    state: State


def began(study: Study, interval: Interval) -> list[Expression]:
    """Both threads have passed the barrier that an interval begins with."""
    if interval.start is None:
        return []
    return [values.path(interval.start, interval.counts) for values in (study.a, study.b)]


def place(values: Values, visit: Visit) -> Counts:
    """The iterations of all loops around an access of a thread."""
    assert visit.access.block is not None
    own = {loop: count.of(values.thread.name) for loop, count in visit.state}
    return values.counts_at(visit.access.block, own)


def reached(values: Values, visit: Visit, counts: Counts) -> Expression:
    """What holds when a thread comes to an access."""
    assert visit.access.block is not None
    return values.path(visit.access.block, counts)
