"""`assay inspect`: what is in MSL source, a module or a Torq executable, without running it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .failures import USAGE, CommandError
from .inspect_source import inspect_source
from .options import CompileFlags, IncludeFolders, Json, Macros, compile_options, open_model

if TYPE_CHECKING:
    from assay.contents import Contents, Kernel

_SOURCE, _MODULE, _TORQ = "MSL source", "modules and models", "Torq executables"


def inspect_command(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="MSL source (.metal, .msl); or a compiled .vmfb; or a .mlir, .mlirbc, .onnx or "
            ".tflite model; or a Torq executable (.torq, .fb, .synap, or a .vmfb that holds one).",
            show_default=False,
        ),
    ],
    function: Annotated[
        str | None,
        typer.Option("--function", "-f", help="MSL: only the kernel of this name."),
    ] = None,
    every: Annotated[
        bool,
        typer.Option(
            "--all",
            help="MSL: compile every kernel, however many; say which fail. Torq: list everything.",
        ),
    ] = False,
    instructions: Annotated[
        bool,
        typer.Option(
            "--instructions", help="MSL: show the instructions that an Apple GPU would execute."
        ),
    ] = False,
    include: IncludeFolders = None,
    define: Macros = None,
    constant: Annotated[
        list[str] | None,
        typer.Option(
            "--constant",
            help="MSL: a function constant, [bold]NAME=VALUE[/bold]; others are taken as true "
            "or 1.",
            show_default=False,
        ),
    ] = None,
    msl: Annotated[
        str | None,
        typer.Option(
            "--msl", help="Modules: print the MSL source of one kernel (part of its name)."
        ),
    ] = None,
    imports: Annotated[
        bool, typer.Option("--imports", help="Modules: list the functions that the module calls.")
    ] = False,
    words: Annotated[
        bool, typer.Option("--words", help="Torq: disassemble command words and descriptors.")
    ] = False,
    dot: Annotated[
        bool, typer.Option("--dot", help="Torq: print the task graph for Graphviz.")
    ] = False,
    torq_hw: Annotated[
        str | None,
        typer.Option(
            "--torq-hw",
            help="Torq: the NPU it is for: SL2610, or [bold]LRAM:slices:css:nss[/bold] with LRAM "
            "in KiB, after a hardware id and a colon if it has one.",
            show_default=False,
        ),
    ] = None,
    compile_flag: CompileFlags = None,
    json: Json = False,
) -> None:
    """Show what is in MSL source, a module or a Torq executable, without running any of it.

    Of MSL: kernels with their arguments, threadgroup memory and estimated registers, or what the
    compiler has against them (then the exit code is 1). Of a module: functions, kernels with their
    bindings and threadgroups, and constants. Of a Torq executable: bindings, host actions, what
    each unit of the NPU does and after what, memory over time, and words on request.

    [bold]Examples[/bold]

      assay inspect kernels.metal

      assay inspect library.metal -I include -D BLOCK=32 --all

      assay inspect library.metal --function reduce_f32 --json

      assay inspect gemm.metal --function gemm --instructions

      assay inspect model.vmfb

      assay inspect model.onnx --msl dispatch_0

      assay inspect model.torq --words
    """
    from assay.kernels import SUFFIXES

    from .inspect_torq import inspect_torq, is_torq
    from .terminal import want_json

    want_json(json)
    kind = _SOURCE if file.suffix in SUFFIXES else _TORQ if is_torq(file) else _MODULE
    for option, given, kinds in (
        ("--function", function is not None, (_SOURCE,)), ("--all", every, (_SOURCE, _TORQ)),
        ("-I", bool(include), (_SOURCE,)), ("-D", bool(define), (_SOURCE,)),
        ("--constant", bool(constant), (_SOURCE,)), ("--instructions", instructions, (_SOURCE,)),
        ("--msl", msl is not None, (_MODULE,)), ("--imports", imports, (_MODULE,)),
        ("--compile-flag", bool(compile_flag), (_MODULE,)),
        ("--words", words, (_TORQ,)), ("--dot", dot, (_TORQ,)),
        ("--torq-hw", torq_hw is not None, (_TORQ,)),
    ):  # fmt: skip
        if given and kind not in kinds:
            raise CommandError(f"{option} is for {' and '.join(kinds)}", code=USAGE)
    if kind == _TORQ:
        inspect_torq(file, torq_hw, words=words, dot=dot, every=every, json=json)
    elif kind == _SOURCE:
        options = compile_options(include, define)
        inspect_source(
            file, options, function, constant or [], every=every, json=json,
            instructions=instructions,
        )  # fmt: skip
    else:
        _inspect_module(file, msl, compile_flag, imports=imports, json=json)


def _inspect_module(
    module: Path, msl: str | None, compile_flag: list[str] | None, *, imports: bool, json: bool
) -> None:
    from assay.contents import read_contents

    from .terminal import print_json, progress

    with progress() as say:
        opened = open_model(module, flags=compile_flag, say=say)
    contents = read_contents(opened.data, str(module))
    if msl is not None:
        kernel = _find(contents, msl)
        if json:
            print_json({"name": kernel.name, "entry_point": kernel.entry_point, "msl": kernel.msl})
        else:
            typer.echo(kernel.msl.rstrip())
    elif json:
        print_json(_json(contents))
    else:
        _show(module, contents, imports)


def _find(contents: "Contents", name: str) -> "Kernel":
    """The one kernel whose name is or contains `name`."""
    exact = [k for k in contents.kernels if name in (k.name, k.entry_point)]
    found = exact or [k for k in contents.kernels if name in k.name]
    if len(found) == 1:
        if not found[0].msl:
            raise CommandError(f"kernel {found[0].name} comes without MSL source")
        return found[0]
    listed = ", ".join(k.name for k in (found or contents.kernels)) or "none at all"
    problem = "several kernels match" if found else "no kernel matches"
    raise CommandError(f"--msl {name}: {problem}; there are {listed}")


def _show(path: Path, contents: "Contents", imports: bool) -> None:
    from rich.table import Table

    from .terminal import show

    show(f"[bold]{path}[/bold]: module {contents.name}, {contents.size:,} bytes")
    show(_functions(contents), _kernels(contents))
    if contents.other_executables:
        show(f"[yellow]not for Metal:[/yellow] {', '.join(contents.other_executables)}")
    needs = ", ".join(contents.dependencies) or "nothing"
    globals_ = f"{contents.global_bytes} bytes and {contents.global_refs} objects"
    show(
        f"constants: {len(contents.constants)} of {sum(contents.constants):,} bytes together; "
        f"globals: {globals_}; host program: {contents.bytecode_bytes:,} bytes; needs {needs}"
    )
    if imports:
        table = Table(box=None, show_header=False)
        for name in contents.imports:
            table.add_row(name)
        show(table)


def _functions(contents: "Contents") -> Any:
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    table = Table(title="functions", title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("name")
    table.add_column("takes")
    table.add_column("gives")
    for function in contents.functions:
        signature = function.signature
        takes = ", ".join(slot.text for slot in signature.arguments)
        gives = ", ".join(slot.text for slot in signature.results)
        table.add_row(function.name, escape(takes), escape(gives))
    return table


def _kernels(contents: "Contents") -> Any:
    from rich import box
    from rich.table import Table

    table = Table(title="kernels", title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("name", overflow="fold")
    for name in ("threadgroup", "bindings", "constants", "MSL lines"):
        table.add_column(name, justify="right")
    for kernel in contents.kernels:
        size = "x".join(map(str, kernel.threadgroup_size))
        lines = str(kernel.msl.count("\n")) if kernel.msl else "none"
        table.add_row(kernel.name, size, str(kernel.bindings), str(kernel.constants), lines)
    return table


def _json(contents: "Contents") -> dict[str, Any]:
    return {
        "name": contents.name,
        "bytes": contents.size,
        "functions": [
            {
                "name": function.name,
                "declaration": function.declaration,
                "takes": [slot.type for slot in function.signature.arguments],
            }
            for function in contents.functions
        ],
        "kernels": [
            {
                "name": kernel.name,
                "entry_point": kernel.entry_point,
                "threadgroup_size": kernel.threadgroup_size,
                "bindings": kernel.bindings,
                "constant_words": kernel.constants,
                "msl_lines": kernel.msl.count("\n"),
            }
            for kernel in contents.kernels
        ],
        "other_executables": contents.other_executables,
        "constants": contents.constants,
        "global_bytes": contents.global_bytes,
        "global_refs": contents.global_refs,
        "bytecode_bytes": contents.bytecode_bytes,
        "dependencies": contents.dependencies,
        "imports": contents.imports,
    }
