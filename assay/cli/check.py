"""`assay check`: runs kernels, modules and programs while looking for what is wrong with them."""

import contextlib
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .check_output import FORMATS, write_report
from .failures import FAILED, USAGE, CommandError, describe, errors_end_with
from .options import (
    CompileFlags,
    IncludeFolders,
    Inputs,
    Json,
    Macros,
    Parameters,
    SkipHostCode,
    TorqHardware,
    macro,
    refuse_torq_options,
)

if TYPE_CHECKING:
    from assay.checks import Report
    from assay.elements import Value
    from assay.module import Function

_SOURCES = (".metal", ".msl")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """Options that concern MSL source."""

    function: str | None
    arguments: Path | None
    include: list[Path]
    define: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Module:
    """Options that concern modules and models, and what scripts are to replace."""

    patches: list[str]
    function: str | None
    inputs: list[str]
    parameters: list[str] | None
    compile_flags: list[str] | None


def check_command(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="One or more .metal files; or one .vmfb or model; or one Python script with its "
            "arguments; or one Torq executable.",
            show_default=False,
        ),
    ],
    function: Annotated[
        str | None,
        typer.Option(
            "--function",
            "-f",
            help="One kernel of a file instead of all; or which function of a module.",
        ),
    ] = None,
    check: Annotated[
        str,
        typer.Option(
            "--check",
            help="What to look for, with commas: race, init, bounds, barrier, budget, shuffle, "
            "uniform ([bold]all[/bold] of these), and by name only lanes, nan, overflow. Of a "
            "Torq executable: all, and by name only unread.",
        ),
    ] = "all",
    args: Annotated[
        Path | None,
        typer.Option("--args", help="A TOML file with grids and arguments of the kernels."),
    ] = None,
    include: IncludeFolders = None,
    define: Macros = None,
    input: Inputs = None,
    parameters: Parameters = None,
    seed: Annotated[
        list[str] | None,
        typer.Option(
            "--seed",
            help="Run again in the order of this seed and compare bits; 1,2,3 for several.",
            show_default=False,
        ),
    ] = None,
    suppress: Annotated[
        list[str] | None,
        typer.Option(
            "--suppress",
            help="Accept findings: KIND, KIND:KERNEL, KIND:KERNEL:FILE or KIND:KERNEL:FILE:LINE.",
            show_default=False,
        ),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option("--format", help=f"{', '.join(FORMATS)}.", show_default="text"),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Where the report goes; the text is printed too."),
    ] = None,
    patch: Annotated[
        list[str] | None,
        typer.Option(
            "--patch",
            metavar="LIBRARY",
            help="For scripts: a library to replace, as assay python has it.",
        ),
    ] = None,
    compile_flag: CompileFlags = None,
    torq_hw: TorqHardware = None,
    skip_host_code: SkipHostCode = False,
    json: Json = False,
) -> None:
    """Run kernels and look for races, uninitialised reads, accesses out of bounds, and more.

    Ends with exit code 1 when there are findings, 2 when something could not be checked.

    [bold]Examples[/bold]

      assay check kernels.metal

      assay check kernels.metal --function reduce --args reduce.toml --seed 1,2,3

      assay check kernels/*.metal --format sarif --output findings.sarif

      assay check model.vmfb --input 2x2xf32=1,2,3,4

      assay check program.py -- --size 512
    """
    from assay.checks import CheckInputError
    from assay.compiler.msl import CompileError

    from .check_torq import check_executable
    from .inspect_torq import is_torq
    from .run_torq import TorqOptions
    from .terminal import want_json

    chosen = _format(format, json)
    want_json(chosen == "json")
    errors_end_with(USAGE)  # 1 is for findings
    if len(files) == 1 and is_torq(Path(files[0])):
        npu = TorqOptions(
            path=Path(files[0]), function=function, hardware=torq_hw, skip_host_code=skip_host_code
        )
        check_executable(npu, input or [], unread=_unread(check), format_name=chosen, output=output)
        return
    refuse_torq_options(torq_hw, skip_host_code)
    source = _Source(function=function, arguments=args, include=include or [], define=define or [])
    module = _Module(
        function=function,
        patches=patch or [],
        inputs=input or [],
        parameters=parameters,
        compile_flags=compile_flag,
    )
    try:
        report = _new_report(check, seed or [], suppress or [])
        # What a script prints must not stand among the data on stdout.
        quiet = chosen != "text" and output is None
        with contextlib.redirect_stdout(sys.stderr) if quiet else contextlib.nullcontext():
            ended = _check(files, report, source, module)
        write_report(report, chosen, output)
        failed, incomplete = bool(report.errors), bool(report.unchecked)
    except (CheckInputError, CompileError) as error:
        raise CommandError(str(error), code=USAGE) from None
    if failed or ended:
        raise typer.Exit(FAILED if failed else ended)
    if incomplete:
        raise typer.Exit(USAGE)


def _format(name: str | None, json: bool) -> str:
    chosen = name or ("json" if json else "text")
    if chosen not in FORMATS:
        raise CommandError(f"--format {chosen}: expected {', '.join(FORMATS)}", code=USAGE)
    if json and chosen != "json":
        raise CommandError(f"--json and --format {chosen}: give one of them", code=USAGE)
    return chosen


def _unread(check: str) -> bool:
    """Whether bytes are asked for that a Torq executable writes and nobody reads."""
    names = {name.strip() for name in check.split(",")}
    if not names <= {"all", "unread"}:
        raise CommandError(
            f"--check {check}: a Torq executable is checked for all that can be found; "
            "all,unread tells also what is written and never read",
            code=USAGE,
        )
    return "unread" in names


