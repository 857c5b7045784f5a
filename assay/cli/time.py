"""`assay time`: how long a kernel or a module takes on an Apple GPU, and why."""

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .failures import USAGE, CommandError
from .options import (
    CompileFlags,
    IncludeFolders,
    Inputs,
    Json,
    Macros,
    Parameters,
    SkipHostCode,
    TorqHardware,
    check_trace_name,
    check_writable,
    macro,
    refuse_torq_options,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.hw.apple.chips import Chip
    from assay.prediction import TimeResult

_SOURCES = (".metal", ".msl")
_LISTED = 4  # dispatches whose lines are shown, the dearest


def time_command(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A .metal file, a compiled .vmfb, a model that is compiled first, or a Torq "
            "executable.",
            show_default=False,
        ),
    ],
    function: Annotated[
        str | None,
        typer.Option("--function", "-f", help="Which kernel, or which function of a module."),
    ] = None,
    chip: Annotated[
        str, typer.Option("--chip", "-c", help="Which GPU, such as m1, m2-pro or m4-max.")
    ] = "m1",
    grid: Annotated[
        str | None,
        typer.Option("--grid", metavar="X[,Y[,Z]]", help="Threadgroups of the grid."),
    ] = None,
    threads: Annotated[
        str | None,
        typer.Option("--threads", metavar="X[,Y[,Z]]", help="Threads of the grid instead."),
    ] = None,
    threadgroup: Annotated[
        str | None,
        typer.Option("--threadgroup", metavar="X[,Y[,Z]]", help="Threads of a threadgroup."),
    ] = None,
    args: Annotated[
        Path | None,
        typer.Option("--args", help="A TOML file with grids and arguments of the kernels."),
    ] = None,
    include: IncludeFolders = None,
    define: Macros = None,
    input: Inputs = None,
    parameters: Parameters = None,
    compile_flag: CompileFlags = None,
    compare: Annotated[
        str | None,
        typer.Option("--compare", metavar="CHIPS", help="Further GPUs, with commas: m1,m4-max."),
    ] = None,
    cold: Annotated[
        bool,
        typer.Option("--cold", help="For kernels: the caches hold nothing of an earlier run."),
    ] = False,
    lines: Annotated[
        bool, typer.Option("--lines", help="Show the source with what each line costs.")
    ] = False,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="For modules: execute only what is sampled. Much faster; results are wrong.",
        ),
    ] = False,
    trace: Annotated[
        Path | None,
        typer.Option(
            "--trace",
            help="Write a timeline (of --chip): .html to look at, .pftrace for Perfetto, .json.",
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", help="Write a picture, .svg or .html: roofline and causes."),
    ] = None,
    torq_hw: TorqHardware = None,
    skip_host_code: SkipHostCode = False,
    json: Json = False,
) -> None:
    """Predict how long a kernel or a module takes on an Apple GPU, and say why.

    Sampled threadgroups are executed on the emulated GPU, and what they did is simulated. A Torq
    executable is run on the emulated NPU: cycles of its units and what they waited for.

    [bold]Examples[/bold]

      assay time gemm.metal --function gemm --chip m4-max --grid 64,64 --threadgroup 128

      assay time gemm.metal -f gemm --args gemm.toml --compare m1,m2-pro,m4-max

      assay time gemm.metal -f gemm --lines --trace gemm.html

      assay time model.vmfb --chip m2-pro --input 1x224x224x3xf32=0
    """
    from assay.compiler.msl import CompileError
    from assay.hw.facts import SpecError
    from assay.prediction import TimeInputError

    from .inspect_torq import is_torq
    from .run_torq import TorqOptions
    from .terminal import progress, want_json
    from .time_torq import time_executable

    want_json(json)
    if not file.is_file():
        what = "is a folder; expected a file" if file.is_dir() else "there is no such file"
        raise CommandError(f"{file}: {what}", code=USAGE)
    kernel_only: dict[str, object] = {
        **{"--grid": grid, "--threads": threads, "--threadgroup": threadgroup},
        **{"--args": args, "-I": include, "-D": define, "--cold": cold},
    }
    module_only: dict[str, object] = {
        **{"--input": input, "--parameters": parameters, "--compile-flag": compile_flag},
        "--quick": quick,
    }
    if trace is not None:
        check_trace_name(trace)
    if plot is not None and plot.suffix not in (".svg", ".html"):
        raise CommandError(f"--plot {plot}: expected a name that ends in .svg or .html", code=USAGE)
    if plot is not None:
        check_writable("--plot", plot)
    if is_torq(file):
        _refuse_for_torq(
            {
                **kernel_only,
                "--parameters": parameters,
                "--quick": quick,
                "--compile-flag": compile_flag,
                "--compare": compare,
                "--lines": lines,
                "--plot": plot,
            }
        )
        npu = TorqOptions(
            path=file, function=function, hardware=torq_hw, skip_host_code=skip_host_code
        )
        time_executable(npu, input or [], trace, json=json)
        return
    refuse_torq_options(torq_hw, skip_host_code)
    is_source = file.suffix in _SOURCES
    _refuse(module_only if is_source else kernel_only, file, is_source)
    try:
        with progress() as say:
            chips = _chips(chip, compare)
            if is_source:
                timed = _Kernel(file, function, args, include, define, grid, threads, threadgroup)
                results = [timed.time(each, not cold, trace is not None, say) for each in chips]
            else:
                program = _Module(file, function, input, parameters, compile_flag, not quick)
                results = [program.time(chips[0], trace, say)]
                results += [program.time(each, None, say) for each in chips[1:]]
    except (TimeInputError, SpecError, CompileError) as error:
        raise CommandError(str(error), code=USAGE) from None
    _write(results, lines=lines, json=json)
    if trace is not None:
        results[0].save_trace(trace)
    if plot is not None:
        results[0].plot().save(plot)


