"""`assay build`: an Assay module of a model, for several input shapes and devices."""

from pathlib import Path
from typing import Annotated

import typer

from ..failures import USAGE, CommandError
from ..options.shared import Json, check_writable

Model = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL",
        help="An .onnx, .tflite, .mlir or .mlirbc model, or a module's text, .assay.txt.",
        show_default=False,
    ),
]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="The module; MODEL with .assay if left out."),
]
Shapes = Annotated[
    str,
    typer.Option(
        "--shapes",
        help="Input shapes, a comma between inputs, a semicolon between sets: "
        "[bold]data=1x3x224x224,mask=1x1; data=2x3x224x224,mask=2x1[/bold]. A size may be a name. "
        "The first set is the one that a module starts with.",
    ),
]
Dims = Annotated[
    list[str] | None,
    typer.Option(
        "--dim",
        help="Bounds of a named size: [bold]rows=1..128[/bold], or [bold]rows=16..128:16[/bold] "
        "for multiples of 16. Memory is then planned for the largest. Without bounds memory is "
        "taken when the module runs.",
        show_default=False,
    ),
]
Devices = Annotated[
    str,
    typer.Option(
        "--devices",
        help="What to build for, with commas, the first by preference: metal, cpu, torq (the NPU).",
    ),
]
SplitFile = Annotated[
    Path | None,
    typer.Option(
        "--split",
        help="Let the devices work together: [bold]auto[/bold], chosen by predicted times, or a "
        "file with a line for each pattern of operators' names or kinds, and the device that does "
        "them: [bold]Conv metal[/bold].",
        show_default=False,
    ),
]


def build_command(
    model: Model,
    output: Output = None,
    shapes: Shapes = "",
    dim: Dims = None,
    devices: Devices = "metal",
    split: SplitFile = None,
    chip: Annotated[
        str, typer.Option("--chip", help="The GPU whose times --split auto predicts.")
    ] = "m1",
    json: Json = False,
) -> None:
    """Build an Assay module: one file with a model for several input shapes and devices.

    Of an ONNX model each shape set becomes a device model of its own, with its memory planned;
    weights and kernels are shared. TFLite and MLIR models are one kernel per device; quantised ones
    can be built for the NPU, too. assay run and assay inspect take the file.

    [bold]Examples[/bold]

      assay build model.onnx

      assay build model.onnx --shapes "image=1x3x224x224; image=4x3x224x224" --devices metal,cpu

      assay build model.tflite --devices torq,metal,cpu

      assay build model.onnx --shapes "tokens=1xlenx64" --dim len=1..128 -o model.assay
    """
    from assay.hal.module.file import read_module
    from assay.hal.module.text import SUFFIX, from_text

    from ..terminal import print_json, want_json

    want_json(json)
    told: list[str] = []
    is_text = model.name.endswith(SUFFIX)
    path = output or model.with_name(model.name.removesuffix(".txt")).with_suffix(".assay")
    if path.suffix != ".assay":
        raise CommandError(f"--output {path}: modules end in .assay", code=USAGE)
    check_writable("--output", path)
    if is_text:
        if shapes or dim or split or devices != "metal":
            raise CommandError(f"{model} says all that a module is; leave out options", code=USAGE)
        data = from_text(model.read_text(), str(model))
        names = list(read_module(data).module.devices)
    else:
        names, data = _built(model, shapes, dim or [], devices, (split, chip), told)
    path.write_bytes(data)
    if json:
        print_json({"module": str(path), "bytes": len(data), "devices": names, "report": told})
    else:
        for line in told:
            typer.echo(line)
        typer.echo(f"{path}: {len(data)} bytes for {', '.join(names)}")


def _built(
    model: Path,
    shapes: str,
    dims: list[str],
    devices: str,
    split: tuple[Path | None, str],
    told: list[str],
) -> tuple[list[str], bytes]:
    """(the devices, the module) of a model; a report goes to `told`."""
    from ...assay_module import AUTO, built
    from ..terminal import progress

    file, chip = split
    text = None if file is None else AUTO if file == Path(AUTO) else file.read_text()
    names = [name.strip() for name in devices.split(",") if name.strip()]
    with progress() as say:
        data = built(
            model,
            devices=names,
            shapes=shapes,
            dims=dims,
            split=text,
            split_name=str(file),
            chip=chip,
            say=say,
            report=told.append,
        )
    return names, data
