"""`assay build`: an Assay module of a model, for several input shapes and devices."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from ..failures import USAGE, CommandError
from ..options.groups import grouped
from ..options.iree import NoCache
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


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitOptions:
    """Which device does what, where several work together."""

    split: Annotated[
        Path | None,
        typer.Option(
            "--split",
            help="Let the devices work together: [bold]auto[/bold], chosen by predicted times, or "
            "a file with a line for each pattern of operators' names or kinds, and the device that "
            "does them: [bold]Conv metal[/bold].",
            show_default=False,
        ),
    ] = None
    chip: Annotated[
        str, typer.Option("--chip", help="The GPU whose times --split auto predicts.")
    ] = "m1"
    keep_split: Annotated[
        Path | None,
        typer.Option(
            "--keep-split",
            help="Write what --split auto chose, to be edited and given to --split.",
            show_default=False,
        ),
    ] = None

    @property
    def text(self) -> str | None:
        """What --split says. Raises CommandError."""
        from ...assay_module import AUTO

        if self.split == Path(AUTO):
            return AUTO
        if self.keep_split is not None:
            raise CommandError("--keep-split is for --split auto", code=USAGE)
        return None if self.split is None else self.split.read_text()

    def keep(self, text: str) -> None:
        """Writes the split that was chosen, if that was asked for."""
        if self.keep_split is not None:
            self.keep_split.write_text(text)


@grouped
def build_command(
    model: Model,
    output: Output = None,
    shapes: Shapes = "",
    dim: Dims = None,
    devices: Devices = "metal",
    *,
    how: SplitOptions,
    no_cache: NoCache = False,
    json: Json = False,
) -> None:
    """Build an Assay module: one file with a model for several input shapes and devices.

    Of an ONNX model each shape set becomes a device model of its own, with its memory planned;
    weights and kernels are shared. TFLite and MLIR models are one kernel per device; with --split
    their operators have kernels of their own. Quantised ones can be built for the NPU, too. assay
    run and assay inspect take the file.

    [bold]Examples[/bold]

      assay build model.onnx

      assay build model.onnx --shapes "image=1x3x224x224; image=4x3x224x224" --devices metal,cpu

      assay build model.tflite --devices torq,metal,cpu

      assay build model.onnx --devices torq,metal,cpu --split auto

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
        if shapes or dim or how.split or devices != "metal" or no_cache:
            raise CommandError(f"{model} says all that a module is; leave out options", code=USAGE)
        data = from_text(model.read_text(), str(model))
        names = list(read_module(data).module.devices)
    else:
        names, data = _built(model, shapes, dim or [], devices, how, told, cache=not no_cache)
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
    how: SplitOptions,
    told: list[str],
    *,
    cache: bool,
) -> tuple[list[str], bytes]:
    """(the devices, the module) of a model; a report goes to `told`."""
    from ...assay_module import built
    from ..terminal import progress

    names = [name.strip() for name in devices.split(",") if name.strip()]
    with progress() as say:
        data = built(
            model,
            devices=names,
            shapes=shapes,
            dims=dims,
            split=how.text,
            split_name=str(how.split),
            chip=how.chip,
            cache=cache,
            say=say,
            report=told.append,
            chosen=how.keep,
        )
    return names, data
