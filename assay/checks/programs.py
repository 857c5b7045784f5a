"""Checks programs that dispatch kernels themselves: scripts, modules, tests, blocks of code."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

from assay.hal.metal.emulated.commands.checking import kernel_of, sources_of
from assay.hal.metal.emulated.worker import is_busy
from assay.hal.observe import checking as work_checking

from ..launches.grid import grid_text
from ..reports.report import KernelRecord, Report
from ..tracebacks import ends_in_caller
from .registers import register_finding

if TYPE_CHECKING:
    from assay.hal.metal.emulated import MTLCommandBuffer, MTLComputePipelineState, MTLDevice
    from assay.hal.metal.emulated.commands.commands import DispatchCommand
    from assay.hal.torq.executable import LoadedExecutable


_IDLE_S = 1.0
"""Seconds without any work after which what is unfinished counts as never ending."""


class ProgramObserver:
    """Notes which kernels and executables a program runs, and the sources that they come from."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._lock = threading.Lock()
        self._unfinished: dict[int, MTLCommandBuffer] = {}

    def pipeline_made(self, pipeline: MTLComputePipelineState) -> None:
        """Keep the source, for quoting and for the suppressions in it."""
        with self._lock:
            self._report.add_sources(sources_of(pipeline))
        if "budget" in self._report.checks:
            finding = register_finding(kernel_of(pipeline))
            if finding is not None:
                self._report.add(finding)

    def buffer_committed(self, buffer: MTLCommandBuffer) -> None:
        """Remember a command buffer until its end."""
        with self._lock:
            self._unfinished[id(buffer)] = buffer

    def buffer_ended(self, buffer: MTLCommandBuffer, error: Exception | None) -> None:
        """Note what stopped it, if that is no finding: then kernels of it were not checked."""
        from assay.sim.simt import KernelFault

        with self._lock:
            self._unfinished.pop(id(buffer), None)
            if error is not None and not isinstance(error, KernelFault):
                self._report.add_obstacle(f"a command buffer ended with an error: {error}")

    def wait(self) -> None:
        """Let command buffers end that a program left to run, as long as any does something."""
        idle_since = time.monotonic()
        while self._unfinished and time.monotonic() - idle_since < _IDLE_S:
            before = len(self._unfinished)
            time.sleep(0.01)
            if is_busy() or len(self._unfinished) != before:
                idle_since = time.monotonic()
        with self._lock:
            if self._unfinished:
                self._report.add_obstacle(
                    f"{len(self._unfinished)} committed command buffers did not end: they wait for "
                    "something that does not come"
                )

    def dispatch_begins(self, device: MTLDevice, command: DispatchCommand) -> None:
        """Count the kernel among those that were checked."""
        kernel = kernel_of(command.pipeline)
        run = grid_text(command.threads, command.threadgroups, command.threads_per_threadgroup)
        with self._lock:
            self._report.add_kernel(
                KernelRecord(name=kernel.name, file=kernel.file, line=kernel.line, runs=(run,))
            )

    def executable_runs(self, loaded: LoadedExecutable) -> None:
        """Count the NPU's executable among what was checked."""
        from .npu import record_of

        with self._lock:
            self._report.add_kernel(record_of(loaded))


@contextmanager
def checked(report: Report, *, seed: int | None = None) -> Iterator[Report]:
    """Check what is submitted meanwhile, by any thread, to any emulated device.

    At the end, what was committed and not waited for is let run.
    """
    observer = ProgramObserver(report)
    with work_checking(report.new_checker(seed), observer=observer):
        yield report
    observer.wait()


@ends_in_caller
def checking(
    checks: str | Iterable[str] = "all", *, seed: int | None = None
) -> AbstractContextManager[Report]:
    """Check all that a program runs on emulated GPUs and NPUs inside of the block.

    Args:
        checks: names such as `"race,init"` or `["race", "init"]`; `"all"` for the usual ones.
        seed: runs threadgroups and simdgroups in another order; None leaves the natural one.

    Wait for command buffers before the block ends, then look at `report.findings`.

    Raises:
        ValueError: for a name that is no check.
    """
    return checked(Report(chosen_checks(checks)), seed=seed)


def chosen_checks(checks: str | Iterable[str]) -> frozenset[str]:
    """Names of checks out of what a caller gave. Raises ValueError."""
    from assay.sim.check import parse_checks

    return parse_checks(checks if isinstance(checks, str) else ",".join(checks))
