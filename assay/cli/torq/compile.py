"""`assay torq compile`: a model in, an executable for the NPU out."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..failures import USAGE, CommandError
from ..options.shared import Json

if TYPE_CHECKING:
    from assay.compiler.torq.schedule.compile import Compiled
    from assay.compiler.torq.schedule.options import Options


def compile_command(
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL", help="A .tflite, .onnx, .mlir or .mlirbc model, or TorqHL."
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Where to; MODEL with .torq when not given."),
    ] = None,
    schedule: Annotated[
        str,
        typer.Option(
            help="'overlap': transfers beside slices, tensors kept in LRAM; 'vendor': layer by "
            "layer on one slice, as the vendor's compiler does."
        ),
    ] = "overlap",
    double_buffer: Annotated[
        bool, typer.Option(help="Whether transfers and slices work at the same time.")
    ] = True,
    json: Json = False,
) -> None:
    """Compile a quantised model for the NPU.

    Operators are cut into tiles that fit into the NPU's memory; results are exact. What no kernel
    can do is named. A summary says what the schedule is expected to do.

    [bold]Examples[/bold]

      assay torq compile model.tflite -o model.torq

      assay run model.torq --input 1x49x10x1xi8=0

      assay torq compile model.tflite --schedule vendor -o vendor.torq
    """
    from assay.compiler.torq.schedule.compile import compiled
    from assay.hal.torq.pack import pack
    from assay.hal.torq.write import write_executable

    from ..terminal import print_json, progress, show, want_json

    want_json(json)
    options = _options(schedule, double_buffer=double_buffer)
    path = output or model.with_suffix(".torq")
    with progress() as say:
        made = compiled(model, say, options)
        data = write_executable(pack(made.program, model.stem))
        path.write_bytes(data)
    if json:
        print_json({"output": str(path), "bytes": len(data), **_figures(made)})
        return
    figures = {name: f"{value:,}" for name, value in _counts(made).items()}
    show(
        f"{path}: {len(data):,} bytes, {figures['slice_runs']} runs of slices, "
        f"{figures['transfers']} transfers, {figures['blocks']} blocks of commands\n{made.summary}"
    )


def _options(schedule: str, *, double_buffer: bool) -> "Options":
    """What a schedule is called. Raises CommandError."""
    from dataclasses import replace

    from assay.compiler.torq.schedule.options import SCHEDULES

    if schedule not in SCHEDULES:
        known = " and ".join(SCHEDULES)
        raise CommandError(f"--schedule {schedule}: there are {known}", code=USAGE)
    found = SCHEDULES[schedule]
    return found if double_buffer else replace(found, double_buffer=False)


def _counts(made: "Compiled") -> dict[str, int]:
    notes = made.program.notes
    return {
        "slice_runs": len(notes.slice_runs),
        "transfers": len(notes.transfers),
        "blocks": made.program.blocks,
    }


def _figures(made: "Compiled") -> dict[str, Any]:
    return {**_counts(made), "schedule": made.summary.to_json()}
