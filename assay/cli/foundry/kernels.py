"""`assay foundry`: the library's kernels, shown, and written for programs of one's own."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..failures import USAGE, CommandError
from ..options.shared import Json
from .model import model_command

if TYPE_CHECKING:
    from assay.compiler.foundry.kernels import Declared
    from assay.compiler.foundry.library.base import Ready

foundry_app = typer.Typer(
    help="Kernels that language models are made of: list them, show them, take them along.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
_TYPES = ("float", "half", "bfloat")

Name = Annotated[str, typer.Argument(metavar="KERNEL", help="One that the list names.")]
Element = Annotated[
    str, typer.Option("--type", help=f"Of the numbers: {', '.join(_TYPES)}.", metavar="TYPE")
]
Weights = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="Of weights, such as q4_k; f16 when not given, fp4_128 for Marlin's forms.",
        metavar="FORMAT",
        show_default=False,
    ),
]
Chosen = Annotated[
    list[str] | None,
    typer.Option(
        "--with",
        help="What the kernel is made with, such as head_size=128; may be given again.",
        metavar="NAME=VALUE",
        show_default=False,
    ),
]
Shapes = Annotated[
    str,
    typer.Option(
        "--shapes",
        help="Of the arrays, with commas: [bold]x=rowsx512[/bold]. A size may be a name.",
        metavar="SHAPES",
    ),
]
Dims = Annotated[
    list[str] | None,
    typer.Option(
        "--dim",
        help="Bounds of a named size, [bold]rows=1..128[/bold]; may be given again.",
        show_default=False,
    ),
]
Module = Annotated[Path, typer.Option("--output", "-o", help="The module to write.")]
Folder = Annotated[Path, typer.Option("--output", "-o", help="The folder to write into.")]


foundry_app.command("model")(model_command)


@foundry_app.command("list")
def list_command(json: Json = False) -> None:
    """List the kernels, and the formats of weights that some of them read."""
    from assay.compiler.foundry.formats import FORMATS
    from assay.compiler.foundry.library import KERNELS

    from ..terminal import print_json, show

    about = {name: each.about for name, each in KERNELS.items()}
    if json:
        print_json({"kernels": about, "types": _TYPES, "formats": list(FORMATS)})
        return
    width = max(map(len, about))
    for name, text in about.items():
        show(f"{name:{width}}  {text}")
    show(f"\nformats of weights: {', '.join(FORMATS)}")


@foundry_app.command("show")
def show_command(
    kernel: Name, element: Element = "float", weights: Weights = None, chosen: Chosen = None
) -> None:
    """Print a kernel's whole text in MSL."""
    typer.echo(_declared(kernel, element, weights, chosen).source, nl=False)


@foundry_app.command("emit")
def emit_command(
    kernel: Name,
    element: Element = "float",
    weights: Weights = None,
    chosen: Chosen = None,
    output: Folder = Path(),
    json: Json = False,
) -> None:
    """Write a kernel as NAME.metal, and NAME.h for hosts in C, C++ or Swift.

    The header has the indices of buffers and the structs of parameters, whose layout it asserts.
    """
    from assay.compiler.foundry.kernels.host_header import host_header

    from ..terminal import print_json, show

    made = _declared(kernel, element, weights, chosen)
    texts = {
        output / f"{made.function}.metal": made.source,
        output / f"{made.function}.h": host_header(made),
    }
    for path, text in texts.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise CommandError(f"{path}: cannot be written: {error.strerror or error}") from None
    if json:
        print_json({"files": [str(path) for path in texts], "buffers": made.indices})
        return
    for path in texts:
        show(f"{path}: {len(texts[path].splitlines())} lines")


@foundry_app.command("build")
def build_command(
    kernel: Name,
    output: Module,
    shapes: Shapes,
    dim: Dims = None,
    element: Element = "float",
    weights: Weights = None,
    chosen: Chosen = None,
    json: Json = False,
) -> None:
    """Build an Assay module of a kernel, whose sizes may be named and vary from run to run.

    The module takes the kernel's arrays in the order of --shapes; numbers of its parameters follow
    from them.

    [bold]Example[/bold]

      assay foundry build softmax --shapes x=rowsx512 -o softmax.assay
    """
    from assay.compiler.foundry.errors import FoundryError
    from assay.foundry.kernel import Kernel
    from assay.foundry.modules import build_of_shapes

    from ..options.shared import check_writable
    from ..terminal import print_json, show

    if output.suffix != ".assay":
        raise CommandError(f"--output {output}: modules end in .assay", code=USAGE)
    check_writable("--output", output)
    declared, grid = _ready(kernel, element, weights, chosen)
    try:
        data = build_of_shapes(Kernel(declared, grid=grid), shapes, dim or [])
    except FoundryError as error:
        raise CommandError(f"--shapes {shapes}: {error}", code=USAGE) from None
    output.write_bytes(data)
    if json:
        print_json({"module": str(output), "bytes": len(data)})
    else:
        show(f"{output}: {len(data)} bytes for metal")


def _declared(name: str, element: str, weights: str | None, chosen: list[str] | None) -> "Declared":
    """The kernel that options describe. Raises CommandError."""
    return _ready(name, element, weights, chosen)[0]


def _ready(name: str, element: str, weights: str | None, chosen: list[str] | None) -> "Ready":
    """The same with its grid. Raises CommandError."""
    from assay.compiler.foundry.errors import FoundryError
    from assay.compiler.foundry.formats import format_of
    from assay.compiler.foundry.library import KERNELS
    from assay.compiler.foundry.structs import names

    if name not in KERNELS:
        raise CommandError(f"there is no kernel {name}; there are {', '.join(KERNELS)}", code=USAGE)
    if element not in _TYPES:
        raise CommandError(f"--type {element}: expected {', '.join(_TYPES)}", code=USAGE)
    kernel = KERNELS[name]
    if weights is not None and not kernel.reads_weights:
        raise CommandError(f"--format: {name} reads no weights", code=USAGE)
    try:
        found = format_of(weights or kernel.usual)
    except FoundryError as error:
        raise CommandError(f"--format: {error}", code=USAGE) from None
    values = _values(name, kernel.options, chosen or [])
    try:
        return kernel.ready(getattr(names, element.upper()), found, values)
    except FoundryError as error:
        raise CommandError(f"{name} of {element} and {found.name}: {error}", code=USAGE) from None


def _values(kernel: str, options: Mapping[str, type], chosen: list[str]) -> dict[str, Any]:
    """Options of a kernel by name. Raises CommandError."""
    found = {}
    for each in chosen:
        name, equals, text = each.partition("=")
        if not equals:
            raise CommandError(f"--with {each}: expected NAME=VALUE", code=USAGE)
        if name not in options:
            known = ", ".join(options) or "nothing to be chosen"
            raise CommandError(f"--with {each}: {kernel} has no {name}; it has {known}", code=USAGE)
        kind = options[name]
        try:
            value = {"true": True, "false": False}.get(text)
            found[name] = (float(text) if kind is float else int(text)) if value is None else value
        except ValueError:
            raise CommandError(
                f"--with {each}: expected a number, true or false", code=USAGE
            ) from None
        if (kind is bool) != isinstance(found[name], bool):
            wanted = "true or false" if kind is bool else "a number"
            raise CommandError(f"--with {each}: expected {wanted}", code=USAGE)
    return found
