"""`assay inspect`: what is in MSL source, a module or a Torq executable, without running it."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from .failures import USAGE, CommandError
from .inspect_source import inspect_source
from .modules.files import inspect_assay, is_assay_file
from .options.groups import given_options, grouped
from .options.inspect import (
    AssayListing,
    ContentsOptions,
    Everything,
    InspectedFile,
    InspectedKernel,
    SourceOptions,
    TorqListing,
)
from .options.iree import IreeOptions
from .options.shared import Json, open_model

if TYPE_CHECKING:
    from ..contents import Contents, Kernel

_SOURCE, _MODULE, _TORQ = "MSL source", "modules and models", "Torq executables"
_ASSAY = "Assay modules"


@grouped
def inspect_command(
    file: InspectedFile,
    function: InspectedKernel = None,
    every: Everything = False,
    *,
    source: SourceOptions,
    contents: ContentsOptions,
    npu: TorqListing,
    assay: AssayListing,
    iree: IreeOptions,
    json: Json = False,
) -> None:
    """Show what is in MSL source, a module or a Torq executable, without running any of it.

    Of MSL: kernels with their arguments, threadgroup memory and estimated registers, or what the
    compiler has against them (then the exit code is 1). Of a module: functions, kernels with their
    bindings and threadgroups, and constants. Of a Torq executable: bindings, host actions, what
    each unit of the NPU does and after what, memory over time, and words on request. Of an Assay
    module: devices, shape sets, memory; with --all kernels, memory maps and instructions.

    [bold]Examples[/bold]

      assay inspect kernels.metal

      assay inspect library.metal -I include -D BLOCK=32 --all

      assay inspect library.metal --function reduce_f32 --json

      assay inspect gemm.metal --function gemm --instructions

      assay inspect model.vmfb

      assay inspect model.onnx --msl dispatch_0

      assay inspect model.torq --words

      assay inspect model.assay --all
    """
    from ..launches.source import SUFFIXES
    from .terminal import want_json
    from .torq.inspect import inspect_torq, is_torq

    want_json(json)
    kind = _ASSAY if is_assay_file(file) else _SOURCE if file.suffix in SUFFIXES else ""
    kind = kind or (_TORQ if is_torq(file) else _MODULE)
    _require(kind, ["--function"] if function else [], _SOURCE)
    _require(kind, ["--all"] if every else [], _SOURCE, _TORQ, _ASSAY)
    _require(kind, given_options(source), _SOURCE)
    _require(kind, given_options(contents), _MODULE)
    _require(kind, given_options(iree), _MODULE)
    _require(kind, given_options(npu), _TORQ)
    _require(kind, given_options(assay), _ASSAY)
    if kind == _ASSAY:
        inspect_assay(file, every=every, text=assay.text, json=json)
    elif kind == _TORQ:
        inspect_torq(file, npu.torq_hw, words=npu.words, dot=npu.dot, every=every, json=json)
    elif kind == _SOURCE:
        inspect_source(file, source, function or [], every=every, json=json)
    else:
        _inspect_module(file, contents, iree, json=json)


def _require(kind: str, given: list[str], *kinds: str) -> None:
    """Raise CommandError for options that were given and are for other kinds of files."""
    if given and kind not in kinds:
        raise CommandError(f"{given[0]} is for {' and '.join(kinds)}", code=USAGE)


def _inspect_module(
    module: Path, options: ContentsOptions, iree: IreeOptions, *, json: bool
) -> None:
    from ..contents import read_contents
    from .terminal import print_json, progress

    with progress() as say:
        opened = open_model(module, iree, say=say)
    contents = read_contents(opened.data, str(module))
    if options.msl is not None:
        kernel = _find(contents, options.msl)
        if json:
            print_json({"name": kernel.name, "entry_point": kernel.entry_point, "msl": kernel.msl})
        else:
            typer.echo(kernel.msl.rstrip())
    elif json:
        print_json(_json(contents))
    else:
        _show(module, contents, options.imports)


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
