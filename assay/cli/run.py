"""`assay run`: runs one function of a module, in the manner of `iree-run-module`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .failures import USAGE, CommandError
from .options import (
    CompileFlags,
    Device,
    FunctionName,
    Inputs,
    Json,
    ModelPath,
    Parameters,
    SkipHostCode,
    TorqHardware,
    check_trace_name,
    load_function,
    need_inputs,
    open_model,
    refuse_torq_options,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..elements import Value
    from ..module import Function
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


def run_command(
    module: ModelPath,
    function: FunctionName = None,
    input: Inputs = None,
    output: Outputs = None,
    device: Device = "emulated",
    parameters: Parameters = None,
    max_elements: Limit = 1024,
    compile_flag: CompileFlags = None,
    trace: Annotated[
        Path | None,
        typer.Option(
            "--trace",
            help="Write a timeline of the run as --chip would do it: .html, .pftrace or .json.",
        ),
    ] = None,
    chip: Annotated[str, typer.Option("--chip", help="The GPU of the timeline.")] = "m1",
    torq_hw: TorqHardware = None,
    skip_host_code: SkipHostCode = False,
    json: Json = False,
) -> None:
    """Run a function of a module, or of a model that is compiled first, on the Metal device.

    Results are printed as iree-run-module prints them, unless --output says where they go. A Torq
    executable (.torq, .fb, .synap, or a .vmfb that holds one) runs on the emulated NPU: an --input
    per buffer that it reads, and a result, as bytes, per buffer that it writes.

    [bold]Examples[/bold]

      assay run model.vmfb --function main --input 2x2xf32=1,2,3,4 --input @weights.npy

      assay run model.onnx --input @image.npy --output @scores.npy

      assay run model.vmfb --parameters model=weights.irpa --input 4x16xf32=0

      assay run model.vmfb --input @image.npy --trace run.html --chip m2-pro

      assay run model.torq --input 136xi8=@operands.bin --output @results.bin
    """
    from ..text_values import parse_inputs
    from .terminal import print_json, progress, want_json
    from .torq.inspect import is_torq
    from .torq.run import TorqOptions

    want_json(json)
    if is_torq(module):
        if trace is not None:
            check_trace_name(trace)
        given = (
            (device != "emulated", "--device"), (bool(parameters), "--parameters"),
            (bool(compile_flag), "--compile-flag"),
        )  # fmt: skip
        options = TorqOptions(
            path=module, function=function, hardware=torq_hw, skip_host_code=skip_host_code
        )
        _run_torq(options, input or [], output, given, max_elements, trace, json=json)
        return
    refuse_torq_options(torq_hw, skip_host_code)
    if trace is not None:
        check_trace_name(trace)
        if device != "emulated":
            raise CommandError("--trace is for --device emulated", code=USAGE)
    values = parse_inputs(input or [])
    with progress() as say:
        opened = open_model(module, flags=compile_flag, say=say)
        say("loading")
        chosen = load_function(opened, function, device=device, parameters=parameters)
        need_inputs(chosen, len(values))
        say(f"running {chosen.name}")
        results = _invoke(chosen, values, trace, chip, say)
    _keep(results, output)
    if json:
        print_json({"function": chosen.name, "results": [_json(r, max_elements) for r in results]})
    else:
        _print(chosen.name, results, output, max_elements)


def _run_torq(
    options: "TorqOptions",
    inputs: list[str],
    output: list[str] | None,
    refused: tuple[tuple[bool, str], ...],
    limit: int,
    trace: Path | None,
    *,
    json: bool,
) -> None:
    from ..text_values import parse_inputs
    from .terminal import print_json, progress
    from .torq.run import first, run_torq

    for given, option in refused:
        if given:
            raise CommandError(f"{option} is not for Torq executables", code=USAGE)
    values = parse_inputs(inputs)
    with progress() as say:
        say(first("running on the NPU"))
        done = run_torq(options, values, trace)
    _keep(done.results, output)
    if json:
        results = [_json(result, limit) for result in done.results]
        print_json({"function": done.name, "cycles": done.cycles, "results": results})
    else:
        _print(done.name, done.results, output, limit)
        typer.echo(f"{done.cycles} cycles of the NPU")


def _keep(results: "list[Value]", output: list[str] | None) -> None:
    """Saves results where `--output` says."""
    if output and len(output) > len(results):
        raise CommandError(f"{len(output)} times --output for {len(results)} results", code=USAGE)
    if output:
        _save(results, output)


def _invoke(
    function: "Function",
    values: "list[Value]",
    trace: Path | None,
    chip: str,
    say: "Callable[[str], None]",
) -> "list[Value]":
    """The results; with `trace`, the run's timeline goes there, also if it fails half-way."""
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
