"""`assay.check`: one call for MSL, modules and executables of the NPU, one report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..launches.functions import function_of
from ..launches.source import SUFFIXES, read_source
from ..reports.report import Report
from ..reports.suppressions import parse_suppression
from ..tracebacks import ends_in_caller
from .errors import CheckInputError
from .npu import check_function, npu_checks
from .orders import compare_orders
from .programs import checked, chosen_checks
from .source import SourceOptions, check_source

if TYPE_CHECKING:
    from ..elements import Value
    from ..module import Function, Module
    from ..npu import NpuFunction, NpuModule

_FILE_NAME = "program_source.metal"


@ends_in_caller
def check(
    source: str | Path | bytes | Module | Function | NpuModule | NpuFunction,
    function: str | None = None,
    *arguments: Any,
    checks: str | Iterable[str] = "all",
    seeds: Iterable[int] = (),
    suppress: Iterable[str] = (),
    macros: Mapping[str, str] | None = None,
    include_paths: Iterable[str | Path] = (),
) -> Report:
    """Run a program under checks: what was found, whichever machine it is for.

    Args:
        source: MSL or the path of a `.metal` file, whose kernels all run, with what `//!` lines say
            or may be assumed; a module or model, or an executable of the NPU: a path, its bytes,
            or what `assay.load` gave.
        function: one kernel of the source; which function or executable, if there are several.
        arguments: inputs of the function; of an executable zeros if left out. For a kernel with
            arrays of your own see `check_kernel`.
        checks: names such as `"race,init"`; `"all"` for the usual ones of the machine.
        seeds: for GPUs, run again in the order of each, and compare the bits that are left.
        suppress: findings to accept, as `--suppress` of the command line has them.
        macros: preprocessor macros of MSL.
        include_paths: folders for `#include` of MSL.

    Raises:
        CheckInputError: if what was given does not fit the program.
        CompileError: if MSL does not compile.
        ValueError: for a name that is no check of the machine.
    """
    accepted = [parse_suppression(text) for text in suppress]
    if (text := _msl_of(source)) is not None:
        if arguments:
            raise CheckInputError("arrays for a kernel's arguments are for assay.check_kernel")
        report = Report(chosen_checks(checks), suppressions=accepted, seeds=seeds)
        check_source(
            *text,
            report,
            SourceOptions(
                functions=(function,) if function else (),
                macros=macros or {},
                include_paths=tuple(Path(path) for path in include_paths),
            ),
        )
        return report
    if macros or include_paths:
        raise CheckInputError("macros and include_paths are for MSL")
    return _check_loaded(source, function, arguments, checks, tuple(seeds), accepted)


def _check_loaded(
    source: Any,
    name: str | None,
    arguments: Sequence[Any],
    checks: str | Iterable[str],
    seeds: Sequence[int],
    accepted: Iterable[Any],
) -> Report:
    """Check a function of a module, or an executable."""
    from ..module import load
    from ..npu import NpuFunction, NpuInputError, NpuModule

    file = str(source) if isinstance(source, str | Path) else ""
    loaded = load(source) if isinstance(source, str | Path | bytes) else source
    try:
        if isinstance(loaded, NpuModule | NpuFunction):
            if seeds:
                raise CheckInputError("seeds are for GPUs; runs of an NPU have one order")
            executable = loaded.find(name) if isinstance(loaded, NpuModule) else loaded
            report = Report(npu_checks(checks), suppressions=accepted)
            check_function(executable, arguments, report, file=file)
            return report
        report = Report(chosen_checks(checks), suppressions=accepted, seeds=seeds)
        _check_function(function_of(loaded, name), arguments, report)
    except NpuInputError as error:
        raise CheckInputError(str(error)) from None
    return report


def _check_function(function: Function, arguments: Sequence[Any], report: Report) -> None:
    """Run a function of a module in each order that is asked for; results must be the same."""
    runs: list[tuple[int | None, list[Value]]] = []
    for seed in (None, *report.seeds):
        with checked(report, seed=seed):
            try:
                runs.append((seed, function.invoke(arguments)))
            except Exception:
                # What stopped a kernel is a finding; anything else is not.
                if not any(finding.check == "bounds" for finding in report.all_findings):
                    raise
                return
    compare_orders(runs, report)


def _msl_of(source: object) -> tuple[str, str] | None:
    """MSL with its file's name, if the source is that."""
    if isinstance(source, str) and ("{" in source or "\n" in source):
        return source, _FILE_NAME
    if isinstance(source, str | Path) and Path(source).suffix in SUFFIXES:
        return read_source(Path(source)), str(source)
    return None
