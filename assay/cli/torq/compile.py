"""`assay torq compile`: a model in, an executable for the NPU out."""

from pathlib import Path
from typing import Annotated

import typer

from ..options.shared import Json


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
    json: Json = False,
) -> None:
    """Compile a quantised model for the NPU.

    Operators are cut into tiles that fit into the NPU's memory; results are exact. What no kernel
    can do is named.

    [bold]Examples[/bold]

      assay torq compile model.tflite -o model.torq

      assay run model.torq --input 1x49x10x1xi8=0
    """
    from assay.compiler.torq.schedule.compile import compiled
    from assay.hal.torq.pack import pack
    from assay.hal.torq.write import write_executable

    from ..terminal import print_json, progress, show, want_json

    want_json(json)
    path = output or model.with_suffix(".torq")
    with progress() as say:
        program = compiled(model, say)
        data = write_executable(pack(program, model.stem))
        path.write_bytes(data)
    notes = program.notes
    if json:
        print_json(
            {
                "output": str(path),
                "bytes": len(data),
                "slice_runs": len(notes.slice_runs),
                "transfers": len(notes.transfers),
                "blocks": program.blocks,
            }
        )
        return
    show(
        f"{path}: {len(data):,} bytes, {len(notes.slice_runs):,} runs of slices, "
        f"{len(notes.transfers):,} transfers, {program.blocks:,} blocks of commands"
    )
