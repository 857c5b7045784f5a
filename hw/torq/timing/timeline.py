"""What an NPU's units did, as a timeline.

Each unit has a track, on which time without work has a cause; below a slice's are its agents, each
as long as it would work alone. LRAM is a map of addresses over time: who wrote a range, until its
last use. Arrows lead from who wrote to who read it. The figures of a run are in `unit_time`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from assay.sim.clock import TICKS_PER_SECOND, ClockDomain
from assay.traces.events.clock import Clock
from assay.traces.events.kinds import (
    AGENT,
    ALLOCATION,
    DATA,
    DEVICE,
    DMA,
    HOST_CALL,
    HOST_WAIT,
    INTERRUPT,
    PROCESSOR_PROGRAM,
    SLICE_PROGRAM,
    TASK,
    UNIT_STEP,
)
from assay.traces.events.schema import Role
from assay.traces.events.trace import Trace
from assay.traces.record.recorder import Recorder

from ..device.events import Access, Work
from ..facts.costs import Machine
from ..notes import NO_NOTES, Notes
from .idle import DMA_UNITS, SLICES, UNITS, idle_of, stream_of
from .memory_map import Life, memory_map
from .operators import labels
from .unit_time import NpuTime, UnitTime, npu_time, parts

__all__ = ["UNITS", "NpuTime", "Symbols", "UnitTime", "npu_time", "timeline", "write_timeline"]

Symbols = Sequence[tuple[int, int, str]]
"""(start, stop, name) of ranges of LRAM."""


def timeline(
    events: Sequence[Work],
    machine: Machine,
    *,
    accesses: Sequence[Access] = (),
    symbols: Symbols = (),
    notes: Notes = NO_NOTES,
    title: str = "",
) -> Trace:
    """The run as a trace: a track for each unit, and the map of LRAM.

    Tasks and transfers are named by the operators that `notes` say they are for.
    """
    recorder = Recorder(Clock.cycles("NPU", machine.clock_hz), title=title)
    named = labels(events, notes)
    _write(_Writer(recorder, events, accesses, symbols, named=named), machine)
    return recorder.finish()


def write_timeline(
    recorder: Recorder,
    events: Sequence[Work],
    machine: Machine,
    *,
    name: str,
    accesses: Sequence[Access] = (),
    symbols: Symbols = (),
) -> None:
    """The run among those of other machines: below the track `name`, in ticks of picoseconds."""
    clock = ClockDomain(name, machine.clock_hz)
    ticks = TICKS_PER_SECOND / machine.clock_hz
    works = [_in_ticks(work, clock, ticks) for work in events]
    touched = [replace(a, begin=clock.edge(a.begin), end=clock.edge(a.end)) for a in accesses]
    _write(_Writer(recorder, works, touched, symbols, name=name, cycle=ticks), machine)


def _in_ticks(work: Work, clock: ClockDomain, ticks: float) -> Work:
    """A piece of work that is given in cycles, in ticks."""
    agents = tuple((agent, round(cycles * ticks)) for agent, cycles in work.agents)
    return replace(work, begin=clock.edge(work.begin), end=clock.edge(work.end), agents=agents)


def _write(writer: _Writer, machine: Machine) -> None:
    writer.host()
    for unit in UNITS:
        writer.unit(unit)
    if writer.has_accesses:
        writer.memory(machine.lram)


class _Writer:
    """Puts a run into a recorder; a cycle takes `cycle` of the recorder's ticks."""

    def __init__(
        self,
        recorder: Recorder,
        events: Sequence[Work],
        accesses: Sequence[Access],
        symbols: Symbols,
        *,
        named: Mapping[tuple[str, int], str] = MappingProxyType({}),
        name: str = "NPU",
        cycle: float = 1,
    ) -> None:
        self._named = named
        self._cycle = cycle
        self._recorder, self._symbols = recorder, symbols
        self._events = sorted(events, key=lambda work: (work.begin, -work.end))
        self._accesses = accesses
        self._root = recorder.track(name) if events else -1
        self._stream = stream_of(self._events)
        self._slices: dict[tuple[str, int], int] = {}

    @property
    def has_accesses(self) -> bool:
        """Whether it is known which memory was touched."""
        return bool(self._accesses)

    def host(self) -> None:
        """The host, which waits for each program of the NSS until its interrupt."""
        programs = [w for w in self._events if w.unit == "NSS" and w.what == "program"]
        if not programs:
            return
        track = self._recorder.track("host", self._root, Role.HOST)
        for work in programs:
            duration = work.end - work.begin
            self._recorder.slice(
                HOST_WAIT, track, "waits for the NPU", work.begin, duration, DEVICE
            )
            if work.limit != "fault":
                self._recorder.instant(INTERRUPT, track, "NSS done", work.end)
        for work in self._events:
            if work.unit == "HOST":
                duration = work.end - work.begin
                self._recorder.slice(HOST_CALL, track, work.what, work.begin, duration)

    def unit(self, unit: str) -> None:
        """The track of a unit, if it did anything."""
        works = [work for work in self._events if work.unit == unit]
        if not works:
            return
        role = Role.DMA if unit in DMA_UNITS else Role.UNIT
        track = self._recorder.track(unit, self._root, role)
        if unit in DMA_UNITS:
            tensors = self._tensors(unit)
            for work in works:
                self._transfer(track, work, tensors)
        elif unit == "NSS":
            programs = [work for work in works if work.what == "program"]
            for index, work in enumerate(programs):
                duration = work.end - work.begin
                self._recorder.slice(TASK, track, "commands", work.begin, duration, index=index)
        elif unit in SLICES:
            self._slice(track, unit, works)
        else:
            for work in works:
                if work.what == "css":
                    self._processor(track, work)
        for idle in idle_of(unit, self._events, self._stream):
            duration = idle.end - idle.begin
            self._recorder.slice(UNIT_STEP, track, idle.text, idle.begin, duration, idle.cause)

    def memory(self, capacity: int) -> None:
        """The map of LRAM, how full it is, and the arrows from who wrote to who read."""
        track = self._recorder.track("LRAM", self._root, Role.MEMORY, capacity=capacity)
        found = memory_map(self._accesses, "LRAM")
        for life in found.lives:
            name = _name(life.start, life.stop, self._symbols)
            self._recorder.slice(
                ALLOCATION,
                track,
                name or f"{life.writer.unit} {life.start:#x}",
                life.begin,
                life.end - life.begin,
                offset=life.start,
                bytes=life.stop - life.start,
            )
        self._fill(found.lives, capacity)
        for writer, reader in found.reads:
            source = self._slices.get((writer.unit, writer.begin))
            destination = self._slices.get((reader.unit, reader.begin))
            if source is not None and destination is not None and source != destination:
                self._recorder.flow(DATA, source, destination)

    def _transfer(self, track: int, work: Work, tensors: Mapping[int, str]) -> None:
        tensor = tensors.get(work.begin, "")
        self._slices[work.unit, work.begin] = self._recorder.slice(
            DMA,
            track,
            self._named.get((work.unit, work.begin)) or f"{work.what} {tensor}".rstrip(),
            work.begin,
            work.end - work.begin,
            bytes=work.size,
            tensor=tensor,
        )

    def _slice(self, track: int, unit: str, works: Sequence[Work]) -> None:
        tasks = [work for work in works if work.what == "task"]
        tensors = self._tensors(unit, writes=True)
        for index, work in enumerate(tasks):
            tensor = tensors.get(work.begin, "")
            named = self._named.get((work.unit, work.begin))
            self._task(track, index, work, named or (f"task: {tensor}" if tensor else "task"))
        for work in tasks:
            for agent, cycles in work.agents:
                below = self._recorder.track(agent, track, Role.UNIT)
                alone = min(cycles, work.end - work.begin)
                name = f"{agent}, the slowest" if agent == work.limit else agent
                self._recorder.slice(AGENT, below, name, work.begin, alone)

    def _task(self, track: int, index: int, work: Work, name: str) -> None:
        cycles = dict(work.agents)
        self._slices[work.unit, work.begin] = self._recorder.slice(
            SLICE_PROGRAM,
            track,
            name,
            work.begin,
            work.end - work.begin,
            task=index,
            alu_cycles=round(cycles.get("ALU", 0) / self._cycle),
            act_cycles=round(cycles.get("ACT", 0) / self._cycle),
        )
        at = work.begin
        for cause, duration in parts(work):
            if duration:
                self._recorder.slice(UNIT_STEP, track, cause, at, duration, cause, task=index)
                at += duration

    def _processor(self, track: int, work: Work) -> None:
        self._slices[work.unit, work.begin] = self._recorder.slice(
            PROCESSOR_PROGRAM,
            track,
            work.limit or "program",
            work.begin,
            work.end - work.begin,
            operation=work.limit,
        )

    def _tensors(self, unit: str, *, writes: bool | None = None) -> dict[int, str]:
        """What is in LRAM where a unit's work touches it, or writes it, by when the work begins."""
        found: dict[int, str] = {}
        for access in self._accesses:
            if writes is not None and access.writes != writes:
                continue
            if access.unit == unit and access.memory == "LRAM":
                for start, stop in access.ranges:
                    found.setdefault(access.begin, _name(start, stop, self._symbols))
        return found

    def _fill(self, lives: Sequence[Life], capacity: int) -> None:
        """Bytes of LRAM that will still be read, over time."""
        changes: dict[int, int] = {}
        for life in lives:
            size = life.stop - life.start
            changes[life.begin] = changes.get(life.begin, 0) + size
            changes[life.end] = changes.get(life.end, 0) - size
        track = self._recorder.track(
            "LRAM in use", self._root, Role.COUNTER, unit="B", capacity=capacity
        )
        used = 0
        for time in sorted(changes):
            used += changes[time]
            self._recorder.counters()(track, time, used)


def _name(start: int, stop: int, symbols: Symbols) -> str:
    """The symbols that a range touches."""
    names = [name for first, last, name in symbols if first < stop and start < last]
    return ", ".join(dict.fromkeys(names))
