"""Runs of executables watched for hazards: by which observers, and what is known before."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from assay.hw.torq.check.shadow import Shadow
from assay.hw.torq.check.watcher import Watcher
from assay.hw.torq.notes import Symbol

from ..observe import Watch
from .format import BufferType, Executable
from .lifetimes import over_budget
from .places import misplaced

if TYPE_CHECKING:
    from .executable import LoadedExecutable


@runtime_checkable
class TorqObserver(Protocol):
    """Told about what a program does while it is checked; on any thread."""

    def executable_runs(self, loaded: LoadedExecutable) -> None:
        """An executable is about to run on an NPU."""


@contextmanager
def watching(loaded: LoadedExecutable, watch: Watch, shadow: Shadow) -> Iterator[None]:
    """Tell `watch` of an executable's run: what the file itself tells, then what its NPU does.

    `shadow` knows what earlier runs wrote.
    """
    for observer in watch.of(TorqObserver):  # type: ignore[type-abstract]
        observer.executable_runs(loaded)
    executable, device = loaded.executable, loaded.device
    watcher = Watcher(
        watch.checker,
        program=loaded.program,
        symbols=symbols_of(executable),
        notes=executable.notes,
        shadow=shadow,
    )
    budget = over_budget(executable, device.machine.lram, loaded.program)
    for finding in (*([budget] if budget else []), *misplaced(executable, loaded.program)):
        watcher.tell(finding)
    for segment in executable.segments:
        if segment.data is not None:  # as it was loaded
            watcher.host("XRAM", segment.address, segment.address + len(segment.data), True)
    outer, device.watcher = device.watcher, watcher
    try:
        yield
        watcher.finish()
    finally:
        device.watcher = outer


def symbols_of(executable: Executable) -> list[Symbol]:
    """Names of memory that the executable itself gives: its bindings, its described buffers."""
    found = [
        Symbol(
            name=f"buffer {binding.number}",
            memory="XRAM",
            start=binding.address,
            stop=binding.address + binding.size,
        )
        for binding in executable.bindings
    ]
    found += [
        Symbol(
            name=f"buffer info {info.number}",
            memory=info.buffer_type.name,
            start=info.address,
            stop=info.address + info.size,
        )
        for info in executable.buffers
        if info.buffer_type in (BufferType.LRAM, BufferType.XRAM)
    ]
    return found
