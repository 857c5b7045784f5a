"""Devices whose work the host does: when it is submitted, or once what it waits for is signalled.

Then it is done on the thread that signals; fences order it like on hardware.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..buffer import File
from ..device import Binding, BufferRef, CommandBuffer, Device, DeviceInfo
from ..observe import Watch, current_watch, under
from ..semaphore import Fence
from ..status import StatusError, invalid_argument
from .commands import HostCommandBuffer
from .memory import HostAllocator, view
from .semaphore import HostSemaphore


@dataclass(frozen=True, kw_only=True, slots=True)
class _Work:
    """What was submitted: work to do after `wait`, and what to signal then; who looked on."""

    wait: Fence | None
    signal: Fence | None
    commands: HostCommandBuffer | None
    bindings: tuple[Binding, ...]
    watch: Watch | None
    timer: object | None


class HostedDevice(Device):
    """The queue of such a device; what executables do is its own."""

    def __init__(self, info: DeviceInfo, allocator: HostAllocator) -> None:
        self.info = info
        self.allocator = allocator
        self._waiting: list[_Work] = []
        self._lock = threading.Lock()
        self._working = False

    def current_timer(self) -> object | None:
        """Who times what is submitted now; nobody, unless a device can be timed."""
        return None

    def after_work(self) -> None:
        """What a device does behind each submission."""

    def create_semaphore(self, initial: int, *, private: bool = False) -> HostSemaphore:
        """A new timeline semaphore."""
        return HostSemaphore(initial, private=private, changed=self._work)

    def queue_execute(
        self,
        wait: Fence | None,
        signal: Fence | None,
        command_buffer: CommandBuffer | None,
        bindings: Sequence[Binding] = (),
    ) -> None:
        """Submit: done now, or when what it waits for is signalled."""
        if command_buffer is not None and not isinstance(command_buffer, HostCommandBuffer):
            raise invalid_argument("the command buffer was made for another device")
        for semaphore, value in signal.points if signal is not None else ():
            promised: Any = semaphore
            if isinstance(promised, HostSemaphore):
                promised.promised = max(promised.promised, value)
        work = _Work(
            wait=wait,
            signal=signal,
            commands=command_buffer,
            bindings=tuple(bindings),
            watch=current_watch(),
            timer=self.current_timer(),
        )
        with self._lock:
            self._waiting.append(work)
        self._work()

    def queue_read(
        self,
        wait: Fence | None,
        signal: Fence | None,
        source: File,
        source_offset: int,
        target: BufferRef,
    ) -> None:
        """Copy from a file into a buffer in queue order."""
        length = len(view(target, ()))
        commands = self.create_command_buffer(0, 0)
        commands.update(bytes(source.span(source_offset, length)), target)
        commands.finalize()
        self.queue_execute(wait, signal, commands)

    def queue_flush(self) -> None:
        """Nothing to do: work begins when it can."""

    def _work(self) -> None:
        """Does everything that waits for nothing any more, in the order of submission.

        One thread at a time; others go on at once: what they submit or signal is seen by it.
        """
        while (work := self._taken()) is not None:
            try:
                self._do(work)
            finally:
                with self._lock:
                    self._working = False

    def _taken(self) -> _Work | None:
        """Work that the caller is to do now; None if there is none, or another thread is at it."""
        with self._lock:
            work = None if self._working else self._ready()
            if work is not None:
                self._waiting.remove(work)
                self._working = True
            return work

    def _ready(self) -> _Work | None:
        for work in self._waiting:
            try:
                if work.wait is None or work.wait.reached():
                    return work
            except StatusError:
                return work  # It fails with what it waited for.
        return None

    def _do(self, work: _Work) -> None:
        try:
            if work.wait is not None:
                work.wait.reached()
            if work.commands is not None:
                with under(work.watch, work.timer):
                    work.commands.run(work.bindings)
        except StatusError as error:
            if work.signal is None:
                raise
            work.signal.fail(error)
            return
        finally:
            self.after_work()
        if work.signal is not None:
            work.signal.signal()
