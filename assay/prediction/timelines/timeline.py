"""A timed program as a trace: the host, queues, passes, dispatches, and what a core does.

Times are cycles of the GPU's clock. A core is shown for the first of equal dispatches; what the
others do is the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assay.hal.metal.timed import Dispatched
from assay.hw.apple.system import PassSpan, SubmissionSpan, WorkSpan
from assay.sim.clock import ClockDomain
from assay.traces import Clock, Recorder, Role, Trace
from assay.traces.events import kinds as k

from ..numbers import seconds as seconds_text
from ..result import DispatchResult, TimeResult
from .core_timeline import MOST_ROWS, CoreWriter, shares
from .work_slices import write_work

_LEVELS = ("dram", "slc", "l2", "l1", "threadgroup_memory")


def trace_of(result: TimeResult) -> Trace:
    """The trace of a result. Raises ValueError if what a core does was not kept."""
    if result.dispatches and all(each.time.timeline is None for each in result.dispatches):
        raise ValueError(
            f"{result.program}: no timeline was kept; time it again with timeline=True"
        )
    return _Writer(result).trace()


def _title(result: TimeResult) -> str:
    """What was predicted comes first: the trace lasts longer, with the host and the queue."""
    count = len(result.dispatches)
    what = "predicted" if count == 1 else f"predicted for {count:,} dispatches"
    return f"{seconds_text(result.seconds)} {what}: {result.program} on {result.chip.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tracks:
    """The rows of one queue."""

    buffers: int
    passes: int
    dispatches: int


class _Writer:
    """One result on its way into a recorder."""

    def __init__(self, result: TimeResult) -> None:
        chip = result.chip
        self._result = result
        self._clock = ClockDomain(chip.name, round(chip.clock))
        self._recorder = Recorder(
            Clock.cycles(f"{chip.name} GPU", round(chip.clock)), title=_title(result)
        )
        self._host = self._recorder.track("host", role=Role.HOST)
        self._gpu = -1
        self._queues: dict[int, _Tracks] = {}
        self._by_ident = dict(
            zip(
                (n for n, item in enumerate(result.scheduled.work) if isinstance(item, Dispatched)),
                result.dispatches,
                strict=True,
            )
        )

    def trace(self) -> Trace:
        """Everything, in order."""
        calls = list(self._host_calls())
        for number, buffer in enumerate(self._result.schedule.submissions):
            reference = self._buffer(number, buffer)
            if number < len(calls):
                self._recorder.flow(k.SUBMISSION, calls[number], reference)
        self._counters()
        self._cores()
        return self._recorder.finish()

    def _cycle(self, tick: int) -> int:
        return self._clock.cycle(tick)

    def _host_calls(self) -> Iterator[int]:
        """Write the program's calls; references to its commits."""
        for call in self._result.schedule.host:
            begin, end = self._cycle(call.begin), self._cycle(call.end)
            label = f"command buffer {call.submission}"
            reference = self._recorder.slice(
                k.HOST_CALL,
                self._host,
                call.name,
                begin,
                end - begin,
                receiver="MTLCommandBuffer",
                details=label,
            )
            if call.name == "commit":
                yield reference
            elif end > begin:
                self._recorder.slice(
                    k.HOST_WAIT, self._host, f"wait for {label}", begin, end - begin, k.DEVICE
                )

    def _tracks(self, queue: int) -> _Tracks:
        found = self._queues.get(queue)
        if found is None:
            recorder = self._recorder
            parent = recorder.track(f"queue {queue}", role=Role.QUEUE)
            found = self._queues[queue] = _Tracks(
                buffers=recorder.track("command buffers", parent, Role.COMMAND_BUFFER),
                passes=recorder.track("passes", parent, Role.COMMAND_BUFFER),
                dispatches=recorder.track("dispatches", parent, Role.COMMAND_BUFFER),
            )
        return found

    def _buffer(self, number: int, buffer: SubmissionSpan) -> int:
        """Write one command buffer with all that is in it; a reference to it."""
        tracks = self._tracks(buffer.queue)
        begin, end = self._cycle(buffer.begin), self._cycle(buffer.end)
        reference = self._recorder.slice(
            k.COMMAND_BUFFER,
            tracks.buffers,
            buffer.label,
            begin,
            end - begin,
            index=number,
            commands=sum(len(each.work) for each in buffer.passes),
        )
        done = buffer.begin
        waits = iter([*buffer.waits, (buffer.end, buffer.end)])
        wait = next(waits)
        for index, each in enumerate(buffer.passes):
            while wait[1] <= each.begin and wait[0] < buffer.end:
                self._overhead(tracks, "start of command buffer", k.LAUNCH, done, wait[0])
                self._overhead(tracks, "wait for event", k.EVENT, *wait)
                done, wait = wait[1], next(waits)
            name = "start of command buffer" if index == 0 else "between passes"
            self._overhead(tracks, name, k.LAUNCH, done, each.begin)
            self._pass(tracks, index, each)
            done = each.end
        self._overhead(tracks, "end of command buffer", k.LAUNCH, done, buffer.end)
        return reference

    def _overhead(self, tracks: _Tracks, name: str, cause: str, begin: int, end: int) -> None:
        first, last = self._cycle(begin), self._cycle(end)
        if last > first:
            self._recorder.slice(k.OVERHEAD, tracks.passes, name, first, last - first, cause)

    def _pass(self, tracks: _Tracks, index: int, span: PassSpan) -> None:
        begin, end = self._cycle(span.begin), self._cycle(span.end)
        if end > begin:
            self._recorder.slice(
                k.ENCODER, tracks.passes, span.label, begin, end - begin, index=index
            )
        self._overhead(tracks, "change of pass", k.LAUNCH, span.begin, span.ready)
        for work in span.work:
            self._overhead(tracks, "barrier", k.BARRIER, work.waited_from, work.ready)
            self._overhead(tracks, "launch", k.LAUNCH, work.ready, work.begin)
            self._work(tracks, work)

    def _work(self, tracks: _Tracks, span: WorkSpan) -> None:
        begin, end = self._cycle(span.begin), self._cycle(span.end)
        item = self._result.scheduled.work[span.work.ident]
        write_work(self._recorder, tracks.dispatches, item, begin, end - begin)

    def _counters(self) -> None:
        """Bandwidth by level: the mean of each dispatch, while it runs."""
        steps = sorted(self._bandwidth_steps())
        if not steps:
            return
        parent = self._memory_track()
        emit = self._recorder.counters()
        for level in _LEVELS:
            track = self._recorder.track(level.replace("_", " "), parent, Role.COUNTER, unit="GB/s")
            value = 0.0
            for time, each, change in steps:
                if each == level:
                    value += change
                    emit(track, time, max(0.0, value) / 1e9)

    def _memory_track(self) -> int:
        return self._recorder.track("bandwidth, mean of each dispatch", self._gpu_track(), order=1)

    def _gpu_track(self) -> int:
        if self._gpu < 0:
            self._gpu = self._recorder.track("GPU")
        return self._gpu

    def _bandwidth_steps(self) -> Iterator[tuple[int, str, float]]:
        """(cycle, level, change of the bytes per second) for all dispatches."""
        for buffer in self._result.schedule.submissions:
            for span in (work for each in buffer.passes for work in each.work):
                dispatch = self._by_ident.get(span.work.ident)
                if dispatch is None or span.end <= span.begin:
                    continue
                slowed = span.work.ticks / (span.end - span.begin)
                for level, bandwidth in dispatch.time.achieved_bytes.items():
                    change = bandwidth * slowed
                    yield self._cycle(span.begin), level, change
                    yield self._cycle(span.end), level, -change

    def _cores(self) -> None:
        writer: CoreWriter | None = None
        spans = {
            span.work.ident: (self._cycle(span.begin), self._cycle(span.end))
            for buffer in self._result.schedule.submissions
            for each in buffer.passes
            for span in each.work
        }
        shown = [
            (spans[ident], ident, dispatch)
            for ident, dispatch in self._by_ident.items()
            if dispatch.same_as == dispatch.number
            and dispatch.time.timeline is not None
            and ident in spans
        ]
        shown.sort(key=lambda each: each[:2])
        # A long kernel must not take the room of all that come after it.
        rooms = shares([_slices(dispatch) for _, _, dispatch in shown], MOST_ROWS)
        for (span, ident, dispatch), most in zip(shown, rooms, strict=True):
            if writer is None:
                core = self._recorder.track("core 0", self._gpu_track(), Role.CORE)
                writer = CoreWriter(self._recorder, core)
            item = self._result.scheduled.work[ident]
            assert isinstance(item, Dispatched)
            writer.write(dispatch, item.prediction, span, most)
        if writer is not None:
            writer.finish()


def _slices(dispatch: DispatchResult) -> int:
    """How many slices the timeline of a dispatch has."""
    timeline = dispatch.time.timeline
    return 0 if timeline is None else len(timeline.begin)
