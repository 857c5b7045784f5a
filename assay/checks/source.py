"""Checks the kernels of MSL source: each is run with what was given, or with what is assumed."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import CheckInputError
from .inputs import ConstantValue, Inputs, Setup, read_annotations
from .plan import Plan, make_plan
from .report import KernelRecord, Report
from .runner import CannotRun, Outcome, Runner, order_finding

if TYPE_CHECKING:
    from assay.compiler.msl import KernelFunction, Library

_GROWTHS = (1, 16, 256, 4096)  # of assumed buffers, while the kernel reaches beyond them


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions:
    """How source is compiled and which of it is checked."""

    functions: tuple[str, ...] = ()
    macros: Mapping[str, str] = field(default_factory=dict)
    include_paths: tuple[Path, ...] = ()
    inputs: Inputs = field(default_factory=Inputs)
    chip: str = "m1"


def read_source(path: Path) -> str:
    """The text of a file. Raises CheckInputError."""
    try:
        return path.read_text(errors="replace")
    except OSError as error:
        raise CheckInputError(f"{path}: cannot be read: {error.strerror or error}") from None


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
        _require_known(inputs, library, file_name)
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


def _require_known(inputs: Inputs, library: Library, file_name: str) -> None:
    for name, setups in inputs.setups.items():
        if name not in library.function_names:
            raise CheckInputError(
                f"{setups[0].where}: there is no kernel '{name}' in {file_name}; there are "
                f"{', '.join(library.function_names) or 'none'}"
            )


def _check_kernel(
    library: Library, name: str, setup: Setup, runner: Runner, report: Report
) -> None:
    """One kernel with one setup."""
    start = time.perf_counter()
    kernel, assumed = _compiled(library, name, setup.constants)
    try:
        plan = _run(kernel, setup, runner, report)
    except CannotRun as error:
        _cannot(kernel, str(error), report)
        return
    report.add_kernel(
        KernelRecord(
            name=name,
            file=kernel.file,
            line=kernel.line,
            runs=(str(plan.grid),),
            assumptions=(*assumed, *plan.assumptions),
            assumed_memory=plan.assumed_memory,
            seconds=time.perf_counter() - start,
        )
    )


def _cannot(kernel: KernelFunction, reason: str, report: Report) -> None:
    report.add_kernel(
        KernelRecord(name=kernel.name, file=kernel.file, line=kernel.line, problem=reason)
    )


def _compiled(
    library: Library, name: str, constants: Mapping[int | str, ConstantValue]
) -> tuple[KernelFunction, tuple[str, ...]]:
    """The kernel, and what was assumed for function constants that it needs."""
    from assay.compiler.msl import CompileError

    try:
        return library.function(name, constants), ()
    except CompileError:
        missing = [
            constant
            for constant in library.constants
            if constant.index not in constants and constant.name not in constants
        ]
        if not missing:
            raise
    values: dict[int | str, ConstantValue] = {
        constant.index: _assumed_constant(constant.type_name) for constant in missing
    }
    kernel = library.function(name, {**constants, **values})
    said = tuple(f"{each.name} = {_spelled(values[each.index])}" for each in missing)
    return kernel, said


def _assumed_constant(type_name: str) -> ConstantValue:
    from .scalars import axes_of, element_of

    element = element_of(type_name)
    kind = element.kind if element is not None else "i"
    value = False if kind == "b" else 1 if kind in "iu" else 1.0
    axes = axes_of(type_name)
    return value if axes == 1 else (value,) * axes


def _spelled(value: ConstantValue) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _run(kernel: KernelFunction, setup: Setup, runner: Runner, report: Report) -> Plan:
    """Run the kernel, with larger assumed buffers while it needs them, and by every seed."""
    for growth in _GROWTHS:
        plan = make_plan(kernel, setup, growth=growth)
        checker = report.new_checker()
        outcome = runner.run(plan, checker)
        if not (outcome.is_fault and plan.can_grow and _beyond(outcome, plan)):
            break
        if growth != _GROWTHS[-1]:
            report.discard(checker)
    _require_run(outcome)
    _run_seeds(plan, outcome, runner, report)
    return plan


def _beyond(outcome: Outcome, plan: Plan) -> bool:
    """Whether the kernel left a buffer whose size was only assumed."""
    from assay.sim.simt import KernelFault

    fault = outcome.error
    return isinstance(fault, KernelFault) and fault.buffer in plan.assumed_memory


def _run_seeds(plan: Plan, natural: Outcome, runner: Runner, report: Report) -> None:
    """Run in other orders, and compare the bits that are left with those of the first run."""
    first, first_name = natural, "the natural order"
    for seed in report.seeds:
        outcome = runner.run(plan, report.new_checker(seed))
        _require_run(outcome)
        if first.error is not None or outcome.error is not None:
            continue
        for name, data in outcome.buffers.items():
            if (data != first.buffers[name]).any():
                seeds = f"{first_name} and seed {seed}"
                report.add(order_finding(plan, name, first.buffers[name], data, seeds))


def _require_run(outcome: Outcome) -> None:
    """CannotRun if something else than the kernel's own doing stopped it."""
    if outcome.error is not None and not outcome.is_fault:
        raise CannotRun(str(outcome.error))
