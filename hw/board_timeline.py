"""The machines of a board on one timeline, in picoseconds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from assay.traces import Clock, Recorder, Role, Trace
from assay.traces.events import kinds as k

from .apple.system import PassSpan, Schedule, SubmissionSpan
from .processor import Span
from .torq.device.device import Device
from .torq.timing.timeline import write_timeline


class BoardTimeline:
    """Takes one machine after the other."""

    def __init__(self, title: str) -> None:
        self._recorder = Recorder(Clock.picoseconds(), title=title)

    def trace(self) -> Trace:
        """Everything that was taken."""
        return self._recorder.finish()

    def processor(self, name: str, spans: Sequence[Span]) -> None:
        """A processor: what each core did, kernels and copies."""
        root = self._recorder.track(name)
        for span in sorted(spans, key=lambda span: span.begin):
            self._recorder.slice(
                k.HOST_CALL,
                self._recorder.track(f"core {span.core}", root, Role.HOST),
                span.name,
                span.begin,
                span.end - span.begin,
                receiver=span.kind,
                details="",
            )

    def gpu(self, name: str, schedule: Schedule) -> None:
        """A GPU: its program's calls, and for each queue command buffers, passes and work."""
        root = self._recorder.track(name)
        host = self._recorder.track("host", root, Role.HOST)
        for call in schedule.host:
            self._recorder.slice(
                k.HOST_CALL,
                host,
                call.name,
                call.begin,
                call.end - call.begin,
                receiver="MTLCommandBuffer",
                details=f"command buffer {call.submission}",
            )
        for number, span in enumerate(schedule.submissions):
            queue = self._recorder.track(f"queue {span.queue}", root, Role.QUEUE)
            self._submission(queue, number, span)

    def _submission(self, queue: int, number: int, span: SubmissionSpan) -> None:
        recorder = self._recorder
        buffers = recorder.track("command buffers", queue, Role.COMMAND_BUFFER)
        recorder.slice(
            k.COMMAND_BUFFER,
            buffers,
            span.label,
            span.begin,
            span.end - span.begin,
            index=number,
            commands=sum(len(each.work) for each in span.passes),
        )
        passes = recorder.track("passes", queue, Role.COMMAND_BUFFER)
        for index, each in enumerate(span.passes):
            recorder.slice(
                k.ENCODER, passes, each.label, each.begin, each.end - each.begin, index=index
            )
            self._work(queue, each)

    def _work(self, queue: int, span: PassSpan) -> None:
        track = self._recorder.track("dispatches", queue, Role.COMMAND_BUFFER)
        for work in span.work:
            self._recorder.slice(
                k.DISPATCH,
                track,
                work.work.label,
                work.begin,
                work.end - work.begin,
                bytes=work.work.traffic,
            )

    def npu(self, name: str, npu: Device) -> None:
        """An NPU: a track for each unit, with why it had no work."""
        write_timeline(self._recorder, npu.events, npu.machine, name=name, accesses=npu.accesses)

    def dram(self, used: Sequence[tuple[int, str, int]], rate: int, names: Iterable[str]) -> None:
        """Bytes per second of DRAM that each machine uses, over time."""
        root = self._recorder.track("DRAM")
        emit = self._recorder.counters()
        for name in names:
            track = self._recorder.track(
                f"used by {name}", root, Role.COUNTER, unit="B/s", capacity=rate
            )
            emit(track, 0, 0)
            for tick, value in _last_of_each_tick(used, name):
                emit(track, tick, value)


def _last_of_each_tick(
    used: Sequence[tuple[int, str, int]], name: str
) -> Iterable[tuple[int, int]]:
    """What a machine uses from each tick on: shares may change several times in one."""
    return {tick: value for tick, each, value in used if each == name}.items()
