"""Options that several commands share, and what they are turned into."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..failures import USAGE, CommandError

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.compiler.models import CompiledModel
    from assay.compiler.msl import CompileOptions

    from ...module import Function, Module
    from ...npu import NpuFunction
    from ...signatures import Slot
    from .iree import IreeOptions

ModelPath = Annotated[
    Path,
    typer.Argument(
        metavar="MODULE_OR_MODEL",
        help="A compiled .vmfb, or a .mlir, .mlirbc, .onnx or .tflite model; for run and inspect "
        "also an Assay module (.assay).",
        show_default=False,
    ),
]
FunctionName = Annotated[
    str | None,
    typer.Option(
        "--function",
        "-f",
        help="Which exported function; needed when there are several and none is called main.",
    ),
]
Inputs = Annotated[
    list[str] | None,
    typer.Option(
        "--input",
        "-i",
        help="One input, in order: [bold]4x4xf32=1,2,...[/bold], [bold]4xf32=0[/bold] (one value "
        "for all), [bold]@file.npy[/bold], [bold]4xf32=@raw.bin[/bold], or a number.",
        show_default=False,
    ),
]
Device = Annotated[
    str,
    typer.Option(
        "--device",
        help="[bold]emulated[/bold], which is the GPU; [bold]native[/bold] on a Mac; or "
        "[bold]torq[/bold]: the emulated NPU, for which a quantised model is compiled. For an "
        "Assay module also [bold]cpu[/bold], or several with commas between them.",
    ),
]
OnNpu = Annotated[
    str,
    typer.Option(
        "--device",
        help="[bold]emulated[/bold], which is the GPU, or [bold]torq[/bold]: the emulated NPU, "
        "for which a quantised model is compiled.",
    ),
]
Parameters = Annotated[
    list[str] | None,
    typer.Option(
        "--parameters",
        help="Weights kept outside of the module: [bold]scope=file.irpa[/bold] "
        "(.irpa, .safetensors, .gguf); without scope= the scope is empty.",
        show_default=False,
    ),
]
IncludeFolders = Annotated[
    list[Path] | None,
    typer.Option("-I", "--include", help="A folder for #include.", show_default=False),
]
Macros = Annotated[
    list[str] | None,
    typer.Option("-D", "--define", help="A macro: NAME or NAME=VALUE.", show_default=False),
]
TorqHardware = Annotated[
    str | None,
    typer.Option(
        "--torq-hw",
        help="The NPU, SL2610 or [bold]LRAM:slices:css:nss[/bold] with LRAM in KiB.",
        show_default=False,
    ),
]
SkipHostCode = Annotated[
    bool,
    typer.Option(
        "--skip-host-code",
        help="Torq executables: leave out functions of the board's own processor, which take the "
        "extra [bold]host[/bold]; results that depend on them are then wrong.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]

DEVICES = ("emulated", "native")
NPU = "torq"
"""The device that is not the GPU."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Opened:
    """A module ready to load, and the model it came from when it was one."""

    path: Path
    data: bytes
    compiled: "CompiledModel | None"


def open_model(
    path: Path, iree: "IreeOptions", *, say: "Callable[[str], None] | None" = None
) -> Opened:
    """Reads a module, or compiles a model; tells about work-arounds on stderr."""
    from assay.compiler.models.formats import is_module, model_format, read_head

    from ..terminal import note

    if is_module(read_head(path)) or path.suffix == ".vmfb":
        return Opened(path=path, data=path.read_bytes(), compiled=None)
    compiled = iree.compile(path, say=say)
    for text in compiled.notes:
        note(text)
    if model_format(path) == "tflite":
        note(f"{path.name} was compiled for the GPU; --device {NPU} takes the NPU")
    return Opened(path=path, data=compiled.data, compiled=compiled)


def compile_options(include: list[Path] | None, define: list[str] | None) -> "CompileOptions":
    """What `-I` and `-D` say, for the MSL compiler."""
    from assay.compiler.msl import CompileOptions

    for folder in include or []:
        if not folder.is_dir():
            raise CommandError(f"-I {folder}: there is no such folder", code=USAGE)
    return CompileOptions(
        macros=dict(macro(text) for text in define or []), include_paths=tuple(include or [])
    )


def refuse_torq_options(hardware: str | None, skip_host_code: bool) -> None:
    """For files that are no Torq executables. Raises CommandError when an option was given."""
    if hardware is not None or skip_host_code:
        raise CommandError("--torq-hw and --skip-host-code are for Torq executables", code=USAGE)


