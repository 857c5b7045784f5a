"""What an NPU did while it ran an executable, for those who time programs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from assay.hw.torq.device.events import Access, Work
from assay.hw.torq.facts.costs import Machine
from assay.hw.torq.facts.hardware import Hardware
from assay.hw.torq.notes import Notes

if TYPE_CHECKING:
    from .executable import LoadedExecutable


@dataclass(frozen=True, slots=True, kw_only=True)
class NpuRun:
    """One run of an executable.

    Attributes:
        program: its name.
        npu, machine: which hardware, with its sizes and speeds.
        begin, end: cycles of the NPU's clock; it goes on from run to run.
        events: what the units did; `accesses` which memory they touched, if that was asked for.
        notes: what the compiler knows, such as names of places in memory.
        failed: whether it ended with an error; then it is timed up to there.
    """

    program: str
    npu: Hardware
    machine: Machine
    begin: int
    end: int
    events: tuple[Work, ...] = field(repr=False)
    accesses: tuple[Access, ...] = field(repr=False)
    notes: Notes = field(repr=False)
    failed: bool = False


@runtime_checkable
class TorqTimer(Protocol):
    """Told of runs of executables on any NPU; on any thread.

    `keeps_accesses` says whether the memory that units touch is to be recorded, too.
    """

    keeps_accesses: bool

    def npu_ran(self, run: NpuRun) -> None:
        """An executable was run, or has failed."""


@contextmanager
def timed(loaded: LoadedExecutable, timer: TorqTimer | None) -> Iterator[None]:
    """Pass what the executable's NPU does meanwhile to `timer`."""
    if timer is None:
        yield
        return
    device = loaded.device
    keeps, device.keeps_accesses = device.keeps_accesses, timer.keeps_accesses
    begin, works, accesses = device.now, len(device.events), len(device.accesses)
    failed = True
    try:
        yield
        failed = False
    finally:
        device.keeps_accesses = keeps
        timer.npu_ran(
            NpuRun(
                program=loaded.program,
                npu=loaded.npu,
                machine=device.machine,
                begin=begin,
                end=device.now,
                events=tuple(device.events[works:]),
                accesses=tuple(device.accesses[accesses:]),
                notes=loaded.executable.notes,
                failed=failed,
            )
        )
