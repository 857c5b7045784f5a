"""Where the cycles of an NPU run went: what each unit did, or what it waited for.

A unit's time is divided by cause: it works, it waits for a unit that feeds it or takes from it, for
its configuration, for DMA, or it has nothing to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.traces.kinds import BUSY, CONFIGURATION, CONSUMER, DMA_WAIT, IDLE, PRODUCER, UNIT

from .device.events import Work
from .intervals import Interval, common, length, union, without

DMA_UNITS = ("XR", "XW", "CDMA")
SLICES = ("SLC0", "SLC1")
UNITS = ("NSS", *DMA_UNITS, *SLICES, "CSS")
_FEEDS = ("DEDR", "DEDR1", "DEWR", "DEBR", "DEBR1")


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitTime:
    """Cycles of one unit by cause, all of the run: they sum to its length."""

    unit: str
    causes: dict[str, int]

    @property
    def busy(self) -> int:
        """Cycles at work."""
        return self.causes.get(BUSY, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class NpuTime:
    """Where the cycles of a run went.

    Attributes:
        cycles: from the first to the last event.
        units: by unit, those that did anything.
        both, only_dma, only_compute, neither: cycles by what was going on.
    """

    cycles: int
    units: tuple[UnitTime, ...]
    both: int
    only_dma: int
    only_compute: int
    neither: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """A time in which a unit waits, for what cause, in words."""

    begin: int
    end: int
    cause: str
    text: str


def npu_time(events: Sequence[Work]) -> NpuTime:
    """Figures of a run."""
    begin, end = run_of(events)
    moving = union((w.begin, w.end) for w in events if w.unit in DMA_UNITS)
    computing = union((w.begin, w.end) for w in events if _computes(w))
    both = length(common(moving, computing))
    units = [
        UnitTime(unit=unit, causes=_causes(unit, events))
        for unit in UNITS
        if any(work.unit == unit for work in events)
    ]
    return NpuTime(
        cycles=end - begin,
        units=tuple(units),
        both=both,
        only_dma=length(moving) - both,
        only_compute=length(computing) - both,
        neither=end - begin - length(moving) - length(computing) + both,
    )


def run_of(events: Sequence[Work]) -> Interval:
    """From the first to the last event."""
    begin = min((work.begin for work in events), default=0)
    return begin, max((work.end for work in events), default=0)


def parts(work: Work) -> list[tuple[str, int]]:
    """A slice task's time: the ALU at work, and what the rest of it is due to."""
    duration = work.end - work.begin
    busy = min(dict(work.agents).get("ALU", duration), duration)
    rest = PRODUCER if work.limit in _FEEDS else CONSUMER
    return [(BUSY, busy), (rest, duration - busy)]


def awaited(work: Work) -> str:
    """The cause of a wait of the NSS."""
    return DMA_WAIT if any(name in DMA_UNITS for name in work.waits_for) else UNIT


def waits_of_slice(unit: str, events: Sequence[Work]) -> list[Wait]:
    """Why a slice has no task, as far as somebody is to blame.

    Within a program its configuration is fetched; outside of one the NSS waits for something, or
    fetches the command that will start the slice.
    """
    tasks = union((w.begin, w.end) for w in events if w.unit == unit and w.what == "task")
    programs = union((w.begin, w.end) for w in events if w.unit == unit and w.what == "program")
    found = [
        Wait(begin=begin, end=end, cause=CONFIGURATION, text="configuration")
        for begin, end in without(programs, tasks)
    ]
    working = union([*programs, *tasks])
    waits = sorted((w.begin, w) for w in _of(events, "NSS", "wait"))
    for begin, wait in waits:
        others = [name for name in wait.waits_for if name != unit]
        for first, last in without([(begin, wait.end)], working) if others else ():
            text = f"waits for {', '.join(others)}"
            found.append(Wait(begin=first, end=last, cause=awaited(wait), text=text))
    commands = union((w.begin, w.end) for w in _of(events, "NSS", "program"))
    waiting = union((wait.begin, wait.end) for _, wait in waits)
    for first, last in without(without(commands, waiting), working):
        found.append(Wait(begin=first, end=last, cause=CONFIGURATION, text="NSS commands"))
    return sorted(found, key=lambda wait: wait.begin)


def _of(events: Sequence[Work], unit: str, what: str) -> list[Work]:
    ordered = (work for work in events if work.unit == unit and work.what == what)
    return sorted(ordered, key=lambda work: (work.begin, work.end))


def _computes(work: Work) -> bool:
    return work.unit in (*SLICES, "CSS") and work.what in ("task", "css")


def _causes(unit: str, events: Sequence[Work]) -> dict[str, int]:
    """Cycles of a unit by cause."""
    mine = [work for work in events if work.unit == unit]
    causes: dict[str, int] = {}

    def add(cause: str, cycles: int) -> None:
        if cycles:
            causes[cause] = causes.get(cause, 0) + cycles

    if unit == "NSS":
        for work in mine:
            if work.what == "wait":
                add(awaited(work), work.end - work.begin)
        program = length(union((w.begin, w.end) for w in mine if w.what == "program"))
        add(CONFIGURATION, program - sum(causes.values()))
    elif unit in SLICES:
        for work in mine:
            if work.what == "task":
                for cause, cycles in parts(work):
                    add(cause, cycles)
        for wait in waits_of_slice(unit, events):
            add(wait.cause, wait.end - wait.begin)
    else:
        add(BUSY, length(union((w.begin, w.end) for w in mine)))
    begin, end = run_of(events)
    add(IDLE, end - begin - sum(causes.values()))
    return causes
