"""`assay inspect FILE.metal`: kernels, their arguments, and what they need of a core."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from assay.sim.names import listed

from .failures import FAILED, USAGE, CommandError
from .options.files import require_file
from .options.inspect import SourceOptions
from .options.shared import compile_options

if TYPE_CHECKING:
    from assay.compiler.msl import Argument, ConstantValue, KernelLibrary

    from ..kernels import KernelDetails, Refusal

# A library may have thousands of instantiations; each takes a compiler run.
_AT_ONCE = 40


def inspect_source(
    path: Path, options: SourceOptions, functions: list[str], *, every: bool, json: bool
) -> None:
    """Print what the kernels of a file are; ends with exit code 1 if one does not compile."""
    from ..kernels import Refusal, inspect_kernels, read_source
    from ..launches.errors import LaunchInputError
    from ..launches.source import chosen_kernels
    from .terminal import print_json, progress

    compiled = compile_options(options.include, options.define)
    require_file(path)
    values: dict[int | str, ConstantValue] = dict(_constant(t) for t in options.constant or [])
    with progress() as say:
        say(f"compiling {path}")
        library = read_source(path, compiled)
        try:
            names = chosen_kernels(library, functions) if functions else library.function_names
        except LaunchInputError as error:
            raise CommandError(str(error), code=USAGE) from None
        if options.args_template:
            _print_template(library, names, json=json)
            return
        skipped = names[_AT_ONCE:] if not every else ()
        done: list[KernelDetails | Refusal] = []
        shown = names[: len(names) - len(skipped)]
        for found in inspect_kernels(
            library,
            shown,
            values,
            say,
            instructions=options.instructions,
            listing=options.listing,
        ):
            done.append(found)
            if not json:
                _show(found)
    refused = [found for found in done if isinstance(found, Refusal)]
    if json:
        print_json(_json(path, library, done, skipped))
    else:
        _sum_up(path, library, done, refused, skipped)
    if refused:
        raise typer.Exit(FAILED)


def _print_template(library: "KernelLibrary", names: Sequence[str], *, json: bool) -> None:
    """What `--args` takes for kernels."""
    from assay.compiler.msl import CompileError

    from ..launches.plan import CannotPlan
    from ..launches.template import args_template
    from .terminal import print_json

    try:
        text = "\n\n".join(args_template(library, name) for name in names)
    except (CompileError, CannotPlan) as error:
        raise CommandError(str(error)) from None
    if json:
        print_json({"args": text})
    else:
        typer.echo(text)


def _constant(text: str) -> "tuple[int | str, ConstantValue]":
    """`NAME=VALUE` or `INDEX=VALUE`."""
    name, separator, value = text.partition("=")
    words: dict[str, ConstantValue] = {"true": True, "false": False}
    try:
        number = words[value] if value in words else float(value) if "." in value else int(value, 0)
    except ValueError:
        separator = ""
    if not separator or not name:
        raise CommandError(
            f"--constant {text}: expected NAME=VALUE with a number, true or false", code=USAGE
        )
    return (int(name) if name.isdigit() else name), number


def _show(found: "KernelDetails | Refusal") -> None:
    from rich.markup import escape
    from rich.table import Table

    from assay.hw.apple.facts.limits import limits

    from ..kernels import Refusal
    from .terminal import show

    if isinstance(found, Refusal):
        show(f"[bold red]{escape(found.name)}[/bold red]  does not compile")
        typer.echo(found.reason)
        typer.echo()
        return
    show(f"[bold]{escape(found.name)}[/bold]  {escape(found.place)}")
    table = Table(box=None, show_header=False, pad_edge=True)
    for argument in found.arguments:
        size = f"{argument.size} B" if argument.size and argument.kind in _SIZED else ""
        kind = "buffer" if argument.kind == "tensor" else argument.kind
        place = f"{kind}({argument.index})"
        access = argument.access.replace("_", " and ")
        table.add_row(place, escape(_type(argument)), argument.name, size, access)
    show(table)
    top = limits().registers_per_thread
    registers = found.registers
    parts = [
        f"threadgroup memory {found.threadgroup_memory} B",
        f"about {registers.thread} of {top} registers, and {registers.uniform} shared",
    ]
    if found.max_threads is not None:
        parts.insert(0, f"at most {found.max_threads} threads")
    if found.private_memory:
        parts.append(f"private arrays {found.private_memory} B")
    if found.constants:
        parts.append(f"assumed {', '.join(found.constants)}")
    show(f"  {escape('; '.join(parts))}")
    if registers.thread > top:
        show(f"  [yellow]more registers than a thread has, at {escape(registers.place)}[/yellow]")
    typer.echo()
    if found.instructions:
        typer.echo(found.instructions)
    if found.listing:
        typer.echo(f"{_numbered(found.listing)}\n")


def _numbered(text: str) -> str:
    """A text with the numbers of its lines."""
    lines = text.rstrip("\n").split("\n")
    width = len(str(len(lines)))
    return "\n".join(f"{number:>{width}} | {line}".rstrip() for number, line in enumerate(lines, 1))


_SIZED = ("buffer", "threadgroup")


def _type(argument: "Argument") -> str:
    """The type of what an argument points to, with its address space."""
    if argument.kind not in _SIZED:
        return argument.type_name
    const = "const " if argument.access == "read" and argument.address_space == "device" else ""
    return f"{argument.address_space} {const}{argument.type_name}"


def _sum_up(
    path: Path,
    library: "KernelLibrary",
    done: "list[KernelDetails | Refusal]",
    refused: "list[Refusal]",
    skipped: Sequence[str],
) -> None:
    from rich.markup import escape

    from ..kernels import made_by
    from ..launches.source import not_run
    from .terminal import show

    count = len(library.function_names)
    total = f"{path}: {count} kernel{'' if count == 1 else 's'}"
    others = not_run(library)
    if others:
        total += f"; functions of other kinds, which do not run here: {others}"
    if library.constants:
        constants = (f"{c.name} ({c.index}, {c.type_name})" for c in library.constants)
        total += f"; function constants {listed(constants)}"
    show(escape(total))
    maker = made_by(library)
    if maker:
        show(f"made by {escape(maker)}; no Mac opens it")
    if refused:
        names = listed(refusal.name for refusal in refused)
        show(f"[red]{len(refused)} of {len(done)} do not compile:[/red] {escape(names)}")
    if skipped:
        show(f"[yellow]{len(skipped)} more kernels are not shown; --all compiles them too[/yellow]")


def _json(
    path: Path,
    library: "KernelLibrary",
    done: "list[KernelDetails | Refusal]",
    skipped: Sequence[str],
) -> dict[str, Any]:
    from ..kernels import made_by

    return {
        "file": str(path),
        **({"made_by": maker} if (maker := made_by(library)) else {}),
        "kernels": [_kernel_json(found) for found in done],
        "not_compiled": list(skipped),
        "function_constants": [
            {"name": c.name, "index": c.index, "type": c.type_name} for c in library.constants
        ],
    }


def _kernel_json(found: "KernelDetails | Refusal") -> dict[str, Any]:
    from ..kernels import Refusal

    if isinstance(found, Refusal):
        return {"name": found.name, "error": found.reason}
    return {
        "name": found.name,
        "place": found.place,
        **({"instructions": found.instructions.splitlines()} if found.instructions else {}),
        **({"listing": found.listing.splitlines()} if found.listing else {}),
        "arguments": [
            {
                "name": argument.name,
                "kind": argument.kind,
                "index": argument.index,
                "address_space": argument.address_space if argument.kind in _SIZED else None,
                "type": argument.type_name,
                "size": argument.size,
                "access": argument.access,
                "members": [
                    {"name": m.name, "id": m.id, "offset": m.offset, "kind": m.kind}
                    for m in argument.members
                ],
            }
            for argument in found.arguments
        ],
        "positions": found.positions,
        "max_total_threads_per_threadgroup": found.max_threads,
        "threadgroup_memory": found.threadgroup_memory,
        "private_memory": found.private_memory,
        "registers": {
            "thread": found.registers.thread,
            "uniform": found.registers.uniform,
            "place": found.registers.place,
        },
        "assumed_constants": found.constants,
        "error": None,
    }
