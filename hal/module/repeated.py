"""Calls that follow each other on one device, as one command buffer.

The first time each kernel's program records its commands. While tensors stay where they are, the
second time all these commands become one command buffer, and from then on that is submitted: no
program runs on the host any more. Memory that kernels take for themselves alone is shared then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import is_
from typing import Final

from ..buffer import Buffer, BufferView, Storage
from ..device import BufferRef, CommandBuffer
from .noting import Note, NotedCommands, NotingDevice, Place
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
        self._kept: list[_KeptCall] = []
        self._commands: CommandBuffer | None = None
        self._scratch: Buffer | None = None

    def run(self, lane: Lane, calls: Sequence[ReadyCall]) -> None:
        """Submits the calls, or what is known of them. Raises StatusError."""
        views = [view for call in calls for view in call.views]
        numbers = [number for call in calls for number in call.numbers]
        if not self._is_as_before(views, numbers):
            self._kept, self._commands = [], None
            self._kept = [_kept(call) for call in calls]
            self._views, self._numbers = views, numbers
            return
        size = max((each.own.size for each in self._kept), default=0)
        scratch = lane.scratch.get(size) if size else None
        if self._commands is None or scratch is not self._scratch:
            self._scratch, self._commands = scratch, self._recorded(lane, scratch)
        lane.execute(self._commands)

    def _is_as_before(self, views: Sequence[BufferView], numbers: Sequence[int]) -> bool:
        return (
            bool(self._kept)
            and len(views) == len(self._views)
            and all(map(is_, views, self._views))
            and numbers == self._numbers
        )

    def _recorded(self, lane: Lane, scratch: Buffer | None) -> CommandBuffer:
        """All commands in one buffer; memory that calls took is in `scratch` now."""
        made = lane.device.create_command_buffer(0, 0)
        for each in self._kept:
            each.commands.record(made, _moving({each.own: (scratch, 0)}))
        made.finalize()
        return made


class _OwnMemory(Storage):
    """Stands for the memory that a call takes for itself, which is not kept."""

    def __init__(self, size: int) -> None:
        self.size = size

    def map(self) -> memoryview:
        """Nobody looks into it."""
        raise AssertionError

    def flush(self, offset: int, length: int) -> None:
        """Nothing is there."""

    def invalidate(self, offset: int, length: int) -> None:
        """Nothing is there."""


@dataclass(frozen=True, slots=True)
class _KeptCall:
    """What a call gave its device to do, and the memory that it took only for itself."""

    commands: NotedCommands
    own: _OwnMemory


def _kept(call: ReadyCall) -> _KeptCall:
    """Submits a call, and keeps its commands."""
    with call.noted.noting() as note:
        call.submit()
    return _keep(note)


def _keep(note: Note) -> _KeptCall:
    sizes = [-(-each.storage.size // _ALIGNMENT) * _ALIGNMENT for each in note.transients]
    own = _OwnMemory(sum(sizes))
    whole = Buffer(own, 0, own.size, 0, 0)
    places = {
        buffer.storage: (whole, sum(sizes[:number]))
        for number, buffer in enumerate(note.transients)
    }
    commands, move = NotedCommands(), _moving(places)
    for submission in note.submissions:
        submission.commands.record(commands, _both(submission.place, move))
        commands.execution_barrier()
    return _KeptCall(commands, own)


def _both(first: Place, second: Place) -> Place:
    return lambda reference: second(first(reference))


def _moving(places: Mapping[Storage, tuple[Buffer | None, int]]) -> Place:
    """Ranges in other memory, where their own is in `places`, with where it is now."""

    def move(reference: BufferRef) -> BufferRef:
        buffer = reference.buffer
        found, offset = (None, 0) if buffer is None else places.get(buffer.storage, (None, 0))
        if buffer is None or found is None:
            return reference
        part = found.subspan(offset + buffer.offset, buffer.length)
        return BufferRef(part, 0, reference.offset, reference.length)

    return move
