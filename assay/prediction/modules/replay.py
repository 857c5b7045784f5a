"""Runs of a module on a board: the parts are submitted in the order in which the runtime does it.

The program itself takes no time, but it waits where it reads what a device made. What a device is
given waits for what its run gave it before, and for copies to it; a copy waits for both sides. What
is copied from a device holds up only what writes there. Kernels of the GPU that follow each other
are one command buffer, as the runtime has it from the second run on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from math import inf

import numpy as np
from simpy.events import Event

from assay.hal.metal.timed.schedule import schedule_of
from assay.hal.module.rounds import Begin, Submit, rounds
from assay.hal.status import StatusError
from assay.hal.torq.executable import LoadedExecutable
from assay.hal.torq.format import Executable
from assay.hw.apple.facts.chips import Chip
from assay.hw.apple.system import EventWait, Pass, Submission, Work, overheads
from assay.hw.board import Board
from assay.hw.processor import processor_costs
from assay.hw.torq.facts.costs import machine_of
from assay.hw.torq.facts.hardware import hardware
from assay.sim.clock import Steps

from .profile import Profile, Task

Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskSpan:
    """When a task was under way, in ticks; `run` is the number of its run."""

    task: Task
    run: int
    begin: int
    end: int


@dataclass(frozen=True, kw_only=True, slots=True)
class RunSpan:
    """When a run was submitted first, and when the program saw its end, in ticks."""

    begin: int
    end: int


@dataclass(kw_only=True)
class Replay:
    """What happened on the board."""

    board: Board
    runs: tuple[RunSpan, ...]
    tasks: tuple[TaskSpan, ...]


def replayed(
    profile: Profile, chip: Chip, *, runs: int = 1, in_flight: int = 1, say: Say | None = None
) -> Replay:
    """So many runs, one after the other, at most `in_flight` at a time. Raises StatusError."""
    return _Replay(profile, chip, in_flight, say).done(runs)


@dataclass
class _Lane:
    """What a run gave a device: what has to happen before the next piece."""

    last: list[Event] = field(default_factory=list)
    gpu_waits: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _NpuItem:
    task: Task
    run: int
    wait: tuple[Event, ...]
    done: Event


class _Replay:
    def __init__(self, profile: Profile, chip: Chip, in_flight: int, say: Say | None) -> None:
        self._profile, self._chip, self._in_flight = profile, chip, in_flight
        self._say = say or (lambda text: None)
        self._board = Board(dram=int(chip.bandwidth), name=profile.model)
        self._environment = self._board.environment
        self._cpu = self._board.processor()
        used = {task.device for task in profile.tasks}
        self._gpu = (
            self._board.gpu([], [], costs=overheads(chip), cores=chip.cores, name="GPU")
            if "metal" in used
            else None
        )
        self._hardware = hardware()
        self._npu = self._board.npu(machine_of(self._hardware)) if "torq" in used else None
        self._loaded: dict[int, LoadedExecutable] = {}
        self._waiting: deque[_NpuItem] = deque()
        self._lanes: dict[tuple[int, str], _Lane] = {}
        self._copies: dict[tuple[int, int], Event] = {}
        """Ends of copies, by run and place among its tasks."""
        self._places = {id(task): place for place, task in enumerate(profile.tasks)}
        self._begun: dict[int, int] = {}
        self._runs: list[RunSpan] = []
        self._tasks: list[TaskSpan] = []
        self._submitted: list[tuple[tuple[Task, ...], int]] = []
        """What the GPU's command buffers are for, in the order of their commits."""
        self._events = 0

    def done(self, runs: int) -> Replay:
        host = self._environment.start(self._host(runs))
        while self._environment.peek() < inf or self._waiting:
            if (item := self._ready()) is not None:
                self._waiting.remove(item)
                self._on_npu(item)
            elif self._environment.peek() < inf:
                self._environment.step()
            else:
                break
        if host.is_alive:
            raise StatusError("INTERNAL", f"{self._profile.model}: its parts wait for each other")
        self._tasks.extend(self._gpu_spans())
        return Replay(board=self._board, runs=tuple(self._runs), tasks=tuple(self._tasks))

    def _gpu_spans(self) -> Iterator[TaskSpan]:
        """When tasks were at work: from their first dispatch to their last."""
        spans = () if self._gpu is None else self._gpu.schedule().submissions
        for (tasks, run), span in zip(self._submitted, spans, strict=True):
            works = [work for each in span.passes for work in each.work]
            for number, task in enumerate(tasks):
                mine = [work for work in works if work.work.ident == number]
                if mine:
                    begin, end = min(w.begin for w in mine), max(w.end for w in mine)
                    yield TaskSpan(task=task, run=run, begin=begin, end=end)

    # The program.

    def _host(self, runs: int) -> Steps:
        for step in rounds([self._profile.parts] * runs, self._in_flight):
            if isinstance(step, Begin):
                self._begun[step.run] = self._environment.tick
            elif isinstance(step, Submit):
                tasks = [task for task in self._profile.tasks if task.part == step.part]
                for _, together in groupby(tasks, key=_joined):
                    first, *others = together
                    if first.is_read:
                        yield self._environment.all_of(self._lane(step.run, first.device).last)
                    else:
                        self._submit((first, *others), step.run)
            else:
                lanes = [self._lane(step.run, device) for device in self._profile.devices]
                yield self._environment.all_of([each for lane in lanes for each in lane.last])
                begin = self._begun.pop(step.run)
                self._runs.append(RunSpan(begin=begin, end=self._environment.tick))

    def _lane(self, run: int, device: str) -> _Lane:
        return self._lanes.setdefault((run, device), _Lane())

    def _submit(self, tasks: tuple[Task, ...], run: int) -> None:
        """One task, or several of the GPU, which are one command buffer."""
        task = tasks[0]
        held = task.target or task.device
        for place in dict.fromkeys(place for each in tasks for place in each.behind):
            self._hold(self._lane(run, held), held, self._copies.pop((run, place)))
        if task.target:
            self._cross(task, run)
        elif task.gpu:
            self._on_gpu(tasks, run)
        elif task.device == "torq" and task.npu:
            lane = self._lane(run, task.device)
            done = self._environment.event()
            self._waiting.append(_NpuItem(task, run, tuple(lane.last), done))
            lane.last = [done]
        else:
            self._on_cpu(task, run)

    # Devices.

    def _on_gpu(self, tasks: tuple[Task, ...], run: int) -> None:
        assert self._gpu is not None
        lane = self._lane(run, tasks[0].device)
        waits = tuple(EventWait(event=number, value=1) for number in lane.gpu_waits)
        lane.gpu_waits = []
        name = tasks[0].name if len(tasks) == 1 else f"{tasks[0].name} to {tasks[-1].name}"
        submission = Submission(
            label=f"{name} (run {run})",
            queue=0,
            steps=(*waits, Pass(label=name, work=tuple(self._work(tasks)))),
        )
        lane.last = [self._gpu.submit(submission)]
        self._submitted.append((tasks, run))

    def _work(self, tasks: Sequence[Task]) -> Iterator[Work]:
        """The dispatches of tasks that follow each other, numbered by their task."""
        group = 0
        for number, task in enumerate(tasks):
            for submission in schedule_of(task.gpu, (), self._chip).submissions:
                for step in submission.steps:
                    if isinstance(step, Pass):
                        for _, side_by_side in groupby(step.work, key=lambda work: work.group):
                            for work in side_by_side:
                                yield replace(work, group=group, ident=number)
                            group += 1

    def _on_cpu(self, task: Task, run: int) -> None:
        lane = self._lane(run, task.device)
        assert task.effort is not None  # or it would have been the GPU's or the NPU's
        work = task.effort
        seconds = processor_costs().kernel(macs=work.macs, elements=work.elements, moved=work.moved)
        kind = "kernel"
        if task.name.startswith("copy "):
            kind, seconds = "copy", processor_costs().copy(work.moved)
        before = tuple(lane.last)
        done = self._environment.event()
        lane.last = [done]
        self._environment.start(self._at_work(task, run, kind, seconds, before, done))

    def _at_work(
        self, task: Task, run: int, kind: str, seconds: float, before: Sequence[Event], done: Event
    ) -> Steps:
        yield self._environment.all_of(before)
        begin = self._environment.tick
        assert task.effort is not None
        traffic = task.effort.moved * (2 if kind == "copy" else 1)
        label = f"{task.name} (run {run})"
        yield from self._cpu.work(kind, label, seconds, traffic=traffic)
        self._note(task, run, begin)
        done.succeed()

    def _hold(self, lane: _Lane, device: str, end: Event) -> None:
        """What the device is given next waits for the end of a copy, too."""
        lane.last = [*lane.last, end]
        if device == "metal" and self._gpu is not None:
            self._events += 1
            lane.gpu_waits.append(self._events)
            self._environment.start(self._signal(end, self._events))

    def _cross(self, task: Task, run: int) -> None:
        """A copy to another device: the host waits for both, copies, and lets the target go on."""
        source, target = self._lane(run, task.device), self._lane(run, task.target)
        before = [*source.last, *target.last]
        done = self._environment.event()
        self._copies[run, self._places[id(task)]] = done
        assert task.effort is not None
        seconds = processor_costs().copy(task.effort.moved)
        target.last = []
        self._hold(target, task.target, done)
        self._environment.start(self._at_work(task, run, "copy", seconds, before, done))

    def _signal(self, done: Event, number: int) -> Steps:
        yield done
        assert self._gpu is not None
        self._gpu.signal(number, 1)

    # The NPU is driven from outside of all processes: while it works, everything goes on.

    def _ready(self) -> _NpuItem | None:
        for item in self._waiting:
            if all(event.processed for event in item.wait):
                return item
        return None

    def _on_npu(self, item: _NpuItem) -> None:
        begin = self._environment.tick
        self._say(f"run {item.run} on the NPU")
        for executable in item.task.npu:
            loaded = self._of(executable)
            sizes = loaded.buffer_sizes()
            count = max(sizes, default=-1) + 1
            loaded.run([np.zeros(sizes.get(number, 0), np.uint8) for number in range(count)])
        self._note(item.task, item.run, begin)
        item.done.succeed()

    def _of(self, executable: Executable) -> LoadedExecutable:
        if id(executable) not in self._loaded:
            self._loaded[id(executable)] = LoadedExecutable(
                executable, device=self._npu, npu=self._hardware
            )
        return self._loaded[id(executable)]

    def _note(self, task: Task, run: int, begin: int) -> None:
        end = self._environment.tick
        self._tasks.append(TaskSpan(task=task, run=run, begin=begin, end=end))


def _joined(task: Task) -> object:
    """Equal for tasks that follow each other in one command buffer: those of the GPU."""
    return "gpu" if task.gpu and not task.target else id(task)
