"""`assay time`: how long a kernel or a module takes on an Apple GPU, and why."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from .failures import USAGE, CommandError
from .options.common import KernelOptions, ModuleOptions, NpuOptions
from .options.groups import given_options, grouped
from .options.shared import Json, OnNpu, only_emulated
from .options.time import GridOptions, TimedChip, TimedFile, TimedFunction, TimeOptions

if TYPE_CHECKING:
    from assay.hw.apple.facts.chips import Chip

    from ..elements import Value
    from ..module import Function
    from ..prediction import TimeResult

_LISTED = 4  # dispatches whose lines are shown: those that take longest


@grouped
def time_command(
    file: TimedFile,
    function: TimedFunction = None,
    chip: TimedChip = "m1",
    device: OnNpu = "emulated",
    *,
    sizes: GridOptions,
    kernel: KernelOptions,
    module: ModuleOptions,
    how: TimeOptions,
    npu: NpuOptions,
    json: Json = False,
) -> None:
    """Predict how long a kernel or a module takes on an Apple GPU, and say why.

    Sampled threadgroups are executed on the emulated GPU, and what they did is simulated. A Torq
    executable, or a quantised model with --device torq, is run on the emulated NPU: cycles of its
    units and what they waited for.

    [bold]Examples[/bold]

      assay time gemm.metal --function gemm --chip m4-max --grid 64,64 --threadgroup 128

      assay time gemm.metal -f gemm --args gemm.toml --compare m1,m2-pro,m4-max

      assay time gemm.metal -f gemm --lines --trace gemm.html

      assay time model.vmfb --chip m2-pro --input 1x224x224x3xf32=0

      assay time model.tflite --device torq --trace model.html
    """
    from ..launches.source import SUFFIXES
    from .terminal import want_json
    from .torq.time import time_executable

    want_json(json)
    _need_file(file)
    how.check_files()
    is_source = file.suffix in SUFFIXES
    program = npu.program(file, function, only_emulated(device))
    if program is not None:
        _refuse_for_torq(sizes, kernel, module, how)
        time_executable(program, module.input or [], how.trace, json=json)
        return
    if is_source:
        _refuse("modules", file, [*given_options(module), *(["--quick"] if how.quick else [])])
        results = _kernel_times(file, function, chip, sizes, kernel, how)
    else:
        cold = ["--cold"] if how.cold else []
        _refuse(".metal files", file, [*given_options(sizes, kernel), *cold])
        results = _module_times(file, function, chip, module, how)
    _write(results, how, json=json)


def _need_file(file: Path) -> None:
    if not file.is_file():
        what = "is a folder; expected a file" if file.is_dir() else "there is no such file"
        raise CommandError(f"{file}: {what}", code=USAGE)


def _refuse_for_torq(
    sizes: GridOptions, kernel: KernelOptions, module: ModuleOptions, how: TimeOptions
) -> None:
    for option in given_options(sizes, kernel, module, how):
        if option not in ("--input", "--trace"):
            raise CommandError(f"{option} is not for the NPU", code=USAGE)


def _refuse(kind: str, file: Path, wrong: list[str]) -> None:
    if wrong:
        raise CommandError(f"{wrong[0]} is for {kind}, and {file} is none", code=USAGE)


def _chips(first: str, others: str | None) -> "list[Chip]":
    """The chips to predict for, each once. Raises SpecError."""
    from assay.hw.apple.facts.chips import chip

    further = [name.strip() for name in (others or "").split(",") if name.strip()]
    if others is not None and not further:
        raise CommandError(f"--compare {others}: expected chips, such as m1,m4-max", code=USAGE)
    return [chip(name) for name in dict.fromkeys([first, *further])]


@contextmanager
def _usage_errors() -> Iterator[None]:
    """What is wrong with what was given is the user's to put right."""
    from assay.compiler.msl import CompileError
    from assay.hw.facts import SpecError

    from ..launches.errors import LaunchInputError
    from ..prediction import TimeInputError

    try:
        yield
    except (TimeInputError, LaunchInputError, SpecError, CompileError) as error:
        raise CommandError(str(error), code=USAGE) from None


def _kernel_times(
    file: Path,
    function: str | None,
    chip: str,
    sizes: GridOptions,
    kernel: KernelOptions,
    how: TimeOptions,
) -> "list[TimeResult]":
    """A kernel of a source file on each chip."""
    from ..launches.setups import setups_in_file
    from ..prediction.sources import kernel_run, time_kernel_run
    from .terminal import progress

    with _usage_errors(), progress() as say:
        chips = _chips(chip, how.compare)
        run = kernel_run(
            file,
            function,
            threadgroups=_size("--grid", sizes.grid),
            threads=_size("--threads", sizes.threads),
            threadgroup=_size("--threadgroup", sizes.threadgroup),
            macros=kernel.macros(),
            include_paths=kernel.include or [],
            setups=setups_in_file(kernel.args) if kernel.args is not None else None,
        )
        timeline = how.trace is not None
        return [
            time_kernel_run(run, each, warm=not how.cold, timeline=timeline, say=say)
            for each in chips
        ]


def _module_times(
    file: Path, function: str | None, chip: str, module: ModuleOptions, how: TimeOptions
) -> "list[TimeResult]":
    """A function of a module on each chip; a timeline is of the first one."""
    from .options.shared import load_function, need_inputs, open_model
    from .terminal import progress

    with _usage_errors(), progress() as say:
        first, *others = _chips(chip, how.compare)
        values = module.values()
        opened = open_model(file, flags=module.compile_flag)
        called = load_function(opened, function, device="emulated", parameters=module.parameters)
        if values:
            need_inputs(called, len(values))
        time = partial(_module_time, called, values, results=not how.quick, say=say)
        return [time(first, how.trace), *(time(each, None) for each in others)]


def _module_time(
    function: "Function",
    values: "list[Value]",
    chip: "Chip",
    trace: Path | None,
    *,
    results: bool,
    say: Callable[[str], None],
) -> "TimeResult":
    """The result; when the run fails, `trace` shows it up to there."""
    from ..prediction.programs import time_function
    from .crash_trace import save_partial, signals_as_exits
    from .spools import spool_beside

    def keep(partial: "TimeResult") -> None:
        if trace is not None:
            save_partial(trace, partial.save_trace)

    with signals_as_exits(), spool_beside(trace) if trace is not None else nullcontext() as spool:
        return time_function(
            function,
            values,
            chip.key,
            results=results,
            timeline=trace is not None,
            spool=spool,
            say=say,
            failed=keep,
        )


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


def _write(results: "list[TimeResult]", how: TimeOptions, *, json: bool) -> None:
    """Print the results; the first one has a timeline and a picture."""
    from ..prediction.comparison import comparison, comparison_json
    from ..prediction.listing import listing
    from .terminal import print_json, show

    first = results[0]
    if json:
        print_json(comparison_json(results) if len(results) > 1 else first.to_json())
    else:
        show(first)
        for dispatch, _ in first.unique()[:_LISTED] if how.lines else ():
            show(listing(dispatch))
        if len(results) > 1:
            show("", comparison(results))
    if how.trace is not None:
        first.save_trace(how.trace)
    if how.plot is not None:
        first.plot().save(how.plot)
