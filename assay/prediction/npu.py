"""How long an NPU takes for executables, and why: runs that were recorded, as results."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.hal.torq.timing import NpuRun
from assay.hw.torq.notes import Notes
from assay.hw.torq.timing.operators import OperatorTime, operator_times
from assay.hw.torq.timing.unit_time import NpuTime, npu_time

from .common import Part, ProgramTime
from .errors import TimeInputError
from .npu_operators import operator_json, run_summary

if TYPE_CHECKING:
    from assay.traces import Trace

FORMAT = "assay-npu-time/1"


@dataclass(frozen=True, kw_only=True, eq=False)
class NpuTimeResult(ProgramTime):
    """How long an executable takes on an NPU, and why; prints itself.

    Attributes:
        program: the executable's name.
        run: what was recorded.
    """

    program: str
    run: NpuRun = field(repr=False)

    @property
    def machine(self) -> str:
        """The NPU's name."""
        return self.run.npu.name

    @cached_property
    def time(self) -> NpuTime:
        """The figures: cycles of each unit by cause and reason, and what went on at once."""
        return npu_time(self.run.events)

    @property
    def cycles(self) -> int:
        """Cycles from the first to the last event of the NPU's units."""
        return self.time.cycles

    @property
    def seconds(self) -> float:
        """Seconds of them."""
        return self.cycles / self.run.machine.clock_hz

    @cached_property
    def operators(self) -> list[OperatorTime]:
        """The operators of the model, if the compiler named them; their cycles sum to `cycles`."""
        return operator_times(self.run.events, self.run.notes)

    @property
    def host_seconds(self) -> float:
        """Seconds that the host worked: copies, starts and interrupts."""
        return self.time.host / self.run.machine.clock_hz

    @property
    def spans(self) -> dict[str, float]:
        """Seconds from the first event to the last: units of the NPU had a program or worked, else
        the host copied or computed, else neither did, as when a program starts or has ended."""
        time = self.time
        cycles = {"npu": time.npu, "host": time.host_work, "gaps": time.gap}
        return {name: each / self.run.machine.clock_hz for name, each in cycles.items()}

    @property
    def causes(self) -> dict[str, float]:
        """Cycles by what was going on; they sum to `cycles`."""
        time = self.time
        return {
            "both": time.both,
            "only_dma": time.only_dma,
            "only_compute": time.only_compute,
            "neither": time.neither,
        }

    @property
    def parts(self) -> tuple[Part, ...]:
        """The units, each over all of the run."""
        return tuple(
            Part(
                name=unit.unit,
                begin=0.0,
                end=self.seconds,
                cycles=self.cycles,
                causes=dict(unit.causes),
            )
            for unit in self.time.units
        )

    @cached_property
    def lram_bytes(self) -> int:
        """Bytes of LRAM that were read or written at all; 0 if accesses were not recorded."""
        used = np.zeros(self.run.machine.lram, np.bool_)
        for access in self.run.accesses:
            if access.memory == "LRAM":
                for start, stop in access.ranges:
                    used[start:stop] = True
        return int(used.sum())

    def to_json(self) -> dict[str, Any]:
        """Everything as plain data: cycles of units by cause and reason."""
        units = self.time.units
        return {
            "format": FORMAT,
            "program": self.program,
            "executable": self.program,
            "machine": self.machine,
            "cycles": self.cycles,
            "seconds": self.seconds,
            "host_seconds": self.host_seconds,
            "span_seconds": self.spans,
            "lram_bytes_touched": self.lram_bytes,
            "overlap": self.causes,
            "units": {unit.unit: dict(unit.causes) for unit in units},
            "reasons": {unit.unit: dict(unit.reasons) for unit in units},
            "summary": run_summary(self),
            "operators": [operator_json(each) for each in self.operators],
        }

    def __str__(self) -> str:
        from .npu_text import result_text

        return result_text(self)

    def trace(self) -> Trace:
        """The run as a timeline: a track for each unit, and the map of LRAM."""
        from assay.hw.torq.timing.timeline import timeline

        names = [(s.start, s.stop, s.name) for s in self.run.notes.symbols if s.memory == "LRAM"]
        return timeline(
            self.run.events,
            self.run.machine,
            accesses=self.run.accesses,
            symbols=names,
            notes=self.run.notes,
            title=self.program,
        )


class NpuTimer:
    """Keeps the runs of executables that happen while it observes; `keeps_accesses` for traces."""

    def __init__(self, *, keeps_accesses: bool = True) -> None:
        self.keeps_accesses = keeps_accesses
        self._lock = threading.Lock()
        self._runs: list[NpuRun] = []

    def npu_ran(self, run: NpuRun) -> None:
        """An executable was run."""
        with self._lock:
            self._runs.append(run)

    @property
    def results(self) -> tuple[NpuTimeResult, ...]:
        """A result for each run, in order."""
        with self._lock:
            return tuple(NpuTimeResult(program=run.program, run=run) for run in self._runs)

    def whole(self, program: str) -> NpuTimeResult:
        """All runs as one, called `program` if there are several.

        Raises TimeInputError if no executable was run.
        """
        results = self.results
        if not results:
            raise TimeInputError(f"{program} ran nothing on the NPU")
        if len(results) == 1:
            return results[0]
        runs = [result.run for result in results]
        joined = replace(
            runs[0],
            program=program,
            end=runs[-1].end,
            events=tuple(event for run in runs for event in run.events),
            accesses=tuple(access for run in runs for access in run.accesses),
            notes=_joined([run.notes for run in runs]),
            failed=runs[-1].failed,
        )
        return NpuTimeResult(program=program, run=joined)


def _joined(notes: Sequence[Notes]) -> Notes:
    """What is known of runs one after the other, in their order."""
    return Notes(
        symbols=tuple(each for one in notes for each in one.symbols),
        slice_runs=tuple(each for one in notes for each in one.slice_runs),
        transfers=tuple(each for one in notes for each in one.transfers),
        operators=tuple(each for one in notes for each in one.operators),
    )
