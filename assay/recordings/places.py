"""Which lines of a kernel write a byte that differs, found by running its dispatch once more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.hal.metal.emulated import checking
from assay.hal.metal.emulated.commands.tracing import accesses_of
from assay.hal.recordings import DispatchRecord
from assay.sim.check import Checker
from assay.sim.simt import KernelFault, Memory

from .errors import CannotReplay
from .machine import Machine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.hal.metal.emulated import MTLComputePipelineState, MTLDevice
    from assay.hal.metal.emulated.commands.commands import DispatchCommand
    from assay.sim.simt.run.accesses import Accesses

_MOST = 4  # lines that are named


def writers(machine: Machine, record: DispatchRecord, memory: int, byte: int) -> tuple[str, ...]:
    """Lines, "file:line", that may write a byte of a buffer or texture; none if not known."""
    observer = _Observer()
    try:
        with checking(Checker({"race"}), observer=observer):
            ran = machine.run(record)
    except CannotReplay:
        return ()
    address, byte = ran.places[memory].memory_of(byte)
    handle = Memory.handle_of(address)
    lines = {
        (site.site.file, site.site.line)
        for each in observer.found
        if each.write and each.handle == handle
        for site, start, end in each.sites
        if start <= byte < end
    }
    return tuple(f"{file}:{line}" for file, line in sorted(lines)[:_MOST])


class _Observer:
    """Has a dispatch's accesses taken before it runs."""

    def __init__(self) -> None:
        self.found: Sequence[Accesses] = ()

    def pipeline_made(self, pipeline: MTLComputePipelineState) -> None:
        """Nothing to do."""

    def dispatch_begins(self, device: MTLDevice, command: DispatchCommand) -> None:
        """Its inputs are in place."""
        try:
            self.found = accesses_of(device, command)
        except KernelFault:
            self.found = ()  # the dispatch itself tells