def _new_report(check: str, seeds: list[str], suppress: list[str]) -> "Report":
    from assay.checks import Report, chosen_checks, parse_suppression

    try:
        checks = chosen_checks(check)
    except ValueError as error:
        raise CommandError(f"--check {check}: {error}", code=USAGE) from None
    if not checks:
        raise CommandError("--check: it is empty; expected names such as race,init", code=USAGE)
    return Report(
        checks,
        suppressions=[parse_suppression(text) for text in suppress],
        seeds=[seed for text in seeds for seed in _seeds(text)],
    )


def _seeds(text: str) -> list[int]:
    words = [word.strip() for word in text.split(",")]
    if not all(word.isdigit() and len(word) < 10 for word in words):
        raise CommandError(f"--seed {text}: expected numbers such as 1,2,3", code=USAGE)
    return [int(word) for word in words]


def _check(files: list[str], report: "Report", source: _Source, module: _Module) -> int:
    """Check what the files are; the exit code that a script chose, else 0."""
    first = Path(files[0])
    kind = first.suffix
    if kind == ".py":
        _refuse(source, module, "a Python script")
    for name in files[:1] if kind == ".py" else files:
        if Path(name).is_dir():
            where = Path(name) / "*.metal"
            raise CommandError(f"{name}: this is a folder; give its files: {where}", code=USAGE)
        if not Path(name).is_file():
            raise CommandError(f"{name}: there is no such file", code=USAGE)
    if kind == ".py":
        return _check_script(first, files[1:], module.patches, report)
    if module.patches:
        raise CommandError("--patch is for Python scripts", code=USAGE)
    if all(Path(name).suffix in _SOURCES for name in files):
        if module.inputs or module.parameters:
            raise CommandError(
                "--input and --parameters are for modules; give arguments of kernels with --args "
                "or in //! lines of the source",
                code=USAGE,
            )
        _check_sources([Path(name) for name in files], report, source)
        return 0
    if len(files) > 1:
        raise CommandError(
            "several files must all be .metal; check modules and scripts one by one", code=USAGE
        )
    _check_module(first, report, source, module)
    return 0


def _check_sources(files: list[Path], report: "Report", options: _Source) -> None:
    from assay.checks import Inputs, SourceOptions, check_source, read_file, read_source

    from .terminal import progress

    inputs = read_file(options.arguments) if options.arguments is not None else Inputs()
    macros = dict(macro(text) for text in options.define)
    with progress() as say:
        for path in files:
            say(f"checking {path}")
            check_source(
                read_source(path),
                str(path),
                report,
                SourceOptions(
                    functions=(options.function,) if options.function else (),
                    macros=macros,
                    include_paths=tuple(options.include),
                    inputs=inputs,
                ),
            )


def _check_module(path: Path, report: "Report", source: _Source, options: _Module) -> None:
    """Run one function, all its dispatches checked, in each order that is asked for."""
    from assay.checks import checked
    from assay.text_values import InputError, parse_inputs

    from .options import choose_function, load_module, need_inputs, open_model
    from .terminal import progress

    if source.arguments is not None or source.include or source.define:
        raise CommandError("--args, -I and -D are for .metal files", code=USAGE)
    try:
        values = parse_inputs(options.inputs)
    except InputError as error:
        raise CommandError(str(error), code=USAGE) from None
    with progress() as say:
        opened = open_model(path, flags=options.compile_flags, say=say)
        runs = []
        for seed in (None, *report.seeds):
            say("loading")
            loaded = load_module(opened.data, "emulated", options.parameters)
            chosen = choose_function(loaded, options.function)
            need_inputs(chosen, len(values))
            say(f"checking {chosen.name}")
            with checked(report, seed=seed):
                results = _invoke(chosen, values, report)
            if results is None:
                return
            runs.append((seed, results))
    _compare(runs, report)


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


def _compare(runs: "list[tuple[int | None, list[Value]]]", report: "Report") -> None:
    """Results must have the same bits, whatever the order."""
    import numpy as np

    from assay.checks import order_finding

    _, first = runs[0]
    for seed, results in runs[1:]:
        for position, (one, other) in enumerate(zip(first, results, strict=True)):
            before, after = (
                np.ascontiguousarray(x).reshape(-1).view(np.uint8) for x in (one, other)
            )
            if (before != after).any():
                report.add(
                    order_finding(
                        f"result {position}", before, after, f"the natural order and seed {seed}"
                    )
                )


def _check_script(path: Path, arguments: list[str], patches: list[str], report: "Report") -> int:
    """Run a script, all its dispatches checked; the exit code that it chose, else 0."""
    from assay.checks import checked

    from .python import run_script

    if report.seeds:
        raise CommandError("--seed is for .metal files and modules", code=USAGE)
    with checked(report):
        ending = run_script(path, arguments, "emulated", patches)
    if ending.reason:
        report.add_obstacle(f"{path} was not checked to its end: {ending.reason}")
    return 0 if ending.raised else ending.code


def _refuse(source: _Source, module: _Module, what: str) -> None:
    given = (
        *(source.function, source.arguments, source.include, source.define),
        *(module.inputs, module.parameters, module.compile_flags),
    )
    if any(given):
        raise CommandError(
            "--function, --args, -I, -D, --input, --parameters and --compile-flag are not for "
            f"{what}",
            code=USAGE,
        )