def _refuse_for_torq(options: dict[str, object]) -> None:
    for option, given in options.items():
        if given:
            raise CommandError(f"{option} is not for Torq executables", code=USAGE)


def _refuse(given: dict[str, object], file: Path, is_source: bool) -> None:
    wrong = [name for name, value in given.items() if value]
    if wrong:
        kind = "modules" if is_source else ".metal files"
        raise CommandError(f"{wrong[0]} is for {kind}, and {file} is none", code=USAGE)


def _chips(first: str, others: str | None) -> "list[Chip]":
    """The chips to predict for, each once. Raises SpecError."""
    from assay.hw.apple.chips import chip

    further = [name.strip() for name in (others or "").split(",") if name.strip()]
    if others is not None and not further:
        raise CommandError(f"--compare {others}: expected chips, such as m1,m4-max", code=USAGE)
    return [chip(name) for name in dict.fromkeys([first, *further])]


class _Kernel:
    """A kernel of a source file, with what the options say of it."""

    def __init__(
        self,
        file: Path,
        function: str | None,
        args: Path | None,
        include: list[Path] | None,
        define: list[str] | None,
        grid: str | None,
        threads: str | None,
        threadgroup: str | None,
    ) -> None:
        from assay.checks import CheckInputError, read_file
        from assay.prediction import TimeInputError
        from assay.prediction.sources import kernel_run

        try:
            inputs = read_file(args) if args is not None else None
        except CheckInputError as error:
            raise TimeInputError(str(error)) from None
        self._source = kernel_run(
            file,
            function,
            threadgroups=_size("--grid", grid),
            threads=_size("--threads", threads),
            threadgroup=_size("--threadgroup", threadgroup),
            macros=dict(macro(text) for text in define or []),
            include_paths=include or [],
            inputs=inputs,
        )

    def time(
        self, chip: "Chip", warm: bool, timeline: bool, say: "Callable[[str], None]"
    ) -> "TimeResult":
        from assay.prediction.sources import time_kernel_run

        return time_kernel_run(self._source, chip, warm=warm, timeline=timeline, say=say)


class _Module:
    """A function of a module, with its inputs."""

    def __init__(
        self,
        file: Path,
        function: str | None,
        inputs: list[str] | None,
        parameters: list[str] | None,
        flags: list[str] | None,
        results: bool,
    ) -> None:
        from assay.text_values import InputError, parse_inputs

        from .options import load_function, need_inputs, open_model

        try:
            self._values = parse_inputs(inputs or [])
        except InputError as error:
            raise CommandError(str(error), code=USAGE) from None
        opened = open_model(file, flags=flags)
        self._function = load_function(opened, function, device="emulated", parameters=parameters)
        if self._values:
            need_inputs(self._function, len(self._values))
        self._results = results

    def time(self, chip: "Chip", trace: Path | None, say: "Callable[[str], None]") -> "TimeResult":
        """The result; when the run fails, `trace` shows it up to there."""
        from assay.prediction.programs import time_function

        from .crash_trace import save_partial, signals_as_exits
        from .spools import spool_beside

        def keep(partial: "TimeResult") -> None:
            if trace is not None:
                save_partial(trace, partial.save_trace)

        with (
            signals_as_exits(),
            spool_beside(trace) if trace is not None else nullcontext() as spool,
        ):
            return time_function(
                self._function, self._values, chip.key, results=self._results,
                timeline=trace is not None, spool=spool, say=say, failed=keep,
            )  # fmt: skip


def _size(option: str, text: str | None) -> list[int] | None:
    """`64,64` as numbers."""
    if text is None:
        return None
    words = [word.strip() for word in text.replace("x", ",").split(",")]
    if not 1 <= len(words) <= 3 or not all(word.isdigit() and int(word) > 0 for word in words):
        raise CommandError(
            f"{option} {text}: expected one to three positive numbers, such as 64,64,1", code=USAGE
        )
    return [int(word) for word in words]


def _write(results: "list[TimeResult]", *, lines: bool, json: bool) -> None:
    from assay.prediction.comparison import comparison, comparison_json
    from assay.prediction.listing import listing

    from .terminal import print_json, show

    first = results[0]
    if json:
        print_json(comparison_json(results) if len(results) > 1 else first.to_json())
        return
    show(first)
    if lines:
        for dispatch, _ in first.unique()[:_LISTED]:
            show(listing(dispatch))
    if len(results) > 1:
        show("", comparison(results))
