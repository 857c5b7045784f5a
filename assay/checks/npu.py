"""Checks of executables of the NPU: one run that is watched."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from assay.hal import observe
from assay.hw.torq.check.kinds import NPU_CHECKS, UNREAD
from assay.sim.check import parse_checks

from ..reports.report import KernelRecord, Report

if TYPE_CHECKING:
    from assay.hal.torq.executable import LoadedExecutable

    from ..npu import NpuFunction

NOUN = "executable"


def npu_checks(checks: str | Iterable[str]) -> frozenset[str]:
    """Names of checks out of what a caller gave. Raises ValueError for one of other machines."""
    text = checks if isinstance(checks, str) else ",".join(checks)
    chosen = parse_checks(text, usual=NPU_CHECKS, others=(UNREAD,))
    if not chosen:
        raise ValueError("no check is named; expected names such as race,init")
    return chosen


def check_function(
    function: NpuFunction, values: Sequence[Any], report: Report, *, file: str = ""
) -> None:
    """Runs an executable while it is watched; inputs are zeros if none are given.

    A fault of the NPU is a finding, not an error. Raises NpuInputError, and StatusError if it
    cannot be run.
    """
    from assay.hal.status import StatusError

    begin = time.perf_counter()
    seen = _Seen()
    try:
        with observe.checking(report.new_checker(), observer=seen):
            function.invoke(values or function.zeros())
    except StatusError:
        if not report.all_findings:
            raise
    seconds = time.perf_counter() - begin
    for loaded in seen.executables:
        report.add_kernel(record_of(loaded, file=file, seconds=seconds))


class _Seen:
    """Notes which executables ran."""

    def __init__(self) -> None:
        self.executables: list[LoadedExecutable] = []

    def executable_runs(self, loaded: LoadedExecutable) -> None:
        """Note it, once."""
        if loaded not in self.executables:
            self.executables.append(loaded)


def record_of(loaded: LoadedExecutable, *, file: str = "", seconds: float = 0.0) -> KernelRecord:
    """What a report says of an executable that ran."""
    run = f"on {loaded.npu.name}"
    return KernelRecord(name=loaded.program, file=file, runs=(run,), seconds=seconds, noun=NOUN)
