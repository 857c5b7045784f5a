"""Where the cycles of an NPU run went: what each unit did, or why it did nothing.

A unit's time is divided by cause, as traces have them, and by reason, in words that name who is
waited for: it works, waits for a unit that feeds it or takes from it, or has no work (see `idle`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.traces.events.kinds import BUSY, CONSUMER, PRODUCER

from ..device.events import Work
from ..intervals import common, length, union, without
from .idle import DMA_UNITS, SLICES, UNITS, Idle, idle_of, run_of, stream_of, works_of

_HOST_WORK = ("copy", "code")
_FEEDS = ("DEDR", "DEDR1", "DEWR", "DEBR", "DEBR1")


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitTime:
    """Cycles of one unit, all of the run: those by cause sum to its length, as do those by reason.

    Reasons of work are its causes' names; for those of idleness see `idle`. What is said of a unit
    before its first start follows a colon.
    """

    unit: str
    causes: dict[str, int]
    reasons: dict[str, int]

    @property
    def busy(self) -> int:
        """Cycles at work."""
        return self.causes.get(BUSY, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class NpuTime:
    """Where the cycles of a run went.

    Attributes:
        cycles: from the first to the last event of the NPU's units.
        units: by unit, those that did anything.
        host: cycles that the host worked, also before and behind those, and beside units.
        npu: cycles in which units of the NPU had a program or worked.
        host_work: cycles in which the host copied or computed, and no unit did anything.
        gap: all others from the first event to the last: starts and interrupts.
        both, only_dma, only_compute, neither: cycles by what was going on.
    """

    cycles: int
    units: tuple[UnitTime, ...]
    host: int
    npu: int
    host_work: int
    gap: int
    both: int
    only_dma: int
    only_compute: int
    neither: int


def npu_time(events: Sequence[Work]) -> NpuTime:
    """Figures of a run."""
    begin, end = run_of(events)
    moving = union((w.begin, w.end) for w in events if w.unit in DMA_UNITS)
    computing = union(span for unit in (*SLICES, "CSS") for span in works_of(unit, events))
    both = length(common(moving, computing))
    stream = stream_of(events)
    active = {work.unit for work in events}
    units = union((w.begin, w.end) for w in events if w.unit != "HOST")
    host = union((w.begin, w.end) for w in events if w.unit == "HOST" and w.what in _HOST_WORK)
    alone = length(without(host, units))
    span = max((w.end for w in events), default=0) - min((w.begin for w in events), default=0)
    return NpuTime(
        cycles=end - begin,
        units=tuple(_unit_time(unit, events, stream) for unit in UNITS if unit in active),
        host=length(union((w.begin, w.end) for w in events if w.unit == "HOST")),
        npu=length(units),
        host_work=alone,
        gap=span - length(units) - alone,
        both=both,
        only_dma=length(moving) - both,
        only_compute=length(computing) - both,
        neither=end - begin - length(moving) - length(computing) + both,
    )


def parts(work: Work) -> list[tuple[str, int]]:
    """A slice task's time: the ALU at work, and what the rest of it is due to."""
    duration = work.end - work.begin
    busy = min(dict(work.agents).get("ALU", duration), duration)
    rest = PRODUCER if work.limit in _FEEDS else CONSUMER
    return [(BUSY, busy), (rest, duration - busy)]


def _unit_time(unit: str, events: Sequence[Work], stream: Sequence[Idle]) -> UnitTime:
    causes: dict[str, int] = {}
    reasons: dict[str, int] = {}

    def add(cause: str, reason: str, cycles: int) -> None:
        if cycles:
            causes[cause] = causes.get(cause, 0) + cycles
            reasons[reason] = reasons.get(reason, 0) + cycles

    if unit in SLICES:
        for work in events:
            if work.unit == unit and work.what == "task":
                for cause, cycles in parts(work):
                    add(cause, cause, cycles)
    else:
        add(BUSY, BUSY, length(works_of(unit, events)))
    for idle in idle_of(unit, events, stream):
        add(idle.cause, idle.text, idle.end - idle.begin)
    return UnitTime(unit=unit, causes=causes, reasons=reasons)
