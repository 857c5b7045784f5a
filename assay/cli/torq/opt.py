"""`assay torq opt`: passes of the NPU's compiler over a model, and what each leaves."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

_ELIDED = 16
"""Constants of more elements are left out of what is printed between passes."""

FileArgument = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL",
        help="A .tflite, .mlir or .mlirbc model, or TorqHL as this command prints it.",
        show_default=False,
    ),
]
Passes = Annotated[
    str,
    typer.Option(
        "--pass",
        metavar="NAME[,NAME...]",
        help="These passes in this order instead of all; [bold]--list[/bold] names them.",
        show_default=False,
    ),
]
StopAfter = Annotated[
    str, typer.Option("--stop-after", metavar="NAME", help="End after the last pass of this name.")
]
PrintAfter = Annotated[
    list[str] | None,
    typer.Option("--print-ir-after", metavar="NAME", help="Print to stderr what this pass leaves."),
]
PrintAfterAll = Annotated[
    bool, typer.Option("--print-ir-after-all", help="Print to stderr what each pass leaves.")
]
Elide = Annotated[
    int | None,
    typer.Option("--elide", metavar="N", help="Leave out constants of more than N elements."),
]
Ways = Annotated[
    bool,
    typer.Option("--ways", help="Print how each operator of the model comes to the NPU instead."),
]
ListPasses = Annotated[bool, typer.Option("--list", help="List the passes and end.", is_eager=True)]


def opt_command(
    file: FileArgument = Path(),
    names: Passes = "",
    stop_after: StopAfter = "",
    print_after: PrintAfter = None,
    print_after_all: PrintAfterAll = False,
    elide: Elide = None,
    ways: Ways = False,
    list_passes: ListPasses = False,
) -> None:
    """Run passes of the NPU's compiler over a model and print what they make of it.

    [bold]Examples[/bold]

      assay torq opt model.tflite --elide 16

      assay torq opt model.tflite --stop-after legalise-tosa > model.mlir

      assay torq opt model.mlir --pass fold-scales,fold-clamps --print-ir-after-all
    """
    from assay.compiler.torq.hl.text import text_of
    from assay.compiler.torq.passes.load import load
    from assay.compiler.torq.passes.pipeline import passes_named, run_passes, usual_passes

    from ..failures import USAGE, CommandError
    from ..terminal import progress

    if list_passes:
        _list()
        return
    if file == Path():
        raise CommandError("a model is missing; --list lists the passes", code=USAGE)
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    passes = passes_named(wanted) if wanted else usual_passes(stop_after)
    shown = {each.name for each in passes_named(print_after or [])}

    def show(name: str, module: "ModuleOp") -> None:
        if print_after_all or name in shown:
            text = text_of(module, most=_ELIDED if elide is None else elide)
            typer.echo(f"// after {name}\n{text}\n", err=True)

    with progress() as say:
        module = load(file, say)
        say(f"lowering {file.name}")
        run_passes(module, passes, after=show, source=str(file))
    typer.echo(_ways(module) if ways else text_of(module, most=elide))


def _list() -> None:
    from assay.compiler.torq.passes.pipeline import PASSES

    for name, kind in PASSES.items():
        typer.echo(f"{name:26}{(kind.__doc__ or '').splitlines()[0]}")


def _ways(module: "ModuleOp") -> str:
    from assay.compiler.torq.hl.text import way_counts
    from assay.compiler.torq.hl.text import ways as ways_of

    lines = [f"{way:8} {name:22} {place}".rstrip() for way, name, place in ways_of(module)]
    counts = ", ".join(f"{many} {way}" for way, many in way_counts(module).items())
    return "\n".join((*lines, counts))
