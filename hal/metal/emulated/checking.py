"""Which checker watches the dispatches that are committed now."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from assay.sim.check import Checker, fault_finding

if TYPE_CHECKING:
    from assay.compiler.msl import KernelFunction

    from .buffer import MTLBuffer
    from .commandbuffer import MTLCommandBuffer
    from .commands import DispatchCommand
    from .device import MTLDevice
    from .pipeline import MTLComputePipelineState


class Observer(Protocol):
    """Told about what a program does while its kernels are checked; on any thread."""

    def pipeline_made(self, pipeline: MTLComputePipelineState) -> None:
        """A pipeline state was made."""

    def buffer_committed(self, buffer: MTLCommandBuffer) -> None:
        """A command buffer was committed."""

    def dispatch_begins(self, device: MTLDevice, command: DispatchCommand) -> None:
        """A grid that is not empty is about to run; buffers hold its inputs."""

    def buffer_ended(self, buffer: MTLCommandBuffer, error: Exception | None) -> None:
        """A command buffer ended, and what stopped it if it did not come to its own end."""


@dataclass(frozen=True, slots=True, eq=False)
class Watch:
    """What a command buffer is committed under: the checker, and all who want to know."""

    checker: Checker
    observers: tuple[Observer, ...]


_active: list[Watch] = []
_lock = threading.Lock()


@contextmanager
def checking(checker: Checker, *, observer: Observer | None = None) -> Iterator[Checker]:
    """Check all dispatches that any thread commits meanwhile; findings go to `checker`.

    Command buffers that were committed meanwhile are checked to their end, even if that comes
    after the block's: wait for them before looking at the findings. Of blocks inside one another
    the innermost has the checker that counts; the observers of all of them are told.
    """
    with _lock:
        outer = _active[-1].observers if _active else ()
        watch = Watch(checker, outer if observer is None else (*outer, observer))
        _active.append(watch)
    try:
        yield checker
    finally:
        with _lock:
            _active.remove(watch)


def current_watch() -> Watch | None:
    """The innermost block that is open, on whichever thread it was opened."""
    with _lock:
        return _active[-1] if _active else None


def leave_uninitialised(buffer: MTLBuffer, seed: int = 0) -> None:
    """Let what `buffer` holds count as never written; `seed` chooses the bytes that are there."""
    buffer._device._memory.memory.leave_uninitialised(buffer._address, seed)


def note_undefined(buffer: MTLBuffer) -> None:
    """Leave a fresh buffer whose contents Metal does not define uninitialised, if that is checked.

    Buffers that a device makes are cleared, by Metal's own promise; those of heaps are not.
    """
    watch = current_watch()
    if watch is not None and "init" in watch.checker.checks:
        leave_uninitialised(buffer, watch.checker.seed or 0)


def kernel_of(pipeline: MTLComputePipelineState) -> KernelFunction:
    """The kernel that a pipeline state was made of."""
    return pipeline._kernel


def sources_of(pipeline: MTLComputePipelineState) -> Mapping[str, str]:
    """Texts that a pipeline state's kernel was compiled from, by file name."""
    return pipeline._function._library._library.sources()


def argument_contents(
    device: MTLDevice, command: DispatchCommand
) -> dict[str, NDArray[np.uint8] | int]:
    """By argument name a copy of each buffer from its offset on, or bytes of threadgroup memory.

    Arguments that nothing is bound to are left out.
    """
    found: dict[str, NDArray[np.uint8] | int] = {}
    arguments = command.pipeline._kernel.arguments
    for argument, value in zip(arguments, command.arguments, strict=True):
        if argument.kind == "threadgroup":
            found[argument.name] = value
        elif argument.kind == "buffer":
            host, available = device._memory.memory.resolve(value)
            if available:
                # The command buffer keeps the allocation alive while its dispatch begins.
                raw = ctypes.string_at(host, available)
                found[argument.name] = np.frombuffer(raw, np.uint8)
    return found


class _Thread(threading.local):
    """What the command buffer that this thread runs was committed under."""

    watch: Watch | None = None


_thread = _Thread()


@contextmanager
def under(watch: Watch | None) -> Iterator[None]:
    """Dispatches that this thread runs meanwhile belong to `watch`."""
    _thread.watch = watch
    try:
        yield
    finally:
        _thread.watch = None


def watch_of_dispatch() -> Watch | None:
    """The watch of the dispatch that this thread runs."""
    return _thread.watch


def report_failure(watch: Watch, error: Exception) -> None:
    """Make a finding of the fault that ended a dispatch; other errors are none."""
    from assay.sim.simt import KernelFault

    if isinstance(error, KernelFault):
        watch.checker.report(fault_finding(error))
