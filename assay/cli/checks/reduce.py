"""`assay reduce`: the smallest part of a source that still has a finding, as one file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...launches.opening import COMPILED
from ...launches.source import SUFFIXES
from ..failures import USAGE, CommandError, errors_end_with
from ..options.common import KernelOptions
from ..options.files import keep_inputs, require_file
from ..options.groups import grouped
from ..options.shared import Json

if TYPE_CHECKING:
    from ...reduction import Reduced

ReducedFile = Annotated[
    Path,
    typer.Argument(metavar="FILE.metal", help="MSL source.", show_default=False),
]
ReducedFunction = Annotated[
    str | None,
    typer.Option(
        "--function",
        "-f",
        help="This kernel; the first one with a finding if left out.",
        show_default=False,
    ),
]
Wanted = Annotated[
    str,
    typer.Option("--check", help="What to look for, with commas, as for assay check."),
]
Kind = Annotated[
    str | None,
    typer.Option(
        "--kind",
        help="The finding to keep, such as race-read-write; the first one if left out.",
        show_default=False,
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE.metal",
        help="Where the result goes; else it is printed.",
        show_default=False,
    ),
]


@grouped
def reduce_command(
    file: ReducedFile,
    function: ReducedFunction = None,
    check: Wanted = "all",
    kind: Kind = None,
    output: Output = None,
    *,
    kernel: KernelOptions,
    json: Json = False,
) -> None:
    """Shrink a kernel with its launch until nothing can go without losing its finding.

    What is left has a finding of the same kind between the same statements, and is one file that
    assay check runs by itself: what it includes, macros and its launch stand in it.

    [bold]Examples[/bold]

      assay reduce gemm.metal --output small.metal

      assay reduce library.metal -I include -f reduce --args reduce.toml --kind race-read-write
    """
    from ..terminal import want_json

    want_json(json)
    errors_end_with(USAGE)
    require_file(file)
    keep_inputs(output, file, kernel.args)
    if file.suffix not in SUFFIXES or file.suffix in COMPILED:
        raise CommandError(f"{file}: expected MSL source, a .metal file", code=USAGE)
    reduced = _reduced(file, function, check, kind, kernel)
    if output is not None:
        output.write_text(reduced.source, encoding="utf-8")
    if json:
        typer.echo(_json(reduced))
    elif output is None:
        typer.echo(reduced.source, nl=False)
    else:
        lines = f"{reduced.lines_before} lines became {reduced.lines_after}"
        command = f"assay check {output}" + (f" --check {check}" if check != "all" else "")
        typer.echo(f"{output}: {lines}; {command} shows: {reduced.finding.kind}")


def _reduced(
    file: Path, function: str | None, check: str, kind: str | None, kernel: KernelOptions
) -> "Reduced":
    from assay.compiler.msl import CompileError

    from ...checks import Inputs, SourceOptions, chosen_checks, read_file, read_source
    from ...launches.errors import LaunchInputError
    from ...reduction import reduce_source
    from ..terminal import progress

    try:
        checks = chosen_checks(check)
    except ValueError as error:
        raise CommandError(f"--check {check}: {error}", code=USAGE) from None
    try:
        options = SourceOptions(
            functions=(function,) if function else (),
            macros=kernel.macros(),
            include_paths=tuple(kernel.include or []),
            inputs=read_file(kernel.args) if kernel.args is not None else Inputs(),
        )
        with progress() as say:
            return reduce_source(
                read_source(file),
                str(file),
                options,
                checks=checks,
                kind=kind,
                arguments=kernel.args,
                say=say,
            )
    except (LaunchInputError, CompileError) as error:
        raise CommandError(str(error), code=USAGE) from None


def _json(reduced: "Reduced") -> str:
    from json import dumps

    return dumps(
        {
            "source": reduced.source,
            "lines_before": reduced.lines_before,
            "lines_after": reduced.lines_after,
            "tries": reduced.tries,
            "finding": reduced.finding.to_json(),
        },
        indent=2,
    )
