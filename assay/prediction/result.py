"""What `assay.time` gives back: every dispatch, the whole, and why it takes so long."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from assay.hal.metal.timed import Dispatched, Scheduled
from assay.hw.apple.facts.accuracy import ModelError, model_error
from assay.hw.apple.facts.chips import Chip
from assay.hw.apple.system import Schedule, WorkSpan
from assay.sim.clock import seconds_of
from assay.sim.site import Site

from .common import Part, ProgramTime
from .sites import FunctionTime, LineTime, by_function, by_line, with_rest

if TYPE_CHECKING:
    from assay.hw.apple.core.result import DispatchTime
    from assay.traces import Trace

    from .picture import Picture


@dataclass(frozen=True, kw_only=True, eq=False)
class DispatchResult:
    """One dispatch of a program.

    Attributes:
        number: position among all dispatches.
        kernel: its name.
        file, line: where the kernel is.
        grid: threadgroups.
        threadgroup: threads of one.
        time: what the core model says: cycles, causes, occupancy, bounds.
        begin, end: seconds since the program's start at which it ran.
        same_as: number of the first dispatch that is equal; its own if there is none before.
        sources: texts of its program by file; another's may have the same names.
    """

    number: int
    kernel: str
    file: str
    line: int
    grid: tuple[int, int, int]
    threadgroup: tuple[int, int, int]
    time: DispatchTime
    begin: float
    end: float
    same_as: int
    sources: Mapping[str, str] = field(repr=False)

    @property
    def cycles(self) -> float:
        """Cycles of the GPU's clock, alone on the GPU."""
        return self.time.cycles

    @property
    def seconds(self) -> float:
        """Seconds, alone on the GPU."""
        return self.time.seconds

    @property
    def model_error(self) -> ModelError:
        """How far off the model was on published measurements of this kind of kernel."""
        return model_error(self.time.kind)

    @cached_property
    def lines(self) -> tuple[LineTime, ...]:
        """Cycles by line of the source; they sum to `cycles`."""
        return by_line(self._by_site, self.sources)

    @cached_property
    def functions(self) -> tuple[FunctionTime, ...]:
        """Cycles by function of the source, the most expensive first; they sum to `cycles`."""
        return by_function(self._by_site, self.sources, self.kernel)

    @property
    def _by_site(self) -> Mapping[Site, Mapping[str, float]]:
        return with_rest(self.time.by_site, self.time.causes)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TimeResult(ProgramTime):
    """How long a program takes on a GPU, and why; prints and plots itself.

    Attributes:
        program: what was timed, for people.
        chip: the GPU.
        dispatches: in the order of encoding.
        scheduled: when everything ran.
        assumptions: what was assumed of the kernel's arguments and of the machine, in sentences.
        simulations: how many dispatches were simulated; the others equal one of them.
        is_cold: whether caches held nothing before, rather than what an equal run left; None for
            programs, whose own history tells.
        otherwise: the result with caches the other way, if that was asked for.
        missed: what of a kernel never ran with the values that were assumed, in sentences.
    """

    program: str
    chip: Chip
    dispatches: tuple[DispatchResult, ...]
    scheduled: Scheduled = field(repr=False)
    assumptions: tuple[str, ...] = ()
    simulations: int = 0
    is_cold: bool | None = None
    otherwise: TimeResult | None = field(default=None, repr=False)
    missed: tuple[str, ...] = ()

    @property
    def schedule(self) -> Schedule:
        """When everything ran, in ticks."""
        return self.scheduled.schedule

    @property
    def cycles(self) -> float:
        """Cycles of all dispatches, each alone on the GPU."""
        return sum(each.cycles for each in self.dispatches)

    @property
    def seconds(self) -> float:
        """Seconds of all dispatches, each alone on the GPU."""
        return sum(each.seconds for each in self.dispatches)

    @property
    def machine(self) -> str:
        """The GPU's name."""
        return self.chip.name

    @property
    def parts(self) -> tuple[Part, ...]:
        """The dispatches, as every result of time has its parts."""
        return tuple(
            Part(name=d.kernel, begin=d.begin, end=d.end, cycles=d.cycles, causes=d.time.causes)
            for d in self.dispatches
        )

    @property
    def gpu_seconds(self) -> float:
        """Seconds in which the GPU works on command buffers, with what it costs to start things."""
        return seconds_of(self.schedule.gpu_ticks)

    @property
    def host_seconds(self) -> float:
        """Seconds until the program sees the end of its last command buffer."""
        return seconds_of(self.schedule.end)

    @property
    def error(self) -> float:
        """Standard error of `seconds` that comes from sampling alone; relative, errors add up."""
        if not self.seconds:
            return 0.0
        return sum(each.seconds * each.time.error for each in self.dispatches) / self.seconds

    @property
    def model_error(self) -> ModelError | None:
        """The model's own error for the kind of kernel that takes most of the time."""
        times: dict[str, float] = {}
        for each in self.dispatches:
            times[each.time.kind] = times.get(each.time.kind, 0.0) + each.seconds
        return model_error(max(times, key=lambda kind: times[kind])) if times else None

    @property
    def flops(self) -> float:
        """Floating-point operations."""
        return sum(each.time.flops for each in self.dispatches)

    @property
    def achieved(self) -> float:
        """Floating-point operations per second, while dispatches run."""
        return self.flops / self.seconds if self.seconds else 0.0

    @property
    def achieved_bytes(self) -> dict[str, float]:
        """Bytes per second by level of memory, while dispatches run."""
        seconds = self.seconds or 1.0
        return {level: moved / seconds for level, moved in self.bytes.items()}

    @property
    def bytes(self) -> dict[str, float]:
        """Bytes moved, by level of memory."""
        found: dict[str, float] = {}
        for each in self.dispatches:
            for level, moved in each.time.bytes.items():
                found[level] = found.get(level, 0.0) + moved
        return found

    @property
    def causes(self) -> dict[str, float]:
        """Cycles by cause, of all dispatches; they sum to `cycles`."""
        found: dict[str, float] = {}
        for each in self.dispatches:
            for cause, cycles in each.time.causes.items():
                found[cause] = found.get(cause, 0.0) + cycles
        return found

    def unique(self) -> tuple[tuple[DispatchResult, int], ...]:
        """Dispatches that differ, each with how many equal it, those that take longest first."""
        counts: dict[int, int] = {}
        for each in self.dispatches:
            counts[each.same_as] = counts.get(each.same_as, 0) + 1
        found = [(self.dispatches[number], count) for number, count in counts.items()]
        return tuple(sorted(found, key=lambda pair: (-pair[0].seconds * pair[1], pair[0].number)))

    def to_json(self) -> dict[str, Any]:
        """Everything as plain data: seconds, cycles, bytes, flops."""
        from .machine_format import result_json

        return result_json(self)

    def __str__(self) -> str:
        from .text import result_text

        return result_text(self)

    def __repr__(self) -> str:
        return str(self)

    def __rich__(self) -> Any:
        from .text import renderable

        return renderable(self)

    def _repr_html_(self) -> str:
        return self.plot().svg

    def plot(self) -> Picture:
        """The roofline with each dispatch, and time by cause; shows itself in notebooks."""
        from .picture import plot

        return plot(self)

    def plot_timeline(
        self, *, dispatch: int = 0, cycles: tuple[float, float] | None = None
    ) -> Picture:
        """What the simdgroups of a dispatch's first threadgroup do, and when.

        `cycles` are counted from its launch. Raises ValueError unless it was timed with
        `timeline=True`, and for a dispatch or cycles that there are not.
        """
        from .timelines.picture import plot_timeline

        return plot_timeline(self, dispatch=dispatch, cycles=cycles)

    def trace(self) -> Trace:
        """The run as a timeline. Raises ValueError unless it was timed with `timeline=True`."""
        from .timelines.timeline import trace_of

        return trace_of(self)


