"""`assay time`: how long a kernel or a module takes on an Apple GPU, and why."""

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..launches.source import SUFFIXES
from .failures import USAGE, CommandError
from .modules.files import is_assay_file
from .modules.time import RunsOptions, time_assay
from .options.common import KernelOptions, ModuleOptions, NpuOptions
from .options.files import require_file
from .options.groups import given_options, grouped
from .options.shared import Json, OnNpu, one_function, only_emulated
from .options.time import (
    GridOptions,
    ScriptArguments,
    TimedChip,
    TimedFile,
    TimedFunction,
    TimeOptions,
)

if TYPE_CHECKING:
    from assay.hw.apple.facts.chips import Chip

    from ..elements import Value
    from ..module import Function
    from ..prediction import TimeResult
    from .torq.run import TorqOptions


@grouped
def time_command(
    file: TimedFile,
    arguments: ScriptArguments = None,
    function: TimedFunction = None,
    chip: TimedChip = "m1",
    device: OnNpu = "emulated",
    *,
    sizes: GridOptions,
    kernel: KernelOptions,
    module: ModuleOptions,
    how: TimeOptions,
    npu: NpuOptions,
    runs: RunsOptions,
    json: Json = False,
) -> None:
    """Predict how long kernels, a module or a script take on an Apple GPU, and say why.

    Sampled threadgroups are executed on the emulated GPU, and what they did is simulated. A script
    runs as usual, and all is timed that it dispatches by PyObjC's Metal, PyTorch or MLX. A Torq
    executable, or a quantised model with --device torq, is run on the emulated NPU. Of an Assay
    module (.assay) all devices are on one board.

    [bold]Examples[/bold]

      assay time gemm.metal --function gemm --chip m4-max --grid 64,64 --threadgroup 128

      assay time library.metal -f 'gemm_*' -f reduce --args all.toml --compare m1,m2-pro,m4-max

      assay time model.vmfb --chip m2-pro --input 1x224x224x3xf32=0

      assay time script.py --chip m4-max --trace script.html

      assay time model.tflite --device torq --trace model.html

      assay time model.assay --device torq,emulated --runs 8 --trace model.html
    """
    from .terminal import want_json
    from .time_script import refuse_for_script, time_script

    want_json(json)
    _check_files(file, how)
    functions = function or []
    if is_assay_file(file):
        _refuse_for_assay(functions, arguments, [sizes, kernel, npu], module, how)
        return time_assay(file, module.input, device, chip, runs, how.trace, json=json)
    _refuse("Assay modules", file, given_options(runs))
    named = None if file.suffix in (".py", *SUFFIXES) else one_function(functions)
    if file.suffix == ".py":
        refuse_for_script(functions, device, sizes, kernel, module, how, npu)
        time_script(file, arguments or [], chip, how, json=json)
    elif arguments:
        raise CommandError(f"{arguments[0]}: one file at a time, unless it is a script", code=USAGE)
    elif (program := npu.program(file, named, only_emulated(device))) is not None:
        _time_on_npu(program, sizes, kernel, module, how, json=json)
    elif file.suffix in SUFFIXES:
        _refuse("modules", file, given_options(module))
        _time_kernels(file, functions, chip, sizes, kernel, how, json=json)
    else:
        _refuse(".metal files", file, given_options(sizes, kernel))
        _time_module(file, named, chip, module, how, json=json)


def _refuse_for_assay(
    functions: list[str],
    arguments: list[str] | None,
    groups: list[object],
    module: ModuleOptions,
    how: TimeOptions,
) -> None:
    """Of options, an Assay module takes inputs, a trace, and its own."""
    named = [*(["--function"] if functions else []), *(arguments or [])]
    mine = ("--input", "--trace")
    others = [each for each in given_options(module, how) if each not in mine]
    for option in [*named, *given_options(*groups), *others]:
        raise CommandError(f"{option} is not for Assay modules", code=USAGE)


