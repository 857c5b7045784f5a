"""`assay torq opt`: passes of the NPU's compiler over a model, and what each leaves."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Callable

    from xdsl.dialects.builtin import ModuleOp

_LAST_OF_HL = "canonicalise"
_ELIDED = 16
"""Constants of more elements are left out of what is printed between passes."""

FileArgument = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL",
        help="A .tflite, .mlir or .mlirbc model, TorqHL, TorqPlan or TorqHW as this command prints "
        "them, or an executable for the NPU.",
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
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Where to: the text, or, if the name ends in .torq, the executable that it lists.",
        show_default=False,
    ),
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
    output: Output = None,
    list_passes: ListPasses = False,
) -> None:
    """Run passes of the NPU's compiler over a model and print what they make of it.

    All of them make TorqHW, the listing of an executable; [bold]--stop-after tile[/bold] is the
    last of TorqHL. A text with a schedule goes through what it still needs; over executables and
    their listings nothing is run without [bold]--pass[/bold].

    [bold]Examples[/bold]

      assay torq opt model.tflite --elide 16

      assay torq opt model.tflite --stop-after legalise-tosa > model.mlir

      assay torq opt model.mlir --pass fold-scales,fold-clamps --print-ir-after-all

      assay torq opt model.torq > model.mlir

      assay torq opt model.mlir -o model.torq
    """
    from assay.compiler.torq.passes.pipeline import passes_named, run_passes
    from assay.hal.torq.listing.passes import WHOLE, chosen_passes
    from assay.hal.torq.listing.text import listing

    from ..failures import USAGE, CommandError
    from ..terminal import progress

    if list_passes:
        _list()
        return
    if file == Path():
        raise CommandError("a model is missing; --list lists the passes", code=USAGE)
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    shown = {each.name for each in passes_named(print_after or [], WHOLE)}

    def show(name: str, module: "ModuleOp") -> None:
        if print_after_all or name in shown:
            text = listing(module, most=_ELIDED if elide is None else elide)
            typer.echo(f"// after {name}\n{text}\n", err=True)

    with progress() as say:
        module = _module(file, say)
        say(f"lowering {file.name}")
        passes = chosen_passes(module, wanted, _LAST_OF_HL if ways else stop_after)
        run_passes(module, passes, after=show, source=str(file))
    if ways:
        typer.echo(_ways(module))
    elif output is None:
        typer.echo(listing(module, most=elide))
    else:
        _write(module, output, elide)


def _module(file: Path, say: "Callable[[str], None]") -> "ModuleOp":
    """The module in a model, a text or an executable. Raises CommandError and ModelError."""
    from assay.compiler.torq.passes.load import load
    from assay.hal.torq.archive import read_container
    from assay.hal.torq.listing.module import module_of

    from ..failures import CommandError
    from ..options.files import require_file
    from .inspect import is_torq

    require_file(file)
    if not is_torq(file):
        return load(file, say)
    found = read_container(file.read_bytes(), str(file)).executables
    if len(found) != 1:
        raise CommandError(f"{file}: {len(found)} executables; one at a time is possible")
    return module_of(found[0][1])


def _write(module: "ModuleOp", output: Path, elide: int | None) -> None:
    from assay.compiler.torq.hw.executable import ExecutableOp
    from assay.hal.torq.listing.module import executable_of
    from assay.hal.torq.listing.text import listing
    from assay.hal.torq.write import write_executable

    from ..failures import USAGE, CommandError

    if output.suffix == ".torq":
        if not any(isinstance(op, ExecutableOp) for op in module.body.block.ops):
            problem = "an executable is made of all passes; other names are written as text"
            raise CommandError(f"--output {output}: {problem}", code=USAGE)
        try:
            output.write_bytes(write_executable(executable_of(module, str(output))))
        except (TypeError, OverflowError) as error:
            raise CommandError(f"{output}: a number does not fit the format: {error}") from None
    else:
        output.write_text(listing(module, most=elide) + "\n", encoding="utf-8")


def _list() -> None:
    from assay.hal.torq.listing.passes import WHOLE

    for name, kind in {kind.name: kind for kind in WHOLE}.items():
        typer.echo(f"{name:26}{(kind.__doc__ or '').splitlines()[0]}")


def _ways(module: "ModuleOp") -> str:
    from assay.compiler.torq.hl.text import way_counts
    from assay.compiler.torq.hl.text import ways as ways_of

    lines = [f"{way:8} {name:22} {place}".rstrip() for way, name, place in ways_of(module)]
    counts = ", ".join(f"{many} {way}" for way, many in way_counts(module).items())
    return "\n".join((*lines, counts))
