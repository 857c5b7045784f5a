"""What is called in a timer for command buffers, and how it tapes their dispatches."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..resources.residency import within
from ..structs import threadgroups_of
from ..worker import at_work, running

if TYPE_CHECKING:
    from assay.compiler.msl import Argument
    from assay.sim.simt import Executable, Memory
    from assay.sim.simt.emit.tape import Tape

    from ..device import MTLDevice
    from ..programs.pipeline import MTLComputePipelineState
    from .commandbuffer import MTLCommandBuffer
    from .commands import Command, DispatchCommand
    from .event import MTLEvent

Size = tuple[int, int, int]


@dataclass(slots=True)
class PassMark:
    """Where in a command buffer an encoder's commands start: `first` counts commands."""

    first: int
    is_compute: bool
    label: str = ""


@runtime_checkable
class Timer(Protocol):
    """Called for what programs hand to the device, on any thread.

    For each command buffer calls come in this order: committed, begins, (dispatch | other) for each
    command, ends.
    """

    def committed(self, commands: MTLCommandBuffer) -> None:
        """The program commits; on its own thread."""

    def waited(self, commands: MTLCommandBuffer) -> None:
        """The program waits until `commands` have completed; on its own thread."""

    def signalled(self, event: MTLEvent, value: int) -> None:
        """The program itself is about to set an event; on its own thread."""

    def begins(self, commands: MTLCommandBuffer) -> None:
        """The queue takes up the commands."""

    def dispatch(
        self, place: Place, device: MTLDevice, command: DispatchCommand, run: Callable[[], None]
    ) -> None:
        """A grid that is not empty is to run now: `run()` does it."""

    def other(self, place: Place, command: Command) -> None:
        """Some other command is about to run."""

    def ends(self, commands: MTLCommandBuffer) -> None:
        """All commands have run, or one has failed."""


@dataclass(slots=True)
class Place:
    """Where the queue's thread is: in the `number`-th pass of `commands`, -1 between passes."""

    timer: Timer
    commands: MTLCommandBuffer
    number: int = -1
    mark: PassMark | None = None

    def arrive(self, index: int, command: Command) -> None:
        """The command at `index` is next."""
        from .commands import DispatchCommand, IndirectDispatchCommand
        from .execute import ExecuteCommand

        marks = self.commands.passes
        while self.number + 1 < len(marks) and marks[self.number + 1].first <= index:
            self.number += 1
        self.mark = marks[self.number] if self.number >= 0 else None
        if not isinstance(command, DispatchCommand | IndirectDispatchCommand | ExecuteCommand):
            self.timer.other(self, command)

    def run(self, command: Command, device: MTLDevice) -> None:
        """Run a command, which no other of timed command buffers meets but a wait.

        To predict a dispatch its kernel is run, and what it wrote is put back: what another queue
        wrote meanwhile would be lost.
        """
        from .commands import WaitCommand

        if isinstance(command, WaitCommand):
            command.run(device)
            return
        with _turn:
            command.run(device)


_turn = threading.Lock()


class _Thread(threading.local):
    """What the command buffer that this thread runs was committed under."""

    place: Place | None = None


_thread = _Thread()


@contextmanager
def timed(timer: Timer | None, commands: MTLCommandBuffer) -> Iterator[Place | None]:
    """Commands that this thread runs meanwhile are those of `commands`."""
    if timer is None:
        yield None
        return
    _thread.place = Place(timer, commands)
    timer.begins(commands)
    try:
        yield _thread.place
    finally:
        _thread.place = None
        timer.ends(commands)


def place_of_dispatch() -> Place | None:
    """Where the dispatch that this thread runs belongs, if it is timed."""
    return _thread.place


def executable_of(command: DispatchCommand) -> Executable:
    """The code that a dispatch runs."""
    return code_for(command.pipeline, command.threads_per_threadgroup)


def code_for(pipeline: MTLComputePipelineState, threadgroup: Size) -> Executable:
    """The code of a kernel for a size of threadgroup, made if no dispatch asked for it yet."""
    return pipeline.executable_for(threadgroup)


def arguments_of(command: DispatchCommand) -> tuple[Argument, ...]:
    """The arguments of a dispatch's kernel, in the order of `command.arguments`."""
    return command.pipeline.kernel.arguments


def threadgroups_in(command: DispatchCommand) -> Size:
    """The grid of a dispatch in threadgroups, those at the edges included."""
    if command.threadgroups is not None:
        return command.threadgroups
    assert command.threads is not None
    return threadgroups_of(command.threads, command.threads_per_threadgroup)


def events_of(commands: MTLCommandBuffer) -> Iterator[tuple[MTLEvent, int]]:
    """The events that a command buffer waits for or signals, each with its value now."""
    from .commands import SignalCommand, WaitCommand

    for command in commands.commands:
        if isinstance(command, WaitCommand | SignalCommand):
            yield command.event, command.event.value


def memory_of(device: MTLDevice) -> Memory:
    """What a device's addresses stand for."""
    return device.memory.memory


def tape_command(
    device: MTLDevice, command: DispatchCommand, sample: Sequence[Size], *, places: bool = False
) -> Tape:
    """What the threadgroups of `sample` do, perhaps with where in threadgroup memory they do it.

    Buffers are left as they were.

    Raises KernelFault like the dispatch itself.
    """
    from assay.sim.simt.run.taping import tape_dispatch

    with at_work(running), within(command.reach, device) as memory, kept(command, memory):
        return tape_dispatch(
            executable_of(command),
            memory,
            command.arguments,
            threads=command.threads,
            threadgroups=command.threadgroups,
            sample=sample,
            fuel=device.options.fuel,
            places=places,
        )


@contextmanager
def kept(command: DispatchCommand, memory: Memory) -> Iterator[None]:
    """Put back, at the end, what the kernel may have written meanwhile."""
    copies = [(data, data.copy()) for data in _writable(command, memory)]
    try:
        yield
    finally:
        for data, copy in copies:
            data[:] = copy


def _writable(command: DispatchCommand, memory: Memory) -> list[NDArray[np.uint8]]:
    """The bytes of all buffers that the kernel of a dispatch may write."""
    if command.pipeline.follows_pointers:
        handles = set(memory.handles())
        if command.reach is not None:
            only_read = {memory.handle_of(address) for address in command.reach.only_read}
            reached = {memory.handle_of(address) for address in command.reach.all_addresses()}
            handles &= reached - only_read
    else:
        handles = {
            memory.handle_of(value)
            for argument, value in zip(arguments_of(command), command.arguments, strict=True)
            if argument.kind != "threadgroup" and argument.access != "read" and value
        }
    return [data for handle in sorted(handles) if (data := memory.bytes_of(handle)) is not None]
