"""`assay check`: runs kernels, modules and programs while looking for what is wrong with them."""

import contextlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..launches.source import SUFFIXES
from .checks.output import write_report
from .checks.sources import check_sources
from .crash_trace import signals_as_exits
from .failures import FAILED, USAGE, CommandError, describe, errors_end_with
from .modules.check import check_assay
from .modules.files import is_assay_file
from .options.check import CheckedFiles, CheckedFunctions, CheckOptions, ManyOptions, Wanted
from .options.common import KernelOptions, ModuleOptions, NpuOptions
from .options.files import keep_inputs
from .options.groups import given_options, grouped
from .options.shared import Json, OnNpu, only_emulated

if TYPE_CHECKING:
    from ..checks import Report
    from ..elements import Value
    from ..module import Function


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options:
    """What the command line says of kernels, modules, and libraries that scripts replace."""

    functions: list[str]
    kernel: KernelOptions
    many: ManyOptions
    module: ModuleOptions
    patches: list[str]
    prove: bool
    devices: str
    """Of an Assay module, if it is one that is checked."""


@grouped
def check_command(
    files: CheckedFiles,
    function: CheckedFunctions = None,
    check: Wanted = "all",
    device: OnNpu = "emulated",
    *,
    kernel: KernelOptions,
    module: ModuleOptions,
    how: CheckOptions,
    many: ManyOptions,
    npu: NpuOptions,
    json: Json = False,
) -> None:
    """Run kernels and look for races, uninitialised reads, accesses out of bounds, and more.

    Ends with exit code 1 when there are findings, 2 when something could not be checked.

    [bold]Examples[/bold]

      assay check kernels.metal

      assay check kernels.metal --function reduce --args reduce.toml --seed 1,2,3

      assay check library.metal -I include -f 'gemm_*' -f reduce --jobs 4

      assay check kernels/*.metal --format sarif --output findings.sarif

      assay check model.vmfb --input 2x2xf32=1,2,3,4

      assay check program.py -- --size 512

      assay check model.tflite --device torq

      assay check model.assay --device torq,emulated
    """
    from .terminal import want_json
    from .torq.check import check_executable

    chosen = how.report_format(json=json)
    want_json(chosen == "json")
    errors_end_with(USAGE)  # 1 is for findings
    functions = function or []
    first, is_assay = next(iter(functions), None), is_assay_file(Path(files[0]))
    program = None if is_assay else npu.program(Path(files[0]), first, only_emulated(device))
    if program is not None:
        _only_one([*files, *functions[1:]])
        given = program, module.input or [], check, how.suppress or []
        check_executable(*given, format_name=chosen, output=how.output)
        return
    options = _Options(
        functions=functions,
        kernel=kernel,
        many=many,
        module=module,
        patches=how.patch or [],
        prove=how.prove,
        devices=device if is_assay else "",
    )
    if code := _reported(files, _new_report(check, how), options, chosen, how.output):
        raise typer.Exit(code)


def _reported(
    files: list[str], report: "Report", options: _Options, format_name: str, output: Path | None
) -> int:
    """Check and report; the exit code."""
    from assay.compiler.msl import CompileError

    from ..checks import CheckInputError

    keep_inputs(output, *map(Path, files), options.kernel.args)
    try:
        # What a script prints must not stand among the data on stdout.
        quiet = format_name != "text" and output is None
        own = contextlib.redirect_stdout(sys.stderr) if quiet else contextlib.nullcontext()
        with _kept(report, format_name, output), own:
            ended = _checked(files, report, options)
        write_report(report, format_name, output)
        failed, incomplete = bool(report.errors), bool(report.unchecked)
    except (CheckInputError, CompileError) as error:
        raise CommandError(str(error), code=USAGE) from None
    if failed or ended:
        return FAILED if failed else ended
    return USAGE if incomplete else 0


@contextlib.contextmanager
def _kept(report: "Report", format_name: str, output: Path | None) -> Iterator[None]:
    """If the check is stopped, the report of what was checked until then is written."""
    try:
        with signals_as_exits():
            yield
    except (KeyboardInterrupt, SystemExit):
        write_report(report, format_name, output)
        raise


def _only_one(given: list[str]) -> None:
    if len(given) > 1:
        raise CommandError("programs for the NPU are checked one by one", code=USAGE)


def _new_report(check: str, how: CheckOptions) -> "Report":
    from ..checks import CheckInputError, Report, chosen_checks, parse_suppression

    try:
        checks = chosen_checks(check)
    except ValueError as error:
        raise CommandError(f"--check {check}: {error}", code=USAGE) from None
    if not checks:
        raise CommandError("--check: it is empty; expected names such as race,init", code=USAGE)
    try:
        suppressions = [parse_suppression(text) for text in how.suppress or []]
    except CheckInputError as error:
        raise CommandError(str(error), code=USAGE) from None
    return Report(checks, suppressions=suppressions, seeds=how.seeds())


