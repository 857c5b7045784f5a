"""`assay run`: runs one function of a module, in the manner of `iree-run-module`."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .failures import USAGE, CommandError
from .modules.files import is_assay_file, run_assay
from .options.common import NpuOptions
from .options.groups import given_options, grouped
from .options.iree import IreeOptions
from .options.shared import (
    Device,
    FunctionName,
    Inputs,
    Json,
    ModelPath,
    Parameters,
    check_trace_name,
    load_function,
    need_inputs,
    open_model,
)

if TYPE_CHECKING:
    from ..elements import Value
    from ..module import Function
    from ..prediction.npu import NpuTimeResult
    from .torq.run import TorqOptions

Outputs = Annotated[
    list[str] | None,
    typer.Option(
        "--output",
        "-o",
        help="Where one result goes, in order: [bold]@file.npy[/bold] (the same file again "
        "appends), [bold]@file.bin[/bold] (raw bytes), [bold]-[/bold] prints it, empty drops it. "
        "Results without an --output are printed when there is none at all.",
        show_default=False,
    ),
]
Limit = Annotated[
    int, typer.Option("--max-elements", min=0, help="How many elements of a result are printed.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineOptions:
    """A timeline of the run, and the GPU that it is of."""

    trace: Annotated[
        Path | None,
        typer.Option(
            "--trace",
            help="Write a timeline of the run as --chip would do it: .html, .pftrace or .json.",
        ),
    ] = None
    chip: Annotated[str, typer.Option("--chip", help="The GPU of the timeline.")] = "m1"


@grouped
def run_command(
    module: ModelPath,
    function: FunctionName = None,
    input: Inputs = None,
    output: Outputs = None,
    device: Device = "emulated",
    parameters: Parameters = None,
    max_elements: Limit = 1024,
    *,
    iree: IreeOptions,
    timeline: TimelineOptions,
    npu: NpuOptions,
    json: Json = False,
) -> None:
    """Run a function of a module, or of a model that is compiled first, on the Metal device.

    Results are printed as iree-run-module prints them, unless --output says where they go. A Torq
    executable (.torq, .fb, .synap, or a .vmfb that holds one) runs on the emulated NPU: an --input
    per buffer that it reads, a result per buffer that it writes. --device torq compiles a quantised
    model for the NPU. Of an Assay module (.assay) the shapes of the inputs say which model runs.

    [bold]Examples[/bold]

      assay run model.vmfb --function main --input 2x2xf32=1,2,3,4 --input @weights.npy

      assay run model.onnx --input @image.npy --output @scores.npy

      assay run model.vmfb --parameters model=weights.irpa --input 4x16xf32=0

      assay run model.vmfb --input @image.npy --trace run.html --chip m2-pro

      assay run model.assay --device cpu --input @image.npy

      assay run model.torq --input 136xi8=@operands.bin --output @results.bin

      assay run model.tflite --device torq --input @image.npy --output @scores.npy
    """
    from ..text_values import parse_inputs
    from .terminal import progress, want_json

    want_json(json)
    if timeline.trace is not None:
        check_trace_name(timeline.trace)
    show = partial(_show, output=output, limit=max_elements, json=json)
    if is_assay_file(module):
        _refuse_for_assay(function, parameters, given_options(iree))
        return show(*run_assay(module, input or [], device, timeline.trace, timeline.chip))
    program = npu.program(module, function, device)
    if program is not None:
        _refuse_for_torq(parameters, iree)
        return _run_torq(program, input or [], timeline.trace, show)
    if timeline.trace is not None and device != "emulated":
        raise CommandError("--trace is for --device emulated", code=USAGE)
    values = parse_inputs(input or [])
    with progress() as say:
        opened = open_model(module, iree, say=say)
        say("loading")
        chosen = load_function(opened, function, device=device, parameters=parameters)
        results = _run_function(chosen, values, timeline, say)
    show(chosen.name, results)


def _refuse_for_assay(
    function: str | None, parameters: list[str] | None, others: list[str]
) -> None:
    given = {"--function": function, "--parameters": parameters}
    for option in [*(name for name, value in given.items() if value), *others]:
        raise CommandError(f"{option} is not for Assay modules", code=USAGE)


def _refuse_for_torq(parameters: list[str] | None, iree: IreeOptions) -> None:
    for option in [*(["--parameters"] if parameters else []), *given_options(iree)]:
        raise CommandError(f"{option} is not for the NPU", code=USAGE)


def _run_torq(
    options: "TorqOptions", inputs: list[str], trace: Path | None, show: Callable[..., None]
) -> None:
    from ..text_values import parse_inputs
    from .terminal import progress
    from .torq.run import first, open_torq, run_torq

    values = parse_inputs(inputs)
    with progress() as say:
        chosen = open_torq(options, say)
        if options.is_model or chosen.declaration:
            need_inputs(chosen, len(values))
        say(first("running on the NPU"))
        done = run_torq(chosen, values, trace)
    show(done.name, done.results, time=done.time)


def _show(
    name: str,
    results: "list[Value]",
    *,
    output: list[str] | None,
    limit: int,
    json: bool,
    time: "NpuTimeResult | None" = None,
) -> None:
    """Save results where `--output` says, and print them; `time` is how long an NPU took."""
    from .terminal import print_json

    _keep(results, output)
    if json:
        npu = {} if time is None else {"cycles": time.cycles, "span_seconds": time.spans}
        shown = [_json(result, limit) for result in results]
        print_json({"function": name, **npu, "results": shown})
        return
    _print(name, results, output, limit)
    if time is not None:
        from ..prediction.npu_text import spans_text

        typer.echo(f"{time.cycles} cycles of the NPU\n{spans_text(time.spans)}")


def _keep(results: "list[Value]", output: list[str] | None) -> None:
    """Saves results where `--output` says."""
    if output and len(output) > len(results):
        raise CommandError(f"{len(output)} times --output for {len(results)} results", code=USAGE)
    if output:
        _save(results, output)


def _run_function(
    chosen: "Function",
    values: "list[Value]",
    timeline: TimelineOptions,
    say: Callable[[str], None],
) -> "list[Value]":
    need_inputs(chosen, len(values))
    say(f"running {chosen.name}")
    return _invoke(chosen, values, timeline, say)


def _invoke(
    function: "Function",
    values: "list[Value]",
    options: TimelineOptions,
    say: Callable[[str], None],
) -> "list[Value]":
    """The results; the timeline, if one is asked for, is kept also if the run fails half-way."""
    trace, chip = options.trace, options.chip
    if trace is None:
        return function.invoke(values)
    from assay.hw.facts import SpecError

    from ..prediction import timing
    from .crash_trace import kept_timeline
    from .spools import spool_beside

    with spool_beside(trace) as spool:
        try:
            with (
                timing(chip, program=function.name, timeline=True, spool=spool, say=say) as seen,
                kept_timeline(trace, lambda path: seen.result(partial=True).save_trace(path)),
            ):
                results = function.invoke(values)
        except SpecError as error:
            raise CommandError(f"--chip: {error}", code=USAGE) from None
        seen.result().save_trace(trace)
    return results


def _print(name: str, results: "list[Value]", outputs: list[str] | None, limit: int) -> None:
    import numpy as np

    from ..text_values import format_value

    typer.echo(f"EXEC @{name}")
    for position, value in enumerate(results):
        if outputs and (position >= len(outputs) or outputs[position] != "-"):
            continue
        if isinstance(value, np.ndarray):
            typer.echo(f"result[{position}]: hal.buffer_view")
            typer.echo(format_value(value, limit=limit))
        else:
            typer.echo(f"result[{position}]: {format_value(value)}")


def _save(results: "list[Value]", outputs: list[str]) -> None:
    """Writes results where the options say; a file named twice gets both, one after the other."""
    import numpy as np

    from ..text_values import write_npy

    begun: set[str] = set()
    for text, value in zip(outputs, results, strict=False):
        if text in ("", "-"):
            continue
        append, path = text.startswith("+") or text in begun, text.lstrip("@+")
        if text[0] not in "@+" or not path:
            raise CommandError(f"--output {text}: expected @file.npy, @file.bin or -", code=USAGE)
        begun.add(text)
        with open(path, "ab" if append else "wb") as file:
            if path.endswith(".npy"):
                write_npy(file, value)
            else:
                file.write(np.ascontiguousarray(value).tobytes())


def _json(value: "Value", limit: int) -> dict[str, Any]:
    """A result for `--json`; elements in row-major order, at most `limit` of them."""
    import numpy as np

    from ..elements import element_name, type_text

    if not isinstance(value, np.ndarray):
        return {"type": type_text(value), "value": value}
    kind = element_name(value.dtype)
    flat = value.reshape(-1)[:limit]
    wide = flat.astype(np.float64) if kind in ("bf16", "f16") or kind.startswith("f8") else flat
    items = [str(x) for x in wide] if wide.dtype.kind == "c" else wide.tolist()
    return {
        "type": type_text(value),
        "element": kind,
        "shape": list(value.shape),
        "values": items,
        "complete": value.size <= limit,
    }
