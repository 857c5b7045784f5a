"""What the pytest plugin sees of one test: findings, budgets, inputs of kernels."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.hal.metal.emulated.commands.checking import kernel_of
from assay.hal.observe import checking
from assay.sim.check import Finding, Party
from assay.sim.site import Site

from .checks import Report, chosen_checks, report_json
from .checks.programs import ProgramObserver
from .checks.registers import register_finding
from .launches.keep import InputKeeper, file_name

if TYPE_CHECKING:
    from assay.hal.metal.emulated import MTLCommandBuffer, MTLComputePipelineState, MTLDevice
    from assay.hal.metal.emulated.commands.commands import DispatchCommand
    from assay.hal.torq.executable import LoadedExecutable

    from .prediction import Timing


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgets:
    """What kernels of a test may use: bytes, and registers of 32 bits; None for any number."""

    threadgroup_memory: int | None = None
    registers: int | None = None


class Watched:
    """One test: the report of what it ran itself, and those of `check_kernel`."""

    def __init__(self, report: Report, *, budgets: Budgets, keep: bool) -> None:
        self.report = report
        self._budgets = budgets
        self._keeper = InputKeeper() if keep else None
        self.timing: Timing | None = None
        """The predicted times of what the test ran, if they are kept."""
        self._program = ProgramObserver(report)
        self._others: list[Report] = []

    def add(self, report: Report) -> None:
        """Another report that belongs to the test."""
        self._others.append(report)

    def pipeline_made(self, pipeline: MTLComputePipelineState) -> None:
        """Compare what the kernel declares with the budget."""
        self._program.pipeline_made(pipeline)
        self._weigh(pipeline, pipeline.staticThreadgroupMemoryLength())
        if self._budgets.registers is not None:
            most = self._budgets.registers
            finding = register_finding(kernel_of(pipeline), most, who="the test allows")
            if finding is not None:
                self.report.add(finding)

    def buffer_committed(self, buffer: MTLCommandBuffer) -> None:
        """Remember it until its end."""
        self._program.buffer_committed(buffer)

    def buffer_ended(self, buffer: MTLCommandBuffer, error: Exception | None) -> None:
        """Note what kept its kernels from being checked."""
        self._program.buffer_ended(buffer, error)

    def dispatch_begins(self, device: MTLDevice, command: DispatchCommand) -> None:
        """Compare what the dispatch has with the budget; keep its inputs."""
        self._program.dispatch_begins(device, command)
        kernel = kernel_of(command.pipeline)
        given = sum(
            length
            for argument, length in zip(kernel.arguments, command.arguments, strict=True)
            if argument.kind == "threadgroup"
        )
        if given:
            static = command.pipeline.staticThreadgroupMemoryLength()
            self._weigh(command.pipeline, static + given)
        if self._keeper is not None:
            self._keeper.dispatch_begins(device, command)

    def executable_runs(self, loaded: LoadedExecutable) -> None:
        """Count the NPU's executable among what the test ran."""
        self._program.executable_runs(loaded)

    def _weigh(self, pipeline: MTLComputePipelineState, used: int) -> None:
        limit = self._budgets.threadgroup_memory
        if limit is None or used <= limit:
            return
        kernel = kernel_of(pipeline)
        self.report.add(
            Finding(
                check="budget",
                kind="threadgroup-memory",
                kernel=kernel.name,
                message=f"kernel '{kernel.name}' uses {used} bytes of threadgroup memory; the test "
                f"allows {limit}",
                parties=(Party(what="declared", site=Site(kernel.file, kernel.line, 1)),),
                hint="use smaller tiles, or raise max of @pytest.mark.threadgroup_memory",
            )
        )

    def text(self) -> str:
        """The findings for people; empty if there are none."""
        return str(self.report) if self.report.findings else ""

    def write(self, folder: Path, test: str) -> Path:
        """Write findings and inputs below `folder`; where they are."""
        target = folder / file_name(test)
        target.mkdir(parents=True, exist_ok=True)
        reports = [report_json(report) for report in (self.report, *self._others)]
        text = json.dumps({"test": test, "reports": reports}, indent=2, ensure_ascii=False)
        (target / "findings.json").write_text(text + "\n")
        if self._keeper is not None:
            self._keeper.write(target)
        if self.timing is not None:
            _write_timeline(self.timing, target)
        return target


def _write_timeline(timing: Timing, folder: Path) -> None:
    """Write what was dispatched as a timeline, and why some of it is missing there, if it is."""
    result = timing.result(partial=True)
    if timing.failures:
        (folder / "timeline.txt").write_text("".join(f"{each}\n" for each in timing.failures))
    if result.dispatches:
        result.save_trace(folder / "timeline.html")


@contextmanager
def watching(
    checks: str | None, *, keep: bool, budgets: Budgets, chip: str = "m1"
) -> Iterator[Watched]:
    """Watch all that the process dispatches; without `checks`, nothing is looked for.

    To `keep` what a failing test ran, times are predicted for `chip` on the way.
    """
    report = Report(chosen_checks(checks) if checks is not None else ())
    watched = Watched(report, budgets=budgets, keep=keep)
    with checking(report.new_checker(), observer=watched), _timed(watched, keep, chip):
        yield watched


@contextmanager
def _timed(watched: Watched, keep: bool, chip: str) -> Iterator[None]:
    if not keep:
        yield
        return
    from .prediction import timing

    with timing(chip, program="test", timeline=True) as watched.timing:
        yield