def _checked(files: list[str], report: "Report", options: _Options) -> int:
    """Check, and prove if that is wanted; the exit code that a script chose, else 0."""
    if not options.prove:
        return _check(files, report, options)
    from ..proofs import launches_kept, prove_launches

    if all(Path(name).suffix in SUFFIXES for name in files):
        # What other processes launch is not seen.
        options = replace(options, many=replace(options.many, jobs=1, timeout_per_kernel=None))
    with launches_kept() as launches:
        ended = _check(files, report, options)
    prove_launches(launches, report)
    return ended


def _check(files: list[str], report: "Report", options: _Options) -> int:
    """Check what the files are; the exit code that a script chose, else 0."""
    first = Path(files[0])
    kind = first.suffix
    if kind == ".py":
        _refuse(options, "a Python script")
    for name in files[:1] if kind == ".py" else files:
        if Path(name).is_dir():
            where = Path(name) / "*.metal"
            raise CommandError(f"{name}: this is a folder; give its files: {where}", code=USAGE)
        if not Path(name).is_file():
            raise CommandError(f"{name}: there is no such file", code=USAGE)
    if kind == ".py":
        return _check_script(first, files[1:], options.patches, report)
    if options.patches:
        raise CommandError("--patch is for Python scripts", code=USAGE)
    if all(Path(name).suffix in SUFFIXES for name in files):
        if options.module.input or options.module.parameters:
            raise CommandError(
                "--input and --parameters are for modules; give arguments of kernels with --args "
                "or in //! lines of the source",
                code=USAGE,
            )
        check_sources(
            [Path(name) for name in files],
            options.functions,
            report,
            options.kernel,
            options.many,
        )
        return 0
    if len(files) > 1:
        raise CommandError(
            "several files must all be .metal; check modules and scripts one by one", code=USAGE
        )
    if options.devices:
        _check_assay(first, report, options)
    else:
        _check_module(first, report, options)
    return 0


def _check_assay(path: Path, report: "Report", options: _Options) -> None:
    given = [*(["--function"] if options.functions else [])]
    given += given_options(options.kernel, options.many, options.module)
    for option in given:
        if option != "--input":
            raise CommandError(f"{option} is not for Assay modules", code=USAGE)
    check_assay(path, options.devices, options.module.values(), report)


def _check_module(path: Path, report: "Report", options: _Options) -> None:
    """Run one function, all its dispatches checked, in each order that is asked for."""
    from ..checks import checked, compare_orders
    from .options.shared import (
        choose_function,
        load_module,
        need_inputs,
        one_function,
        open_model,
    )
    from .terminal import progress

    if given := given_options(options.kernel, options.many):
        raise CommandError(f"{given[0]} is for .metal files", code=USAGE)
    values = options.module.values()
    with progress() as say:
        opened = open_model(path, options.module, say=say)
        runs = []
        for seed in (None, *report.seeds):
            say("loading")
            loaded = load_module(opened.data, "emulated", options.module.parameters)
            chosen = choose_function(loaded, one_function(options.functions))
            need_inputs(chosen, len(values))
            say(f"checking {chosen.name}")
            with checked(report, seed=seed):
                results = _invoke(chosen, values, report)
            if results is None:
                return
            runs.append((seed, results))
    compare_orders(runs, report)


def _invoke(function: "Function", values: "list[Value]", report: "Report") -> "list[Value] | None":
    """The results, or None if something stopped it, which the report tells then."""
    try:
        return function.invoke(values)
    except Exception as error:
        kind, message = describe(error)
        if kind == "internal":
            raise
        if not any(finding.check == "bounds" for finding in report.all_findings):
            report.add_obstacle(f"{function.name} was not checked to its end: {message}")
        return None


def _check_script(path: Path, arguments: list[str], patches: list[str], report: "Report") -> int:
    """Run a script, all its dispatches checked; the exit code that it chose, else 0."""
    from ..checks import checked
    from .python import run_script

    if report.seeds:
        raise CommandError("--seed is for .metal files and modules", code=USAGE)
    with checked(report):
        ending = run_script(path, arguments, "emulated", patches)
    if ending.reason:
        report.add_obstacle(f"{path} was not checked to its end: {ending.reason}")
    return 0 if ending.raised else ending.code


def _refuse(options: _Options, what: str) -> None:
    given = ["--function"] if options.functions else []
    given += given_options(options.kernel, options.module, options.many)
    if given:
        raise CommandError(f"{given[0]} is not for {what}", code=USAGE)
