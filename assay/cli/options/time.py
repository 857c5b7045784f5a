"""Options of `assay time`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from ..failures import USAGE, CommandError
from .shared import check_trace_name, check_writable

TimedFile = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="A .metal file, a compiled .vmfb, a model that is compiled first, a Python script, or "
        "a Torq executable.",
        show_default=False,
    ),
]
ScriptArguments = Annotated[
    list[str] | None,
    typer.Argument(metavar="[ARGUMENTS]...", help="Of a script.", show_default=False),
]
TimedFunction = Annotated[
    list[str] | None,
    typer.Option(
        "--function",
        "-f",
        help="These kernels of a file instead of all, also [bold]'gemm_*'[/bold], and again; or "
        "which function of a module.",
        show_default=False,
    ),
]
TimedChip = Annotated[
    str, typer.Option("--chip", "-c", help="Which GPU, such as m1, m2-pro or m4-max.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class GridOptions:
    """The grid of a kernel."""

    grid: Annotated[
        str | None,
        typer.Option("--grid", metavar="X[,Y[,Z]]", help="Threadgroups of the grid."),
    ] = None
    threads: Annotated[
        str | None,
        typer.Option("--threads", metavar="X[,Y[,Z]]", help="Threads of the grid instead."),
    ] = None
    threadgroup: Annotated[
        str | None,
        typer.Option("--threadgroup", metavar="X[,Y[,Z]]", help="Threads of a threadgroup."),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeOptions:
    """What is predicted, and how it is shown."""

    compare: Annotated[
        str | None,
        typer.Option("--compare", metavar="CHIPS", help="Further GPUs, with commas: m1,m4-max."),
    ] = None
    cold: Annotated[
        bool,
        typer.Option("--cold", help="For kernels: the caches hold nothing of an earlier run."),
    ] = False
    lines: Annotated[
        bool, typer.Option("--lines", help="Show the source with what each line costs.")
    ] = False
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="For modules: execute only what is sampled. Much faster; results are wrong.",
        ),
    ] = False
    trace: Annotated[
        Path | None,
        typer.Option(
            "--trace",
            help="Write a timeline (of --chip): .html to look at, .pftrace for Perfetto, .json.",
        ),
    ] = None
    plot: Annotated[
        Path | None,
        typer.Option("--plot", help="Write a picture, .svg or .html: roofline and causes."),
    ] = None

    def check_files(self) -> None:
        """Raise CommandError, before any work is done, for a file that cannot be written."""
        if self.trace is not None:
            check_trace_name(self.trace)
        if self.plot is None:
            return
        if self.plot.suffix not in (".svg", ".html"):
            raise CommandError(
                f"--plot {self.plot}: expected a name that ends in .svg or .html", code=USAGE
            )
        check_writable("--plot", self.plot)
