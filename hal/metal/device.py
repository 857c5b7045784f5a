"""The Metal device of the HAL: one MTLDevice with one queue for dispatches and transfers."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, ClassVar

from ..buffer import Buffer, File
from ..device import Binding, BufferRef, CommandBuffer, Device, DeviceInfo
from ..flags import CommandBufferMode
from ..observe import unseen
from ..semaphore import Fence
from ..status import StatusError, invalid_argument
from .buffer import MetalAllocator
from .builtin import Builtins
from .command_buffer import MetalCommandBuffer
from .encoding import Encoding
from .errors import command_buffer_error, metal_calls
from .executable import MetalExecutableCache
from .semaphore import MetalSemaphore, Submission
from .staging import Staging, StagingPool

_READ_CHUNK = 32 << 20
_MOST_COMMAND_BUFFERS = 4096


class MetalDevice(Device):
    """Submissions are committed in order; Metal's events order them with others' work."""

    family: ClassVar[str] = "metal"

    def __init__(self, api: Any, handle: Any, info: DeviceInfo) -> None:
        self.info = info
        self.api = api
        self.handle = handle
        # A program may submit much before the fence it all waits for is signalled; with the
        # default of 64 command buffers it would then block in the middle of submitting.
        self._queue = handle.newCommandQueueWithMaxCommandBufferCount_(_MOST_COMMAND_BUFFERS)
        # Argument encoders belong to pipelines, which threads share.
        self._encoding_lock = threading.Lock()
        self.allocator = MetalAllocator(api, handle, self._queue)
        self.executable_cache = MetalExecutableCache(api, handle)
        self._staging = StagingPool(api, handle)
        self._builtins = Builtins(api, handle)

    def create_semaphore(self, initial: int, *, private: bool = False) -> MetalSemaphore:
        """A new timeline semaphore."""
        return MetalSemaphore(self.handle.newSharedEvent(), initial, private=private)

    def create_command_buffer(self, mode: int, binding_capacity: int) -> MetalCommandBuffer:
        """A command buffer to record into."""
        is_reused = not mode & CommandBufferMode.ONE_SHOT
        return MetalCommandBuffer(self.api, binding_capacity & 0xFFFFFFFF, is_reused=is_reused)

    def queue_execute(
        self,
        wait: Fence | None,
        signal: Fence | None,
        command_buffer: CommandBuffer | None,
        bindings: Sequence[Binding] = (),
    ) -> None:
        """Commit the work: wait events, commands, signal events in one MTLCommandBuffer."""
        if command_buffer is None and (wait is None or wait.reached()):
            if signal is not None:
                signal.signal()
            return
        if command_buffer is not None and not isinstance(command_buffer, MetalCommandBuffer):
            raise invalid_argument("the command buffer was made for another device")
        with self._encoding_lock, metal_calls("a submission"):
            self._submit(wait, signal, command_buffer, bindings)

    def _submit(
        self,
        wait: Fence | None,
        signal: Fence | None,
        recording: MetalCommandBuffer | None,
        bindings: Sequence[Binding],
    ) -> None:
        metal = self._queue.commandBuffer()
        waits: list[tuple[Any, int]] = []
        for semaphore, value in wait.points if wait is not None else ():
            waits.append((semaphore, value))
            metal.encodeWaitForEvent_value_(_metal(semaphore).event, value)
        staged = self._replay(metal, recording, bindings) if recording is not None else []
        submission = Submission(metal, waits)
        signals = signal.points if signal is not None else ()
        for semaphore, value in signals:
            _metal(semaphore).submission = submission
            metal.encodeSignalEvent_value_(_metal(semaphore).event, value)
        metal.addCompletedHandler_(unseen(lambda done: self._completed(done, staged, signals)))
        metal.commit()

    def _replay(
        self, metal: Any, recording: MetalCommandBuffer, bindings: Sequence[Binding]
    ) -> list[Staging]:
        if not recording.finalized:
            raise StatusError("FAILED_PRECONDITION", "the command buffer is still being recorded")
        staging = self._staging.take(recording.staging) if recording.staging else None
        encoding = Encoding(
            self.api, self.handle, metal, staging, self._staging, self._builtins, bindings
        )
        recording.replay(encoding)
        return encoding.staged

    def _completed(self, metal: Any, staged: list[Staging], signals: Sequence[Any]) -> None:
        self._staging.give_back(staged)
        if metal.error() is not None:
            error = command_buffer_error(metal)
            for semaphore, _ in signals:
                semaphore.fail(error)

    def queue_read(
        self,
        wait: Fence | None,
        signal: Fence | None,
        source: File,
        source_offset: int,
        target: BufferRef,
    ) -> None:
        """Copy from a file into a buffer, through staging memory unless the host sees it."""
        buffer = target.buffer
        if buffer is None:
            raise invalid_argument("a read needs a buffer to read into")
        length = buffer.check_range(target.offset, target.length)
        data = source.span(source_offset, length)
        if buffer.host_visible and (wait is None or wait.reached()):
            buffer.write(target.offset, data)
            self.queue_execute(None, signal, None)
            return
        parts = [
            (start, min(_READ_CHUNK, length - start)) for start in range(0, length, _READ_CHUNK)
        ]
        for start, size in parts[:-1]:
            # One after the other, so that staging memory stays small.
            done = Fence(((self.create_semaphore(0, private=True), 1),))
            self._read_part(wait, done, data[start : start + size], buffer, target.offset + start)
            done.wait()
        for start, size in parts[-1:]:
            part = data[start : start + size]
            self._read_part(wait, signal, part, buffer, target.offset + start)
        if not parts:
            self.queue_execute(wait, signal, None)

    def _read_part(
        self,
        wait: Fence | None,
        signal: Fence | None,
        data: memoryview,
        buffer: Buffer,
        offset: int,
    ) -> None:
        commands = self.create_command_buffer(CommandBufferMode.ONE_SHOT, 0)
        commands.update(bytes(data), BufferRef(buffer, 0, offset, len(data)))
        commands.finalize()
        self.queue_execute(wait, signal, commands)

    def queue_flush(self) -> None:
        """Nothing to do: submissions are committed at once."""


def _metal(semaphore: Any) -> MetalSemaphore:
    if not isinstance(semaphore, MetalSemaphore):
        raise invalid_argument("the semaphore was made for another device")
    return semaphore
