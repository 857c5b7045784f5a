"""`assay check` of .metal files: their kernels one by one, or by several processes."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..options.check import ManyOptions
from ..options.common import KernelOptions
from ..terminal import progress

if TYPE_CHECKING:
    from ...checks import Report, SourceOptions
    from ...reports.report import ReportPart

_FEW = 8  # kernels that one process checks sooner than several would start
_TIMEOUT_S = 120.0  # of a kernel where nobody says so, and several processes are at work
_QUIET_S = 15.0  # between two lines of progress without a terminal


def check_sources(
    files: list[Path],
    functions: list[str],
    report: "Report",
    kernel: KernelOptions,
    many: ManyOptions,
) -> None:
    """Check files; of one that does not compile the report tells, and the others are checked."""
    from assay.compiler.msl import CompileError

    from ...checks import Inputs, SourceOptions, read_file, read_source

    inputs = read_file(kernel.args) if kernel.args is not None else Inputs()
    options = SourceOptions(
        functions=tuple(functions),
        only_listed=many.only_listed,
        macros=kernel.macros(),
        include_paths=tuple(kernel.include or []),
        inputs=inputs,
    )
    with _told() as told:
        for path in files:
            told.say(f"reading {path}")
            source = read_source(path)
            try:
                _check_file(source, str(path), report, options, many, told)
            except CompileError as error:
                report.add_sources({str(path): source})
                report.add_uncompiled(str(path), str(error))
            except (KeyboardInterrupt, SystemExit) as end:
                report.add_obstacle(f"{path}: {_stopped(end)} {told.state()}")
                raise


def _check_file(
    source: str,
    file_name: str,
    report: "Report",
    options: "SourceOptions",
    many: ManyOptions,
    told: "_Told",
) -> None:
    from assay.sim.simt.run.settings import default_workers

    from ...checks.processes import Task, check_in_processes
    from ...checks.source import SourceCheck

    checked = SourceCheck(source, file_name, options)
    checked.begin(report)
    told.begin(len(checked.names))
    jobs = many.jobs or default_workers()
    if many.timeout_per_kernel is None and (jobs == 1 or len(checked.names) < _FEW):
        for name in checked.names:
            told.say(f"checking {name}")
            told.finished(name, report.absorb(checked.part(name, report.checks, report.seeds)))
        return
    task = Task(
        source=source,
        file_name=file_name,
        options=options,
        checks=report.checks,
        seeds=report.seeds,
    )
    timeout = many.timeout_per_kernel or _TIMEOUT_S
    for name, part in check_in_processes(task, checked.names, jobs=jobs, timeout=timeout):
        told.finished(name, report.absorb(part))
    report.sort_kernels(checked.names)


def _stopped(end: BaseException) -> str:
    by = "Ctrl-C" if isinstance(end, KeyboardInterrupt) else "a signal"
    return f"the check was stopped by {by}"


@contextmanager
def _told() -> "Iterator[_Told]":
    with progress() as say:
        yield _Told(say)


class _Told:
    """What stderr says of kernels as they finish: those with findings, and now and then how many.

    Of few kernels it says nothing: their report comes soon.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self.say = say
        self._total = self._done = 0
        self._since = time.monotonic()

    def begin(self, total: int) -> None:
        """A file with so many kernels to check."""
        self._total, self._done = total, 0

    def state(self) -> str:
        """How far it is."""
        return f"after {self._done} of {self._total} kernels"

    def finished(self, name: str, part: "ReportPart") -> None:
        """A kernel, with what was found in it."""
        self._done += 1
        if self._total < _FEW:
            return
        state = f"{self._done}/{self._total}"
        self.say(f"{state} {name}")
        lines = [f"{state} {name}: {each}" for each in _in_short(part)]
        if not lines and not sys.stderr.isatty() and time.monotonic() - self._since > _QUIET_S:
            lines = [f"{state} kernels checked"]
        if lines:
            self._since = time.monotonic()
            print("\n".join(lines), file=sys.stderr, flush=True)


def _in_short(part: "ReportPart") -> Iterator[str]:
    for kernel in part.kernels:
        if kernel.problem:
            yield f"not checked: {kernel.problem.splitlines()[0]}"
    for finding in part.findings:
        yield f"{finding.kind} at {finding.site}"
