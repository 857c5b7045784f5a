"""`assay compile`: a model in, a `.vmfb` for Metal or an executable for the NPU out."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .failures import USAGE, CommandError
from .options.compile import ScheduleOptions
from .options.groups import given_options, grouped
from .options.iree import IreeOptions
from .options.shared import NPU, Json, OnNpu, only_emulated

if TYPE_CHECKING:
    from assay.compiler.models.compile import Target

TARGETS: "dict[str, Target]" = {
    "metal": "metal",
    "llvm-cpu": "llvm-cpu",
    "both": "both",
}


Model = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A .mlir, .mlirbc, .onnx or .tflite file.")
]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Where to; MODEL with .vmfb or .torq when not given."),
]
IreeTarget = Annotated[
    str,
    typer.Option(
        "--target",
        help="[bold]metal[/bold], [bold]llvm-cpu[/bold], or [bold]both[/bold] in one module.",
    ),
]


@grouped
def compile_command(
    model: Model,
    output: Output = None,
    target: IreeTarget = "metal",
    device: OnNpu = "emulated",
    *,
    iree: IreeOptions,
    schedule: ScheduleOptions,
    json: Json = False,
) -> None:
    """Compile a model: with IREE for the GPU, with Assay's own compiler for the NPU.

    Work-arounds for known defects of IREE are added when it fails without them, and told. For the
    NPU, operators of a quantised model are cut into tiles that fit into its memory; results are
    exact, what no kernel can do is named, and a summary says what the schedule is expected to do.
    An --output that ends in .vmfb is a module of IREE: the executable and a host program for it.

    [bold]Examples[/bold]

      assay compile model.onnx -o model.vmfb

      assay compile model.mlir --target llvm-cpu -o cpu.vmfb

      assay compile model.tflite --device torq -o model.torq

      assay compile model.tflite --device torq -o model.vmfb
    """
    from .terminal import note, print_json, progress, show, want_json
    from .torq.compile import compile_for_npu

    want_json(json)
    if only_emulated(device) == NPU:
        for option in [*(["--target"] if target != "metal" else []), *given_options(iree)]:
            raise CommandError(f"{option} is not for the NPU", code=USAGE)
        compile_for_npu(model, output, schedule.chosen(), json=json)
        return
    if schedule != ScheduleOptions():
        raise CommandError(f"options of schedules are for --device {NPU}", code=USAGE)
    if target not in TARGETS:
        raise CommandError(f"--target {target}: expected {', '.join(TARGETS)}", code=USAGE)
    path = output or model.with_suffix(".vmfb")
    with progress() as say:
        chosen = TARGETS[target]
        done = iree.compile(model, path, target=chosen, say=say)
    if json:
        print_json(
            {
                "output": str(path),
                "bytes": len(done.data),
                "target": target,
                "notes": done.notes,
                "flags": done.flags,
            }
        )
        return
    for text in done.notes:
        note(text)
    show(f"{path}: {len(done.data):,} bytes for {target}")
