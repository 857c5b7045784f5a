"""`assay check` of .metal files: their kernels one by one, or by several processes."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ..crash_trace import stopped_by
from ..options.check import ManyOptions
from ..options.common import KernelOptions
from ..terminal import FEW, Counted, counted

if TYPE_CHECKING:
    from ...checks import Report, SourceOptions
    from ...reports.report import ReportPart

_TIMEOUT_S = 120.0  # of a kernel where nobody says so, and several processes are at work


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
    with counted("checked") as told:
        for path in files:
            told.say(f"reading {path}")
            source = read_source(path)
            try:
                _check_file(source, str(path), report, options, many, told)
            except CompileError as error:
                report.add_sources({str(path): source})
                report.add_uncompiled(str(path), str(error))
            except (KeyboardInterrupt, SystemExit) as end:
                report.add_obstacle(f"{path}: the check was {stopped_by(end)} {told.state()}")
                raise


def _check_file(
    source: str,
    file_name: str,
    report: "Report",
    options: "SourceOptions",
    many: ManyOptions,
    told: Counted,
) -> None:
    from assay.sim.simt.run.settings import default_workers

    from ...checks.processes import Task, check_in_processes
    from ...checks.source import SourceCheck

    checked = SourceCheck(source, file_name, options)
    checked.begin(report)
    told.begin(len(checked.names))
    jobs = many.jobs or default_workers()
    if many.timeout_per_kernel is None and (jobs == 1 or len(checked.names) < FEW):
        # So few are checked sooner than several processes would start.
        for name in checked.names:
            told.say(f"checking {name}")
            part = report.absorb(checked.part(name, report.checks, report.seeds))
            told.finished(name, _in_short(part))
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
        told.finished(name, _in_short(report.absorb(part)))
    report.sort_kernels(checked.names)


def _in_short(part: "ReportPart") -> Iterator[str]:
    for kernel in part.kernels:
        if kernel.problem:
            yield f"not checked: {kernel.problem.splitlines()[0]}"
    for finding in part.findings:
        yield f"{finding.kind} at {finding.site}"
