"""Options of `assay inspect`: those of each kind of file, as a group."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from .shared import IncludeFolders, Macros

InspectedFile = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="MSL source (.metal, .msl); or a compiled .vmfb; or a .mlir, .mlirbc, .onnx or "
        ".tflite model; or a Torq executable (.torq, .fb, .synap, or a .vmfb that holds one); or "
        "an Assay module (.assay).",
        show_default=False,
    ),
]
InspectedKernel = Annotated[
    list[str] | None,
    typer.Option(
        "--function",
        "-f",
        help="MSL: only these kernels, also [bold]'gemm_*'[/bold], and again.",
        show_default=False,
    ),
]
Everything = Annotated[
    bool,
    typer.Option(
        "--all",
        help="MSL: compile every kernel, however many; say which fail. Torq and Assay modules: "
        "list everything.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions:
    """For MSL source."""

    instructions: Annotated[
        bool,
        typer.Option(
            "--instructions", help="MSL: show the instructions that an Apple GPU would execute."
        ),
    ] = False
    listing: Annotated[
        bool,
        typer.Option(
            "--listing",
            help="MSL: show the text whose lines findings name: the source, or of a compiled "
            "library without it the listing of the kernel.",
        ),
    ] = False
    args_template: Annotated[
        bool,
        typer.Option(
            "--args-template",
            help="MSL: print what --args takes for kernels, complete, with assumed values.",
        ),
    ] = False
    include: IncludeFolders = None
    define: Macros = None
    constant: Annotated[
        list[str] | None,
        typer.Option(
            "--constant",
            help="MSL: a function constant, [bold]NAME=VALUE[/bold]; others are taken as false "
            "or 1.",
            show_default=False,
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentsOptions:
    """For modules and models."""

    msl: Annotated[
        str | None,
        typer.Option(
            "--msl", help="Modules: print the MSL source of one kernel (part of its name)."
        ),
    ] = None
    imports: Annotated[
        bool, typer.Option("--imports", help="Modules: list the functions that the module calls.")
    ] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TorqListing:
    """For Torq executables."""

    words: Annotated[
        bool, typer.Option("--words", help="Torq: disassemble command words and descriptors.")
    ] = False
    dot: Annotated[bool, typer.Option("--dot", help="Torq: print the task graph for Graphviz.")] = (
        False
    )
    torq_hw: Annotated[
        str | None,
        typer.Option(
            "--torq-hw",
            help="Torq: the NPU it is for: SL2610, or [bold]LRAM:slices:css:nss[/bold] with LRAM "
            "in KiB, after a hardware id and a colon if it has one.",
            show_default=False,
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AssayListing:
    """For Assay modules."""

    text: Annotated[
        bool,
        typer.Option(
            "--text",
            help="Assay modules: everything, one line per record, which assay build takes back as "
            "a file NAME.assay.txt.",
        ),
    ] = False
