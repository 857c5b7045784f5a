"""Calls that follow each other on one device, as one command buffer.

The first time each kernel's program records its commands. While tensors stay where they are, the
second time all these commands become one command buffer, and from then on that is submitted: no
program runs on the host any more. Memory that kernels take for themselves alone is shared then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import is_
from typing import Final

from ..buffer import Buffer, BufferView, Storage
from ..device import BufferRef, CommandBuffer
from .noting import Note, NotingDevice, Place, Submission
from .opened import OpenedModule
from .queues import Lane
from .records import NONE, Call, Instruction, Model

_ALIGNMENT: Final = 256
"""Of memory that kernels take for themselves, in bytes: what Metal wants of bindings at most."""


@dataclass(frozen=True, slots=True)
class CallSequence:
    """Calls of one region, from instruction `begin` to the one before `end`."""

    begin: int
    end: int
    device: int
    calls: tuple[tuple[int, Call, NotingDevice], ...]
    """Each with its number, and what notes its commands."""


def call_sequences(opened: OpenedModule, model: Model, region: int) -> dict[int, CallSequence]:
    """The longest ones whose commands follow from shapes alone, by where they begin."""
    found: dict[int, CallSequence] = {}
    run: list[tuple[int, Call, NotingDevice]] = []
    device = NONE

    def close() -> None:
        if run:
            begin, end = run[0][0], run[-1][0] + 1
            found[begin] = CallSequence(begin, end, device, tuple(run))
            run.clear()

    for at, item in enumerate(model.regions[region].instructions):
        noted = _noted_by(opened, item)
        here = opened.module.kernels[item.kernel].device if isinstance(item, Call) else NONE
        if noted is None or here != device:
            close()
        if noted is not None and isinstance(item, Call):
            device = here
            run.append((at, item, noted))
    close()
    return found


def _noted_by(opened: OpenedModule, item: Instruction) -> NotingDevice | None:
    """What notes a call's commands, if they are the same for the same shapes."""
    if not isinstance(item, Call) or item.workspace != NONE:
        return None
    return opened.program(item.kernel).noted(opened.module.kernels[item.kernel].entry)


@dataclass(frozen=True, slots=True)
class ReadyCall:
    """A call that can be submitted: its operands, and what does it."""

    noted: NotingDevice
    views: tuple[BufferView, ...]
    numbers: tuple[int, ...]
    submit: Callable[[], None]


class Repeated:
    """What is known of a sequence's last run."""

    def __init__(self) -> None:
        self._views: Sequence[BufferView] = ()
        self._numbers: Sequence[int] = ()
        self._notes: list[Note] = []
        self._commands: CommandBuffer | None = None
        self._scratch: Buffer | None = None

    def run(self, lane: Lane, calls: Sequence[ReadyCall]) -> None:
        """Submits the calls, or what is known of them. Raises StatusError."""
        views = [view for call in calls for view in call.views]
        numbers = [number for call in calls for number in call.numbers]
        if not self._is_as_before(views, numbers):
            self._notes, self._commands = [], None
            self._notes = [_noted(call) for call in calls]
            self._views, self._numbers = views, numbers
            return
        size = _scratch_size(self._notes)
        scratch = lane.scratch.get(size) if size else None
        if self._commands is None or scratch is not self._scratch:
            self._scratch, self._commands = scratch, self._recorded(lane, scratch)
        lane.execute(self._commands)

    def _is_as_before(self, views: Sequence[BufferView], numbers: Sequence[int]) -> bool:
        return (
            bool(self._notes)
            and len(views) == len(self._views)
            and all(map(is_, views, self._views))
            and numbers == self._numbers
        )

    def _recorded(self, lane: Lane, scratch: Buffer | None) -> CommandBuffer:
        """All commands in one buffer; memory that calls took is in `scratch` now."""
        made = lane.device.create_command_buffer(0, 0)
        for note in self._notes:
            places = dict(_scratch_places(note))
            for submission in note.submissions:
                submission.commands.record(made, _placing(submission, places, scratch))
                made.execution_barrier()
        made.finalize()
        return made


def _noted(call: ReadyCall) -> Note:
    with call.noted.noting() as note:
        call.submit()
    return note


def _scratch_places(note: Note) -> Iterator[tuple[Storage, int]]:
    """Where in the scratch memory each of a call's own buffers lies."""
    at = 0
    for buffer in note.transients:
        yield buffer.storage, at
        at += -(-buffer.storage.size // _ALIGNMENT) * _ALIGNMENT


def _scratch_size(notes: Sequence[Note]) -> int:
    """Bytes of the largest call's own memory: calls use it one after the other."""
    return max(
        (
            sum(-(-each.storage.size // _ALIGNMENT) * _ALIGNMENT for each in note.transients)
            for note in notes
        ),
        default=0,
    )


def _placing(
    submission: Submission, places: Mapping[Storage, int], scratch: Buffer | None
) -> Place:
    def place(reference: BufferRef) -> BufferRef:
        found = submission.place(reference)
        buffer = found.buffer
        if buffer is None or scratch is None or buffer.storage not in places:
            return found
        part = scratch.subspan(places[buffer.storage] + buffer.offset, buffer.length)
        return BufferRef(part, 0, found.offset, found.length)

    return place