def _time_kernels(
    file: Path,
    functions: list[str],
    chip: str,
    sizes: GridOptions,
    kernel: KernelOptions,
    how: TimeOptions,
    *,
    json: bool,
) -> None:
    """Time and print kernels of a file: those that are named, or all."""
    from .time_kernels import kernel_times
    from .time_output import tell_failed, tell_stopped, write_kernels, write_results

    _refuse("modules", file, ["--quick"] if how.quick else [])
    done = kernel_times(file, functions, chip, sizes, kernel, how)
    if done.is_one and done.kernels:
        write_results(done.kernels[0], how, json=json)
    elif done.kernels or done.end is None:
        write_kernels(done.kernels, how, json=json)
    if done.end is not None:
        tell_stopped(f"{file}: {done.state}", done.failed)
        raise done.end
    tell_failed(done.failed)


def _time_module(
    file: Path,
    function: str | None,
    chip: str,
    module: ModuleOptions,
    how: TimeOptions,
    *,
    json: bool,
) -> None:
    """Time and print a function of a module."""
    _refuse(".metal files", file, ["--cold"] if how.cold else [])
    from .crash_trace import stopped_by
    from .time_output import tell_stopped, write_results

    results, end = _module_times(file, function, chip, module, how)
    if results:
        write_results(results, how, json=json)
    if end is not None:
        tell_stopped(f"{file}: {stopped_by(end)}; the times are of what had run", [])
        raise end


def _check_files(file: Path, how: TimeOptions) -> None:
    how.check_files()
    require_file(file)


def _time_on_npu(
    program: "TorqOptions",
    sizes: GridOptions,
    kernel: KernelOptions,
    module: ModuleOptions,
    how: TimeOptions,
    *,
    json: bool,
) -> None:
    """Time and print what the NPU does."""
    from .torq.time import time_executable

    _refuse_for_torq(sizes, kernel, module, how)
    time_executable(program, module.input or [], how.trace, json=json)


def _refuse_for_torq(
    sizes: GridOptions, kernel: KernelOptions, module: ModuleOptions, how: TimeOptions
) -> None:
    for option in given_options(sizes, kernel, module, how):
        if option not in ("--input", "--trace"):
            raise CommandError(f"{option} is not for the NPU", code=USAGE)


def _refuse(kind: str, file: Path, wrong: list[str]) -> None:
    if wrong:
        raise CommandError(f"{wrong[0]} is for {kind}, and {file} is none", code=USAGE)


def _module_times(
    file: Path, function: str | None, chip: str, module: ModuleOptions, how: TimeOptions
) -> "tuple[list[TimeResult], BaseException | None]":
    """A function of a module on each chip, until somebody stops it; a timeline is of the first."""
    from .options.shared import load_function, need_inputs, open_model
    from .terminal import progress
    from .time_kernels import chips_of, usage_errors

    with usage_errors(), progress() as say:
        first, *others = chips_of(chip, how.compare)
        values = module.values()
        opened = open_model(file, module)
        called = load_function(opened, function, device="emulated", parameters=module.parameters)
        if values:
            need_inputs(called, len(values))
        results: list[TimeResult] = []
        time = partial(
            _module_time, called, values, results=not how.quick, say=say, failed=results.append
        )
        try:
            for each in (first, *others):
                found = time(each, how.trace if each is first else None)
                results.append(found)
        except (KeyboardInterrupt, SystemExit) as end:
            return [each for each in results if each.dispatches], end
        return results, None


def _module_time(
    function: "Function",
    values: "list[Value]",
    chip: "Chip",
    trace: Path | None,
    *,
    results: bool,
    say: Callable[[str], None],
    failed: "Callable[[TimeResult], None]",
) -> "TimeResult":
    """The result; when the run fails, `trace` shows it up to there, and `failed` is given it."""
    from ..prediction.programs import time_function
    from .crash_trace import save_partial, signals_as_exits
    from .spools import spool_beside

    def keep(partial: "TimeResult") -> None:
        failed(partial)
        if trace is not None:
            save_partial(trace, partial.save_trace)

    beside = spool_beside(trace) if trace is not None else nullcontext()
    with signals_as_exits(), beside as spool:
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
