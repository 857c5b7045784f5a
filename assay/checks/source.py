"""Checks the kernels of MSL source: each is run with what was given, or with what is assumed."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ..launches.constants import compiled_kernel
from ..launches.inputs import Setup
from ..launches.runner import CannotRun, Runner
from ..launches.source import require_known
from ..reports.report import KernelRecord, Report
from .errors import CheckInputError
from .inputs import Inputs, read_annotations
from .runs import record_of_run, run_setup

if TYPE_CHECKING:
    from assay.compiler.msl import KernelFunction, Library


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions:
    """How source is compiled and which of it is checked."""

    functions: tuple[str, ...] = ()
    macros: Mapping[str, str] = field(default_factory=dict)
    include_paths: tuple[Path, ...] = ()
    inputs: Inputs = field(default_factory=Inputs)
    chip: str = "m1"


def check_source(source: str, file_name: str, report: Report, options: SourceOptions) -> None:
    """Check the kernels of one text; what is found goes into `report`.

    Raises:
        CompileError: if the text does not compile.
        CheckInputError: if what was given does not fit it.
    """
    from assay.compiler.msl import CompileOptions, compile_library

    library = compile_library(
        source,
        options=CompileOptions(
            macros=options.macros,
            include_paths=(*options.include_paths, Path(file_name).parent),
        ),
        file_name=file_name,
    )
    inputs = _joined(read_annotations(source, file_name), options.inputs)
    report.add_sources(library.sources())
    report.suppress(inputs.suppressions)
    names = _chosen(library, file_name, options.functions)
    if not options.functions:
        require_known(inputs.setups, library, file_name)
    library.prepare(names)
    runner = Runner(library, chip=options.chip)
    for name in names:
        for setup in inputs.setups.get(name, (Setup(),)):
            _check_kernel(library, name, setup, runner, report)


def _joined(first: Inputs, second: Inputs) -> Inputs:
    """Both; what the second says of a kernel replaces what the first does."""
    return Inputs(
        setups={**first.setups, **second.setups},
        suppressions=(*first.suppressions, *second.suppressions),
    )


def _chosen(library: Library, file_name: str, functions: Iterable[str]) -> tuple[str, ...]:
    chosen = tuple(functions) or library.function_names
    for name in chosen:
        if name not in library.function_names:
            raise CheckInputError(
                f"{file_name}: there is no kernel '{name}'; there are "
                f"{', '.join(library.function_names) or 'none'}"
            )
    if not chosen:
        raise CheckInputError(f"{file_name}: there is no kernel in it")
    return chosen


def _check_kernel(
    library: Library, name: str, setup: Setup, runner: Runner, report: Report
) -> None:
    """One kernel with one setup."""
    from assay.compiler.msl import CompileError

    start = time.perf_counter()
    try:
        kernel, assumed = compiled_kernel(library, name, setup.constants)
    except CompileError as error:  # of this kernel alone: the text itself was read
        report.add_kernel(KernelRecord(name=name, file=library.file_name, problem=str(error)))
        return
    try:
        plan, _ = run_setup(kernel, setup, runner, report)
    except CannotRun as error:
        _cannot(kernel, "" if report.tells_budget(name) else str(error), report)
        return
    report.add_kernel(
        record_of_run(kernel, plan, assumed=assumed, seconds=time.perf_counter() - start)
    )


def _cannot(kernel: KernelFunction, reason: str, report: Report) -> None:
    """Add a kernel that did not run; without a reason, its findings tell why."""
    report.add_kernel(
        KernelRecord(name=kernel.name, file=kernel.file, line=kernel.line, problem=reason)
    )
