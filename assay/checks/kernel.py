"""`check_kernel`: one kernel, with the caller's own arrays."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..launches.arguments import given_of, size_of
from ..launches.constants import compiled_kernel
from ..launches.inputs import ConstantValue, Setup
from ..launches.runner import CannotRun, Runner
from ..launches.source import library_of
from ..reports.report import KernelRecord, Report
from ..reports.suppressions import parse_suppression
from ..tracebacks import ends_in_caller
from .errors import CheckInputError
from .programs import chosen_checks
from .runs import record_of_run, run_setup


@ends_in_caller
def check_kernel(
    source: str | Path,
    function: str,
    *arguments: Any,
    threads: int | Sequence[int] | None = None,
    threadgroups: int | Sequence[int] | None = None,
    threadgroup: int | Sequence[int] | None = None,
    checks: str | Iterable[str] = "all",
    constants: Mapping[int | str, ConstantValue] | None = None,
    macros: Mapping[str, str] | None = None,
    include_paths: Iterable[str | Path] = (),
    uninitialised: Iterable[str] = (),
    seeds: Iterable[int] = (),
    suppress: Iterable[str] = (),
    chip: str = "m1",
) -> Report:
    """Run one kernel under checks; arrays are changed in place as buffers would be.

    Args:
        source: MSL, or the path of a file of it (a Path, or a text that ends in `.metal`).
        function: which kernel.
        arguments: one for each argument of the kernel, in order: an array for a buffer, a number or
            a list of numbers for `constant T&`, a dictionary of members for a struct, bytes for
            anything else, the number of bytes for threadgroup memory, None for what may be assumed.
        threads: size of the grid in threads, or `threadgroups` in threadgroups.
        threadgroups: see `threads`.
        threadgroup: size of a threadgroup in threads.
        checks: names such as `"race,init"`; `"all"` for the usual ones.
        constants: function constants by index or name.
        macros: preprocessor macros.
        include_paths: folders for `#include`.
        uninitialised: names of buffers whose contents count as never written.
        seeds: run again in the order of each, and compare the bits that are left.
        suppress: findings to accept, as `--suppress` of the command line has them.
        chip: which GPU, a key of `assay.hw.apple.facts.chips`.

    Raises:
        CheckInputError: if arguments or sizes do not fit the kernel, or it cannot be run.
        CompileError: if it does not compile.
        ValueError: for a name that is no check.
    """
    report = Report(
        chosen_checks(checks),
        suppressions=[parse_suppression(text) for text in suppress],
        seeds=seeds,
    )
    library = library_of(source, macros or {}, include_paths)
    report.add_sources(library.sources())
    if function not in library.function_names:
        known = ", ".join(library.function_names) or "none"
        raise CheckInputError(f"there is no kernel '{function}' in the source; there are {known}")
    group = size_of("threadgroup", threadgroup)
    kernel, assumed = compiled_kernel(library, function, constants or {}, group)
    setup = Setup(
        where=f"check_kernel '{function}'",
        threads=size_of("threads", threads),
        threadgroups=size_of("threadgroups", threadgroups),
        threadgroup=group,
        arguments=given_of(kernel, arguments, frozenset(uninitialised)),
    )
    if setup.threads is not None and setup.threadgroups is not None:
        raise CheckInputError(f"{setup.where}: give threads or threadgroups, not both")
    start = time.perf_counter()
    try:
        plan, outcome = run_setup(kernel, setup, Runner(library, chip=chip), report)
    except CannotRun as error:
        if not report.tells_budget(function):
            raise CheckInputError(f"{setup.where}: {error}") from None
        report.add_kernel(KernelRecord(name=function, file=kernel.file, line=kernel.line))
        return report
    report.add_kernel(
        record_of_run(
            kernel, plan, outcome, report, assumed=assumed, seconds=time.perf_counter() - start
        )
    )
    for argument, value in zip(kernel.arguments, arguments, strict=True):
        if isinstance(value, np.ndarray) and argument.access != "read" and value.flags.writeable:
            value[...] = outcome.buffers[argument.name].view(value.dtype).reshape(value.shape)
    return report
