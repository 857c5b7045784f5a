"""From what a program handed to the GPU to when all of it ran."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.hw.apple.system import (
    Commit,
    EventSignal,
    EventWait,
    HostCall,
    Pass,
    Schedule,
    Submission,
    WaitForEnd,
    Work,
    overheads,
    run,
)
from assay.sim.clock import ticks_of

from .order import Event
from .timer import BufferLog, Copied, Dispatched, HostLog, PassLog

if TYPE_CHECKING:
    from assay.hw.apple.facts.chips import Chip


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheduled:
    """A schedule, and what its work's `ident` numbers stand for.

    `submissions` and `calls` are what was scheduled: a board takes them, too.
    """

    schedule: Schedule
    work: tuple[Dispatched | Copied, ...]
    submissions: tuple[Submission, ...] = ()
    calls: tuple[HostCall, ...] = ()


def schedule_of(buffers: Sequence[BufferLog], calls: Sequence[HostLog], chip: Chip) -> Scheduled:
    """Run what was logged on the queues of a GPU.

    The program's own time is not known and counts as none; what it waits for does count.
    """
    work: list[Dispatched | Copied] = []
    signalled = _signalled(buffers)
    submissions = [
        Submission(
            label=buffer.label or f"command buffer {number}",
            queue=buffer.queue,
            steps=tuple(_steps(buffer, work, chip, signalled)),
        )
        for number, buffer in enumerate(buffers)
    ]
    made = _calls(calls)
    schedule = run(submissions, made, costs=overheads(chip), cores=chip.cores)
    return Scheduled(
        schedule=schedule, work=tuple(work), submissions=tuple(submissions), calls=tuple(made)
    )


def _signalled(buffers: Sequence[BufferLog]) -> dict[int, int]:
    """The highest value that the GPU itself signals, by event."""
    found: dict[int, int] = {}
    for buffer in buffers:
        for step in buffer.steps:
            if isinstance(step, Event) and not step.is_wait:
                found[step.number] = max(step.value, found.get(step.number, 0))
    return found


def _calls(calls: Sequence[HostLog]) -> list[HostCall]:
    return [
        WaitForEnd(submission=call.buffer) if call.is_wait else Commit(submission=call.buffer)
        for call in calls
    ]


def _steps(
    buffer: BufferLog,
    work: list[Dispatched | Copied],
    chip: Chip,
    signalled: Mapping[int, int],
) -> Iterator[Pass | EventWait | EventSignal]:
    passes = 0
    for step in buffer.steps:
        if isinstance(step, Event):
            if step.is_wait and step.value > signalled.get(step.number, 0):
                continue  # the program itself signals it, in no time
            kind = EventWait if step.is_wait else EventSignal
            yield kind(event=step.number, value=step.value)
            continue
        first = len(work)
        work.extend(step.work)
        label = step.label or f"{'compute' if step.is_compute else 'blit'} pass {passes}"
        passes += 1
        yield Pass(label=label, work=tuple(_work(step, first, chip)))


def _work(step: PassLog, first: int, chip: Chip) -> Iterator[Work]:
    for ident, item in enumerate(step.work, first):
        if isinstance(item, Copied):
            # A copy is bound by DRAM, and all copies of a pass may overlap.
            seconds = item.bytes / (chip.bandwidth * chip.sustained)
            yield Work(
                label=item.name,
                ticks=ticks_of(seconds),
                share=1.0,
                group=-1,
                ident=ident,
                traffic=item.bytes,
            )
        else:
            prediction = item.prediction
            yield Work(
                label=item.kernel,
                ticks=ticks_of(prediction.time.seconds),
                share=prediction.share,
                group=item.group,
                ident=ident,
                traffic=round(prediction.time.bytes.get("dram", 0.0)),
            )