def result_of(
    scheduled: Scheduled,
    *,
    program: str,
    chip: Chip,
    assumptions: tuple[str, ...] = (),
) -> TimeResult:
    """The result of what was scheduled."""
    spans = _spans(scheduled.schedule)
    first: dict[int, int] = {}
    dispatches: list[DispatchResult] = []
    for ident, item in enumerate(scheduled.work):
        if not isinstance(item, Dispatched):
            continue
        number = len(dispatches)
        span = spans.get(ident)
        begin, end = (seconds_of(span.begin), seconds_of(span.end)) if span else (0.0, 0.0)
        dispatches.append(
            DispatchResult(
                number=number,
                kernel=item.kernel,
                file=item.file,
                line=item.line,
                grid=item.grid,
                threadgroup=item.threadgroup,
                time=item.prediction.time,
                begin=begin,
                end=end,
                same_as=first.setdefault(id(item.prediction), number),
                sources=item.sources,
            )
        )
    return TimeResult(
        program=program,
        chip=chip,
        dispatches=tuple(dispatches),
        scheduled=scheduled,
        assumptions=assumptions,
        simulations=len(first),
    )


def _spans(schedule: Schedule) -> dict[int, WorkSpan]:
    """When each piece of work ran, by its `ident`."""
    return {
        span.work.ident: span
        for buffer in schedule.submissions
        for each in buffer.passes
        for span in each.work
    }
