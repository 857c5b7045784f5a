"""Checks programs that dispatch kernels themselves: scripts, modules, tests, blocks of code."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from assay.hal.metal.emulated.commands.checking import kernel_of, sources_of
from assay.hal.observe import checking as work_checking

from ..launches.grid import grid_text
from ..reports.report import KernelRecord, Report
from .registers import register_finding

if TYPE_CHECKING:
    from assay.hal.metal.emulated import MTLComputePipelineState, MTLDevice
    from assay.hal.metal.emulated.commands.commands import DispatchCommand
    from assay.hal.torq.executable import LoadedExecutable


class ProgramObserver:
    """Notes which kernels and executables a program runs, and the sources that they come from."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._lock = threading.Lock()

    def pipeline_made(self, pipeline: MTLComputePipelineState) -> None:
        """Keep the source, for quoting and for the suppressions in it."""
        with self._lock:
            self._report.add_sources(sources_of(pipeline))
        if "budget" in self._report.checks:
            finding = register_finding(kernel_of(pipeline))
            if finding is not None:
                self._report.add(finding)

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
    """Check what is submitted meanwhile, by any thread, to any emulated device."""
    with work_checking(report.new_checker(seed), observer=ProgramObserver(report)):
        yield report


@contextmanager
def checking(checks: str | Iterable[str] = "all", *, seed: int | None = None) -> Iterator[Report]:
    """Check all that a program runs on emulated GPUs and NPUs inside of the block.

    Args:
        checks: names such as `"race,init"` or `["race", "init"]`; `"all"` for the usual ones.
        seed: runs threadgroups and simdgroups in another order; None leaves the natural one.

    Wait for command buffers before the block ends, then look at `report.findings`.

    Raises:
        ValueError: for a name that is no check.
    """
    with checked(Report(chosen_checks(checks)), seed=seed) as report:
        yield report


def chosen_checks(checks: str | Iterable[str]) -> frozenset[str]:
    """Names of checks out of what a caller gave. Raises ValueError."""
    from assay.sim.check import parse_checks

    return parse_checks(checks if isinstance(checks, str) else ",".join(checks))
