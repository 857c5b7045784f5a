"""Kernels of one text checked by several processes, each stopped when it takes too long."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ..reports.report import KernelRecord, ReportPart
from .errors import CheckInputError
from .pool import Lost, done_by_processes, internal_error, serve
from .source import SourceCheck, SourceOptions

_WORKER = "from assay.checks.processes import work; work()"


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What each process is told first: a text with its options, and what to look for."""

    source: str
    file_name: str
    options: SourceOptions
    checks: tuple[str, ...]
    seeds: tuple[int, ...]


def check_in_processes(
    task: Task, names: Sequence[str], *, jobs: int, timeout: float | None
) -> Iterator[tuple[str, ReportPart]]:
    """Check kernels; each with what was found, in the order in which they finish.

    Args:
        task: the text, compiled before.
        names: the kernels.
        jobs: how many processes are at work at a time.
        timeout: seconds that a kernel may take, None for any number.
    """
    for name, part in done_by_processes(_WORKER, task, names, jobs=jobs, timeout=timeout):
        yield name, _lost(name, part, timeout or 0) if isinstance(part, Lost) else part


def _lost(name: str, lost: Lost, timeout: float) -> ReportPart:
    if not lost.is_late:
        return _unchecked(name, f"its process ended early{lost.ending}")
    return _unchecked(
        name,
        f"it took more than {timeout:g} s (--timeout-per-kernel); state smaller "
        "arguments or a smaller grid in --args",
    )


def _unchecked(name: str, problem: str) -> ReportPart:
    return ReportPart(kernels=(KernelRecord(name=name, problem=problem),))


def work() -> None:
    """What a process does: check the kernels that it is given."""
    serve(_begun)


def _begun(task: Task) -> Callable[[str], ReportPart]:
    try:
        checked: SourceCheck | Exception = SourceCheck(task.source, task.file_name, task.options)
    except Exception as error:  # the caller compiled it before: the cache or a file has gone
        checked = error
    return lambda name: _part(checked, name, task)


def _part(checked: SourceCheck | Exception, name: str, task: Task) -> ReportPart:
    """What is found in one kernel; an internal error is the problem of that kernel."""
    try:
        if isinstance(checked, Exception):
            raise checked
        return checked.part(name, task.checks, task.seeds)
    except CheckInputError as error:
        return _unchecked(name, str(error))
    except Exception as error:
        return _unchecked(name, internal_error(error))
