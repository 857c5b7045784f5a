"""Calls that follow each other on one device, as one command buffer.

The first time each kernel's program records its commands. While tensors stay where they are, the
second time all these commands become one command buffer, and from then on that is submitted: no
program runs on the host any more. Memory that kernels take for themselves alone is shared then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ..buffer import Buffer, Storage
from ..device import BufferRef, CommandBuffer
from .expressions import Op, check
from .noting import Note, NotedCommands, NotingDevice, Place
from .opened import OpenedModule
from .queues import Lane
from .records import NONE, Call, Check, Deduce, Forward, Instruction, Model, Reserve
from .staged import STAGED

_ALIGNMENT: Final = 256
"""Of memory that kernels take for themselves, in bytes: what Metal wants of bindings at most."""


_HOST_ONLY: Final = (Check, Deduce, Forward, Reserve)
"""Instructions that give devices nothing to do."""


@dataclass(frozen=True, slots=True)
class CallSequence:
    """Calls of one region, from instruction `begin` to the one before `end`.

    What the host does between them can be done before all of them: it moves no tensor of a call
    before it.
    """

    begin: int
    end: int
    device: int
    calls: tuple[tuple[int, Call, NotingDevice], ...]
    """Each with its number, and what notes its commands."""
    between: tuple[tuple[int, Instruction], ...]
    """The host's instructions, each with its number."""
    tensors: tuple[int, ...]
    """Of all calls one after the other, inputs first."""
    written: tuple[int, ...]
    """The outputs among them."""
    constants: tuple[int, ...]
    """Expressions, of all calls one after the other."""


def call_sequences(opened: OpenedModule, model: Model, region: int) -> dict[int, CallSequence]:
    """The longest ones whose commands follow from shapes alone, by where they begin."""
    drafts: list[_Draft] = []
    open_one: _Draft | None = None
    for at, item in enumerate(model.regions[region].instructions):
        if open_one is not None and isinstance(item, _HOST_ONLY) and open_one.allows(item):
            open_one.waiting.append((at, item))
            continue
        noted = _noted_by(opened, item)
        if noted is None or not isinstance(item, Call):
            open_one = None
            continue
        device = opened.module.kernels[item.kernel].device
        if open_one is None or open_one.device != device:
            open_one = _Draft(device)
            drafts.append(open_one)
        open_one.add(at, item, noted)
        open_one.used.update(_sized(opened, item))
    return {each.calls[0][0]: each.sequence() for each in drafts}


@dataclass(slots=True)
class _Draft:
    """A sequence that may still become longer."""

    device: int
    calls: list[tuple[int, Call, NotingDevice]] = field(default_factory=list)
    between: list[tuple[int, Instruction]] = field(default_factory=list)
    waiting: list[tuple[int, Instruction]] = field(default_factory=list)
    """What the host does behind the last call so far; it counts if another call comes."""
    used: set[int] = field(default_factory=set)
    """Tensors of the calls, and those whose sizes are constants of the calls."""

    def allows(self, item: Instruction) -> bool:
        """Whether an instruction of the host may be done before all calls so far."""
        moved = item.target if isinstance(item, Forward) else getattr(item, "tensor", NONE)
        return moved not in self.used

    def add(self, at: int, call: Call, noted: NotingDevice) -> None:
        self.calls.append((at, call, noted))
        self.between += self.waiting
        self.waiting.clear()
        self.used.update(call.inputs, call.outputs)

    def sequence(self) -> CallSequence:
        calls = [call for _, call, _ in self.calls]
        return CallSequence(
            begin=self.calls[0][0],
            end=self.calls[-1][0] + 1,
            device=self.device,
            calls=tuple(self.calls),
            between=tuple(self.between),
            tensors=tuple(each for call in calls for each in (*call.inputs, *call.outputs)),
            written=tuple(each for call in calls for each in call.outputs),
            constants=tuple(each for call in calls for each in call.numbers),
        )


def _sized(opened: OpenedModule, call: Call) -> Iterator[int]:
    """Tensors whose sizes a call's numbers are of."""
    workspace = () if call.workspace == NONE else (call.workspace,)
    for number in (*call.numbers, *workspace):
        for each in check(opened.module.expressions[number].code):
            if each.op is Op.DIM:
                yield each.number


def _noted_by(opened: OpenedModule, item: Instruction) -> NotingDevice | None:
    """What notes a call's commands, if they are the same for the same shapes."""
    if not isinstance(item, Call):
        return None
    # Both would be taken from the same memory: what a program takes for itself, and a workspace.
    if item.workspace != NONE and opened.module.kernels[item.kernel].format not in STAGED:
        return None
    return opened.program(item.kernel).noted(opened.module.kernels[item.kernel].entry)


@dataclass(frozen=True, slots=True)
class ReadyCall:
    """A call that can be submitted, and what notes its commands."""

    noted: NotingDevice
    submit: Callable[[], None]


class Repeated:
    """What is known of a sequence's last run."""

    def __init__(self) -> None:
        self._views: Sequence[object] = ()
        self._numbers: Sequence[int] = ()
        self._kept: list[_KeptCall] = []
        self._commands: CommandBuffer | None = None
        self._scratch: Buffer | None = None

    def run(
        self,
        lane: Lane,
        views: Sequence[object],
        numbers: Sequence[int],
        calls: Callable[[], Sequence[ReadyCall]],
    ) -> None:
        """Submits the calls, or what is known of them. Raises StatusError.

        `views` and `numbers` are the operands of all calls as they are now, `views` with the
        memory of workspaces behind them.
        """
        # Views have no equality of their own: the lists are equal if they hold the same views.
        if not self._kept or views != self._views or numbers != self._numbers:
            self._kept, self._commands = [], None
            self._kept = [_kept(call) for call in calls()]
            self._views, self._numbers = views, numbers
            return
        size = max((each.own.size for each in self._kept), default=0)
        scratch = lane.scratch.get(size) if size else None
        if self._commands is None or scratch is not self._scratch:
            self._scratch, self._commands = scratch, self._recorded(lane, scratch)
        lane.execute(self._commands)

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