def only_emulated(device: str) -> str:
    """The device, for commands that need an emulated one. Raises CommandError."""
    if device not in ("emulated", NPU):
        raise CommandError(f"--device {device}: expected emulated or {NPU}", code=USAGE)
    return device


def macro(text: str) -> tuple[str, str]:
    """What `-D NAME=VALUE` defines; the value is 1 when there is none."""
    name, separator, value = text.partition("=")
    if not name.isidentifier():
        raise CommandError(f"-D {text}: expected NAME or NAME=VALUE", code=USAGE)
    return name, value if separator else "1"


def check_trace_name(path: Path) -> None:
    """Refuses, before any work is done, a trace that cannot be written: name or place."""
    from assay.traces import TraceError
    from assay.traces.files import check_suffix

    try:
        check_suffix(path)
    except TraceError as error:
        raise CommandError(f"--trace {error}", code=USAGE) from None
    check_writable("--trace", path)


def check_writable(option: str, path: Path) -> None:
    """Refuses, before any work is done, a file that cannot be made where `path` says."""
    folder = path.parent
    if path.is_dir():
        raise CommandError(f"{option} {path}: is a folder; expected a file", code=USAGE)
    if not folder.is_dir():
        raise CommandError(f"{option} {path}: there is no folder {folder}", code=USAGE)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise CommandError(f"{option} {path}: nothing may be written in {folder}", code=USAGE)


def load_module(data: bytes, device: str, parameters: list[str] | None) -> "Module":
    """Loads a module on the chosen device."""
    from ...module import load

    if device not in DEVICES:
        known = ", ".join((*DEVICES, NPU))
        raise CommandError(f"--device {device}: expected {known}", code=USAGE)
    return load(data, device=device, parameters=parameter_files(parameters))


def load_function(
    opened: Opened, name: str | None, *, device: str, parameters: list[str] | None
) -> "Function":
    """Loads a module and finds the function that was named, or the only one worth calling."""
    return choose_function(load_module(opened.data, device, parameters), name)


def parameter_files(texts: list[str] | None) -> dict[str, Path]:
    """`scope=file` options as a mapping."""
    files: dict[str, Path] = {}
    for text in texts or []:
        scope, separator, file = text.partition("=")
        if not separator:
            scope, file = "", text
        if scope in files:
            raise CommandError(f"--parameters: scope {scope!r} is given twice", code=USAGE)
        if not Path(file).is_file():
            raise CommandError(f"--parameters {text}: there is no file {file}")
        files[scope] = Path(file)
    return files


def one_function(functions: list[str]) -> str | None:
    """The function of what is not MSL source, where there is one at most."""
    if len(functions) > 1:
        raise CommandError("several --function are for .metal files", code=USAGE)
    return functions[0] if functions else None


def choose_function(module: "Module", name: str | None) -> "Function":
    """The function that was named, or the only one worth calling."""
    functions = module.functions
    if name is not None:
        if name not in functions:
            raise CommandError(
                f"there is no function {name!r} in the module; it has {_listed(module)}"
            )
        return functions[name]
    # Every function that IREE imports from ONNX comes twice, the second time asynchronous.
    candidates = [key for key in functions if not key.endswith("$async")]
    if len(candidates) == 1:
        return functions[candidates[0]]
    if not candidates:
        raise CommandError("the module exports no function that could be called")
    if "main" in candidates:
        return functions["main"]
    raise CommandError(
        f"the module has several functions; choose one with --function: {_listed(module)}"
    )


def need_inputs(function: "Function | NpuFunction", given: int) -> None:
    """Says exactly what a function needs when that many inputs cannot be right."""
    wanted = function.signature.arguments
    if given == len(wanted):
        return
    lines = [
        f"{function.name} takes {_count(len(wanted), 'input')}, {given or 'none'} given"
        + (":" if wanted else "")
    ]
    for position, slot in enumerate(wanted):
        kind = "any array (unused)" if slot.is_open else slot.type
        lines.append(f"  {position}: {kind:<24} such as --input {_example(slot)}")
    raise CommandError("\n".join(lines), code=USAGE)


def _example(slot: "Slot") -> str:
    """An input in the notation of `--input`."""
    if slot.is_open:
        return "1xf32=0"
    return f"{slot.text.replace('?', '1')}=0" if slot.is_tensor else "1"


def _count(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"


def _listed(module: "Module") -> str:
    return ", ".join(module.functions) or "none"
