"""Options of `assay check`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from assay.sim.check.kinds import DEFAULT_CHECKS, OPTIONAL_CHECKS

from ..checks.output import FORMATS
from ..failures import USAGE, CommandError

CheckedFiles = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE...",
        help="One or more .metal files; or one .vmfb or model; or one Python script with its "
        "arguments; or one Torq executable.",
        show_default=False,
    ),
]
CheckedFunctions = Annotated[
    list[str] | None,
    typer.Option(
        "--function",
        "-f",
        help="These kernels of a file instead of all, also [bold]'gemm_*'[/bold], and again; or "
        "which function of a module.",
        show_default=False,
    ),
]
Wanted = Annotated[
    str,
    typer.Option(
        "--check",
        help=f"What to look for, with commas: {', '.join(DEFAULT_CHECKS)} "
        f"([bold]all[/bold] of these), and by name only {', '.join(OPTIONAL_CHECKS)}. Of a "
        "Torq executable: all, and by name only unread.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOptions:
    """How often kernels run, what is accepted of what is found, and where the report goes."""

    seed: Annotated[
        list[str] | None,
        typer.Option(
            "--seed",
            help="Run again in the order of this seed and compare bits; 1,2,3 for several.",
            show_default=False,
        ),
    ] = None
    suppress: Annotated[
        list[str] | None,
        typer.Option(
            "--suppress",
            help="Accept findings: KIND, KIND:KERNEL, KIND:KERNEL:FILE or KIND:KERNEL:FILE:LINE.",
            show_default=False,
        ),
    ] = None
    format: Annotated[
        str | None,
        typer.Option("--format", help=f"{', '.join(FORMATS)}.", show_default="text"),
    ] = None
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Where the report goes; the text is printed too."),
    ] = None
    prove: Annotated[
        bool,
        typer.Option(
            "--prove",
            help="Prove that nothing goes wrong in what was launched, whatever buffers hold and "
            "in any order; kernels of a file are then checked by one process.",
        ),
    ] = False
    patch: Annotated[
        list[str] | None,
        typer.Option(
            "--patch",
            metavar="LIBRARY",
            help="For scripts: a library to replace, as assay python has it.",
        ),
    ] = None

    def report_format(self, *, json: bool) -> str:
        """The name of the report's format. Raises CommandError."""
        chosen = self.format or ("json" if json else "text")
        if chosen not in FORMATS:
            raise CommandError(f"--format {chosen}: expected {', '.join(FORMATS)}", code=USAGE)
        if json and chosen != "json":
            raise CommandError(f"--json and --format {chosen}: give one of them", code=USAGE)
        return chosen

    def seeds(self) -> list[int]:
        """The orders to run in, beside the natural one. Raises CommandError."""
        return [seed for text in self.seed or [] for seed in _seeds(text)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ManyOptions:
    """For MSL source with many kernels."""

    only_listed: Annotated[
        bool,
        typer.Option(
            "--only-listed", help="MSL: only kernels that --args or //! lines say how to run."
        ),
    ] = False
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            "-j",
            min=1,
            help="MSL: processes that check kernels, from 8 kernels on (one for each core).",
            show_default=False,
        ),
    ] = None
    timeout_per_kernel: Annotated[
        float | None,
        typer.Option(
            "--timeout-per-kernel",
            metavar="SECONDS",
            min=0.1,
            help="MSL: a kernel that takes longer is told as not checked (60, from 8 kernels on).",
            show_default=False,
        ),
    ] = None


def _seeds(text: str) -> list[int]:
    words = [word.strip() for word in text.split(",")]
    if not all(word.isdigit() and len(word) < 10 for word in words):
        raise CommandError(f"--seed {text}: expected numbers such as 1,2,3", code=USAGE)
    return [int(word) for word in words]
