"""Queues, command buffers, passes and dispatches over time, as SimPy processes.

A GPU is a link of which each dispatch takes the share that it can use: concurrent ones slow each
other down only when they need more than there is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import simpy
from simpy.events import Event, Process, Timeout

from assay.sim.clock import TICKS_PER_SECOND, Environment, Link, Semaphore, Shared, Steps

from .overheads import Overheads
from .work import (
    Commit,
    EventSignal,
    EventWait,
    HostCall,
    HostSpan,
    Pass,
    PassSpan,
    Schedule,
    Submission,
    SubmissionSpan,
    Work,
    WorkSpan,
)

_TICKS_PER_NS: Final = TICKS_PER_SECOND // 10**9
_WHOLE_GPU: Final = 10**18  # parts of a GPU, so that shares and times round to nothing


def run(
    submissions: Sequence[Submission],
    calls: Sequence[HostCall],
    *,
    costs: Overheads,
    cores: int,
) -> Schedule:
    """When everything happens that `calls` commit; the program itself takes no time."""
    gpu = Gpu(submissions, costs, cores)
    gpu.environment.start(gpu.host(calls))
    gpu.environment.finish()
    return gpu.schedule()


class Gpu:
    """One GPU with the queues that the submissions name.

    On a board it shares `environment`, its time, and `dram` with other machines; work with traffic
    is slowed down while they want more of that than there is.
    """

    def __init__(
        self,
        submissions: Sequence[Submission],
        costs: Overheads,
        cores: int,
        *,
        name: str = "gpu",
        environment: Environment | None = None,
        dram: Shared | None = None,
    ) -> None:
        self.environment = environment if environment is not None else Environment()
        self._submissions = list(submissions)
        self._costs = costs
        self._slots = cores * costs.concurrent_dispatches
        self._machine = Link(self.environment, name, _WHOLE_GPU, beyond=dram)
        self._running = simpy.Resource(self.environment, capacity=costs.concurrent_queues)
        self._events: dict[int, Semaphore] = {}
        self._inboxes: dict[int, simpy.Store] = {}
        self._spans: dict[int, SubmissionSpan] = {}
        self._completed = [self.environment.event() for _ in submissions]
        self._host: list[HostSpan] = []

    def host(self, calls: Sequence[HostCall]) -> Steps:
        """The program: commits at once, waits as long as it takes."""
        for call in calls:
            number, begin = call.submission, self.environment.tick
            if isinstance(call, Commit):
                self._commit(number)
            elif number in self._spans:
                yield self._completed[number]
            name = "commit" if isinstance(call, Commit) else "waitUntilCompleted"
            self._host.append(
                HostSpan(name=name, begin=begin, end=self.environment.tick, submission=number)
            )

    def submit(self, submission: Submission) -> Event:
        """One more command buffer, committed now; what happens when the program sees its end."""
        number = len(self._submissions)
        self._submissions.append(submission)
        self._completed.append(self.environment.event())
        now = self.environment.tick
        self._host.append(HostSpan(name="commit", begin=now, end=now, submission=number))
        self._commit(number)
        return self._completed[number]

    def signal(self, event: int, value: int) -> None:
        """The program signals an event, at once. Raises ValueError if it is there already."""
        self._event(event).signal(value)

    def schedule(self) -> Schedule:
        """What has happened."""
        done = [span for span in self._spans.values() if span.completed >= 0]
        stuck = [number for number, span in self._spans.items() if span.completed < 0]
        return Schedule(submissions=tuple(done), host=tuple(self._host), stuck=tuple(stuck))

    def _commit(self, number: int) -> None:
        submission = self._submissions[number]
        self._spans[number] = SubmissionSpan(
            label=submission.label, queue=submission.queue, committed=self.environment.tick
        )
        inbox = self._inboxes.get(submission.queue)
        if inbox is None:
            inbox = self._inboxes[submission.queue] = simpy.Store(self.environment)
            self.environment.start(self._queue(inbox))
        inbox.put(number)

    def _queue(self, inbox: simpy.Store) -> Steps:
        """Run what is committed to one queue, in order."""
        while True:
            number = yield inbox.get()
            span = self._spans[number]
            arrives = span.committed + self._ns(self._costs.completion) // 2
            if arrives > self.environment.tick:
                yield self._delay(arrives - self.environment.tick)
            with self._running.request() as turn:
                yield turn
                span.begin = self.environment.tick
                yield self._delay(self._ns(self._costs.command_buffer))
                yield from self._steps(self._submissions[number], span)
                span.end = self.environment.tick
            self.environment.start(self._complete(number))

    def _complete(self, number: int) -> Steps:
        """The end reaches the program."""
        costs = self._ns(self._costs.completion)
        yield self._delay(costs - costs // 2)
        self._spans[number].completed = self.environment.tick
        self._completed[number].succeed()

    def _steps(self, submission: Submission, span: SubmissionSpan) -> Steps:
        for step in submission.steps:
            if isinstance(step, Pass):
                yield from self._pass(step, span)
            elif isinstance(step, EventWait):
                begin = self.environment.tick
                yield self._event(step.event).wait(step.value)
                if self.environment.tick > begin:
                    span.waits.append((begin, self.environment.tick))
            elif isinstance(step, EventSignal) and step.value > self._event(step.event).value:
                self._event(step.event).signal(step.value)

    def _pass(self, recorded: Pass, span: SubmissionSpan) -> Steps:
        """One encoder's work: groups one after the other, what is in a group side by side."""
        ran = PassSpan(label=recorded.label, begin=self.environment.tick)
        if span.passes:
            yield self._delay(self._ns(self._costs.pass_change))
        span.passes.append(ran)
        ran.ready = self.environment.tick
        slots = simpy.Resource(self.environment, capacity=self._slots)
        under_way: list[Process] = []
        group: int | None = None
        for work in recorded.work:
            waited_from = self.environment.tick
            if group is not None and work.group != group:
                yield self.environment.all_of(under_way)
                under_way = []
                waited_from = self.environment.tick
                yield self._delay(self._ns(self._costs.barrier))
            group = work.group
            ready = self.environment.tick
            yield self._delay(self._ns(self._costs.dispatch))
            slot = slots.request()
            yield slot
            ran.work.append(
                WorkSpan(
                    work=work, waited_from=waited_from, ready=ready, begin=self.environment.tick
                )
            )
            under_way.append(self.environment.start(self._work(ran.work[-1], slots, slot)))
        yield self.environment.all_of(under_way)
        ran.end = self.environment.tick

    def _work(
        self, span: WorkSpan, slots: simpy.Resource, slot: simpy.resources.resource.Request
    ) -> Steps:
        limit, size = _on_link(span.work)
        traffic = span.work.traffic
        yield self._machine.transfer(size, limit=limit, traffic=traffic).done
        span.end = self.environment.tick
        slots.release(slot)

    def _event(self, number: int) -> Semaphore:
        return self._events.setdefault(number, Semaphore(self.environment, f"event {number}"))

    def _ns(self, nanoseconds: int) -> int:
        return nanoseconds * _TICKS_PER_NS

    def _delay(self, ticks: int) -> Timeout:
        return Timeout(self.environment, ticks)


def _on_link(work: Work) -> tuple[int, int]:
    """(parts of the GPU that it can use, what it moves in all) so that alone it takes its time."""
    limit = max(1, min(_WHOLE_GPU, int(work.share * _WHOLE_GPU)))
    return limit, limit * work.ticks // TICKS_PER_SECOND
