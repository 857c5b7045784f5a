"""Checks the kernels of MSL source: each is run with what was given, or with what is assumed."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from assay.sim.names import choices

from ..launches.constants import compiled_kernel
from ..launches.errors import LaunchInputError
from ..launches.inputs import Setup
from ..launches.opening import opened_library
from ..launches.runner import CannotRun, Runner
from ..launches.source import chosen_kernels, unknown_kernels
from ..reports.report import KernelRecord, Report, ReportPart
from .errors import CheckInputError
from .inputs import Inputs, read_annotations
from .runs import record_of_run, run_setup

if TYPE_CHECKING:
    from assay.compiler.msl import KernelFunction, KernelLibrary


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions:
    """How source is compiled and which of it is checked.

    `functions` names kernels, also with `*`; without any, all are meant. `only_listed` leaves out
    those that nothing says how to run. `chip` is the GPU that they run on. `fuel` limits the
    instructions of a simdgroup.
    """

    functions: tuple[str, ...] = ()
    only_listed: bool = False
    macros: Mapping[str, str] = field(default_factory=dict)
    include_paths: tuple[Path, ...] = ()
    inputs: Inputs = field(default_factory=Inputs)
    chip: str = "m1"
    fuel: int | None = None


class SourceCheck:
    """One text, compiled, with what its kernels are given. `names` are those to be checked.

    Raises:
        CompileError: if the text does not compile.
        CheckInputError: if there is no kernel to check.
    """

    def __init__(self, source: str, file_name: str, options: SourceOptions) -> None:
        from assay.compiler.msl import CompileOptions

        self._options = options
        self._library = opened_library(
            source,
            file_name,
            CompileOptions(
                macros=options.macros,
                include_paths=(*options.include_paths, Path(file_name).parent),
            ),
        )
        self._inputs = _joined(read_annotations(source, file_name), options.inputs)
        self._sources = self._library.sources()
        self._runner = Runner(self._library, chip=options.chip, fuel=options.fuel)
        self.names = _chosen(self._library, options, self._inputs)
        self._library.prepare(self.names)

    def begin(self, report: Report) -> None:
        """Tell the report all that does not belong to one kernel."""
        report.add_sources(self._sources)
        report.suppress(self._inputs.suppressions)
        if not self._options.functions:
            for error in unknown_kernels(self._inputs.setups, self._library):
                report.add_obstacle(error)
        elif self._options.inputs.setups:
            for name in self.names:
                if name not in self._inputs.setups:
                    said = choices(name, self._options.inputs.setups)
                    report.add_note(
                        f"nothing says how kernel '{name}' is run, all of it is assumed: there is "
                        f"no [kernel.{name}] in --args; {said}"
                    )

    def check(self, name: str, report: Report) -> None:
        """Run one kernel as often as it is to be run; mistakes in that concern it alone."""
        for setup in self._inputs.setups.get(name, (Setup(),)):
            try:
                _check_kernel(self._library, name, setup, self._runner, report)
            except LaunchInputError as error:
                file, line = self._library.places()[name]
                report.add_kernel(KernelRecord(name=name, file=file, line=line, problem=str(error)))
        report.add_sources(self._library.sources())  # with the listing of a compiled kernel

    def part(self, name: str, checks: Iterable[str], seeds: Iterable[int]) -> ReportPart:
        """What is found in one kernel."""
        report = Report(checks, seeds=seeds)
        report.add_sources(self._sources)
        self.check(name, report)
        return report.part(known=self._sources)


def check_source(source: str, file_name: str, report: Report, options: SourceOptions) -> None:
    """Check the kernels of one text; what is found goes into `report`.

    Raises:
        CompileError: if the text does not compile.
        CheckInputError: if there is no kernel to check.
    """
    checked = SourceCheck(source, file_name, options)
    checked.begin(report)
    for name in checked.names:
        checked.check(name, report)


def _joined(first: Inputs, second: Inputs) -> Inputs:
    """Both; what the second says of a kernel replaces what the first does."""
    return Inputs(
        setups={**first.setups, **second.setups},
        suppressions=(*first.suppressions, *second.suppressions),
    )


def _chosen(library: KernelLibrary, options: SourceOptions, inputs: Inputs) -> tuple[str, ...]:
    """The kernels to check, in the order of the source. Raises CheckInputError."""
    chosen = chosen_kernels(library, options.functions)
    if not options.only_listed:
        return chosen
    listed = tuple(name for name in chosen if name in inputs.setups)
    if not listed:
        raise CheckInputError(
            f"{library.file_name}: --only-listed: neither --args nor //! lines say how a kernel "
            f"is run; there are {choices('', chosen).removeprefix('there are ')}"
        )
    return listed


def _check_kernel(
    library: KernelLibrary, name: str, setup: Setup, runner: Runner, report: Report
) -> None:
    """One kernel with one setup. Raises LaunchInputError."""
    from assay.compiler.msl import CompileError

    start = time.perf_counter()
    try:
        kernel, assumed = compiled_kernel(library, name, setup.constants, setup.threadgroup)
    except CompileError as error:  # of this kernel alone: the text itself was read
        report.add_uncompiled_kernel(name, library.file_name, str(error))
        return
    try:
        plan, outcome = run_setup(kernel, setup, runner, report)
    except CannotRun as error:
        _cannot(kernel, "" if report.tells_budget(name) else str(error), report)
        return
    report.add_kernel(
        record_of_run(
            kernel, plan, outcome, report, assumed=assumed, seconds=time.perf_counter() - start
        )
    )


def _cannot(kernel: KernelFunction, reason: str, report: Report) -> None:
    """Add a kernel that did not run; without a reason, its findings tell why."""
    report.add_kernel(
        KernelRecord(name=kernel.name, file=kernel.file, line=kernel.line, problem=reason)
    )
