"""How long runs of an Assay module take on a board, and what each device does meanwhile."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.sim.clock import seconds_of

from .replay import Replay, TaskSpan

if TYPE_CHECKING:
    from assay.traces import Trace

FORMAT = "assay-module-time/1"
MACHINES = {"metal": "GPU", "torq": "NPU", "cpu": "CPU"}
"""What a module's devices are on the board."""
Interval = tuple[int, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskTime:
    """A task of one run: begin and end in seconds since the first run's begin."""

    name: str
    machine: str
    run: int
    begin: float
    end: float


@dataclass(frozen=True, kw_only=True, eq=False)
class ModuleTime:
    """How long runs of a module take; prints itself.

    Attributes:
        module: its name.
        model: the device model that ran.
        chip: the GPU.
        runs: how many; `in_flight` how many of them at a time.
        replay: what happened.
        assumptions: what was assumed of inputs.
    """

    module: str
    model: str
    chip: str
    runs: int
    in_flight: int
    replay: Replay = field(repr=False)
    assumptions: tuple[str, ...] = ()

    @property
    def seconds(self) -> float:
        """From the begin of the first run to the end of the last."""
        return seconds_of(self.replay.runs[-1].end)

    @property
    def seconds_per_run(self) -> float:
        """The same, divided by the runs."""
        return self.seconds / self.runs

    @property
    def first_seconds(self) -> float:
        """How long the first run took."""
        first = self.replay.runs[0]
        return seconds_of(first.end - first.begin)

    @property
    def busy(self) -> dict[str, float]:
        """Seconds in which each machine did something."""
        return {
            machine: seconds_of(_length(_union(intervals)))
            for machine, intervals in self._by_machine().items()
        }

    @property
    def overlap(self) -> float:
        """Seconds in which at least two machines did something."""
        edges: list[tuple[int, int]] = []
        for intervals in self._by_machine().values():
            for begin, end in _union(intervals):
                edges += [(begin, 1), (end, -1)]
        total, at_work, since = 0, 0, 0
        for tick, change in sorted(edges):
            if at_work >= 2:
                total += tick - since
            at_work, since = at_work + change, tick
        return seconds_of(total)

    @property
    def tasks(self) -> tuple[TaskTime, ...]:
        """All tasks of all runs, in the order in which they began."""
        ordered = sorted(self.replay.tasks, key=lambda span: (span.begin, span.end))
        return tuple(
            TaskTime(
                name=span.task.name,
                machine=machine_of(span),
                run=span.run,
                begin=seconds_of(span.begin),
                end=seconds_of(span.end),
            )
            for span in ordered
        )

    def trace(self) -> Trace:
        """CPU, GPU, NPU and DRAM on one timeline, in picoseconds of the board's clock."""
        return self.replay.board.trace()

    def save_trace(self, path: str | Path) -> None:
        """Write the timeline: `.html`, `.pftrace` or `.json` by the suffix. Raises TraceError."""
        from assay.traces.files import write_trace

        write_trace(self.trace(), Path(path))

    def to_json(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {
            "format": FORMAT,
            "module": self.module,
            "model": self.model,
            "chip": self.chip,
            "runs": self.runs,
            "in_flight": self.in_flight,
            "seconds": self.seconds,
            "seconds_per_run": self.seconds_per_run,
            "first_seconds": self.first_seconds,
            "busy_seconds": self.busy,
            "overlap_seconds": self.overlap,
            "assumptions": list(self.assumptions),
            "tasks": [
                {
                    "name": each.name,
                    "machine": each.machine,
                    "run": each.run,
                    "begin": each.begin,
                    "end": each.end,
                }
                for each in self.tasks
            ],
        }

    def __str__(self) -> str:
        several = f"{self.runs} runs, {self.in_flight} in flight" if self.runs > 1 else "1 run"
        lines = [
            f"{self.module}: {self.model}",
            f"{several} on {self.chip}: {_ms(self.seconds)}; the first takes "
            f"{_ms(self.first_seconds)}",
        ]
        if self.runs > 1:
            lines.append(f"{_ms(self.seconds_per_run)} per run")
        for machine, seconds in self.busy.items():
            share = seconds / self.seconds if self.seconds else 0.0
            lines.append(f"  {machine:<4} at work {_ms(seconds)} ({share:.0%})")
        lines.append(f"  two or more at work at once: {_ms(self.overlap)}")
        lines += ["the first run's tasks:", *self._listed()]
        return "\n".join([*lines, *(f"assumed: {each}" for each in self.assumptions)])

    def _listed(self) -> Iterable[str]:
        for task in self.tasks:
            if task.run == 0:
                taken = _ms(task.end - task.begin)
                yield f"  {_ms(task.begin):>12}  {task.machine:<4} {taken:>12}  {task.name}"

    def _by_machine(self) -> dict[str, list[Interval]]:
        found: dict[str, list[Interval]] = {}
        for span in self.replay.tasks:
            found.setdefault(machine_of(span), []).append((span.begin, span.end))
        return dict(sorted(found.items()))


def machine_of(span: TaskSpan) -> str:
    """Which machine did a task: the CPU, if it is a copy between devices."""
    return MACHINES["cpu" if span.task.target else span.task.device]


def _union(intervals: Sequence[Interval]) -> list[Interval]:
    found: list[Interval] = []
    for begin, end in sorted(intervals):
        if found and begin <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end)
        else:
            found.append((begin, end))
    return found


def _length(intervals: Sequence[Interval]) -> int:
    return sum(end - begin for begin, end in intervals)


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:,.3f} ms"
