"""A device that notes what programs give it to do, so that it can be done again without them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from ..buffer import Buffer, File
from ..device import Binding, BufferRef, CommandBuffer, Device, Executable
from ..semaphore import Fence, Semaphore
from ..status import invalid_argument

Place = Callable[[BufferRef], BufferRef]
"""Where a range lies in the submission at hand."""
_Command = Callable[[CommandBuffer, Place], None]


class NotedCommands(CommandBuffer):
    """A command buffer that keeps what is recorded into it, to be recorded into others."""

    def __init__(self, real: CommandBuffer | None = None) -> None:
        """Without a `real` one nothing else gets the commands."""
        self.real = real
        self._commands: list[_Command] = []

    def record(self, target: CommandBuffer, place: Place) -> None:
        """Records the same into `target`, with ranges where `place` says."""
        for command in self._commands:
            command(target, place)

    def finalize(self) -> None:
        """End the recording."""
        if self.real is not None:
            self.real.finalize()

    def begin_debug_group(self, label: str) -> None:
        """Open a named group of commands."""
        self._note(lambda to, _: to.begin_debug_group(label))

    def end_debug_group(self) -> None:
        """Close the innermost group."""
        self._note(lambda to, _: to.end_debug_group())

    def execution_barrier(self) -> None:
        """Later commands see what earlier ones wrote."""
        self._note(lambda to, _: to.execution_barrier())

    def fill(self, target: BufferRef, pattern: bytes) -> None:
        """Fill a range with a repeated pattern."""
        self._note(lambda to, at: to.fill(at(target), pattern))

    def update(self, source: bytes, target: BufferRef) -> None:
        """Copy host bytes, taken now, into a range."""
        data = bytes(source)
        self._note(lambda to, at: to.update(data, at(target)))

    def copy(self, source: BufferRef, target: BufferRef) -> None:
        """Copy between ranges of equal length."""
        self._note(lambda to, at: to.copy(at(source), at(target)))

    def dispatch(
        self,
        executable: Executable,
        function: int,
        workgroups: tuple[int, int, int] | BufferRef,
        constants: Sequence[int],
        bindings: Sequence[BufferRef],
    ) -> None:
        """Run a kernel over workgroups."""
        words, ranges = tuple(constants), tuple(bindings)

        def record(to: CommandBuffer, at: Place) -> None:
            counts = at(workgroups) if isinstance(workgroups, BufferRef) else workgroups
            to.dispatch(executable, function, counts, words, [at(each) for each in ranges])

        self._note(record)

    def _note(self, command: _Command) -> None:
        if self.real is not None:
            command(self.real, lambda reference: reference)
        self._commands.append(command)


@dataclass(frozen=True, slots=True)
class Submission:
    """Commands that were submitted, and with which bindings."""

    commands: NotedCommands
    bindings: tuple[Binding, ...]

    def place(self, reference: BufferRef) -> BufferRef:
        """The range itself, instead of a slot of the bindings. Raises StatusError."""
        if reference.buffer is not None:
            return reference
        binding = self.bindings[reference.slot]
        if binding.buffer is None:
            raise invalid_argument(f"binding slot {reference.slot} has no buffer")
        length = binding.buffer.check_range(binding.offset, binding.length)
        part = binding.buffer.subspan(binding.offset, length)
        return BufferRef(part, 0, reference.offset, reference.length)


@dataclass(frozen=True, slots=True)
class Note:
    """What a call gave its device to do, in order, and the memory it took only for itself."""

    submissions: list[Submission] = field(default_factory=list)
    transients: list[Buffer] = field(default_factory=list)


class NotingDevice(Device):
    """Does everything that another device does, and notes it where a thread asks for that."""

    def __init__(self, real: Device) -> None:
        self.real = real
        self.info = real.info
        self.allocator = real.allocator
        self.executable_cache = real.executable_cache
        self._notes = threading.local()

    @contextmanager
    def noting(self) -> Iterator[Note]:
        """Notes what the calling thread submits meanwhile."""
        note = self._notes.now = Note()
        try:
            yield note
        finally:
            self._notes.now = None

    def _now(self) -> Note | None:
        found: Note | None = getattr(self._notes, "now", None)
        return found

    def query_i64(self, category: str, key: str) -> int | None:
        """A property of the device."""
        return self.real.query_i64(category, key)

    def create_semaphore(self, initial: int, *, private: bool = False) -> Semaphore:
        """A new timeline semaphore."""
        return self.real.create_semaphore(initial, private=private)

    def create_command_buffer(self, mode: int, binding_capacity: int) -> NotedCommands:
        """A command buffer to record into."""
        return NotedCommands(self.real.create_command_buffer(mode, binding_capacity))

    def queue_alloca(
        self, wait: Fence | None, signal: Fence | None, memory_type: int, usage: int, size: int
    ) -> Buffer:
        """Allocate memory in queue order."""
        buffer = self.real.queue_alloca(wait, signal, memory_type, usage, size)
        note = self._now()
        if note is not None:
            note.transients.append(buffer)
        return buffer

    def queue_dealloca(self, wait: Fence | None, signal: Fence | None, buffer: Buffer) -> None:
        """Give it back in queue order."""
        self.real.queue_dealloca(wait, signal, buffer)

    def queue_execute(
        self,
        wait: Fence | None,
        signal: Fence | None,
        command_buffer: CommandBuffer | None,
        bindings: Sequence[Binding] = (),
    ) -> None:
        """Submit recorded work."""
        if not isinstance(command_buffer, NotedCommands):
            self.real.queue_execute(wait, signal, command_buffer, bindings)
            return
        note = self._now()
        if note is not None:
            note.submissions.append(Submission(command_buffer, tuple(bindings)))
        self.real.queue_execute(wait, signal, command_buffer.real, bindings)

    def queue_read(
        self,
        wait: Fence | None,
        signal: Fence | None,
        source: File,
        source_offset: int,
        target: BufferRef,
    ) -> None:
        """Copy from a file into a buffer in queue order."""
        self.real.queue_read(wait, signal, source, source_offset, target)

    def queue_flush(self) -> None:
        """Start everything submitted."""
        self.real.queue_flush()
