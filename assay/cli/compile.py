"""`assay compile`: a model in, a `.vmfb` for Metal out."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .failures import USAGE, CommandError
from .options.shared import CompileFlags, Json

if TYPE_CHECKING:
    from assay.compiler.models.compile import Target

TARGETS: "dict[str, Target]" = {
    "metal": "metal",
    "llvm-cpu": "llvm-cpu",
    "both": "both",
}


def compile_command(
    model: Annotated[
        Path,
        typer.Argument(metavar="MODEL", help="A .mlir, .mlirbc, .onnx or .tflite file."),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Where to; MODEL with .vmfb when not given."),
    ] = None,
    target: Annotated[
        str,
        typer.Option(
            "--target",
            help="[bold]metal[/bold], [bold]llvm-cpu[/bold], or [bold]both[/bold] in one module.",
        ),
    ] = "metal",
    compile_flag: CompileFlags = None,
    json: Json = False,
) -> None:
    """Compile a model with IREE.

    Work-arounds for known defects of the compiler are added when it fails without them, and told.

    [bold]Examples[/bold]

      assay compile model.onnx -o model.vmfb

      assay compile model.mlir --target llvm-cpu -o cpu.vmfb
    """
    from assay.compiler.models import compile_model

    from .terminal import note, print_json, progress, show, want_json

    want_json(json)
    if target not in TARGETS:
        raise CommandError(f"--target {target}: expected {', '.join(TARGETS)}", code=USAGE)
    path = output or model.with_suffix(".vmfb")
    with progress() as say:
        chosen = TARGETS[target]
        done = compile_model(model, path, target=chosen, flags=compile_flag or (), progress=say)
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
