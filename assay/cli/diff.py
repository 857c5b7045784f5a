"""`assay diff`: the same inputs on the emulated device and on IREE's CPU backend, compared."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .failures import FAILED, USAGE, CommandError
from .options.groups import grouped
from .options.shared import (
    CompileFlags,
    Device,
    FunctionName,
    Inputs,
    Json,
    ModelPath,
    Parameters,
    load_function,
    need_inputs,
    open_model,
    parameter_files,
)

if TYPE_CHECKING:
    from ..compare import Comparison, Tolerance
    from ..elements import Value
    from ..module import Function
    from .options.shared import Opened


@dataclass(frozen=True, slots=True, kw_only=True)
class ToleranceOptions:
    """How far apart results may be."""

    rtol: Annotated[float, typer.Option("--rtol", min=0, help="Relative tolerance, f32.")] = 2e-4
    atol: Annotated[float, typer.Option("--atol", min=0, help="Absolute tolerance, f32.")] = 2e-5
    exact: Annotated[bool, typer.Option("--exact", help="Every bit must be equal.")] = False

    def tolerance(self) -> "Tolerance":
        """The tolerance that the options say."""
        from ..compare import EXACT, Tolerance

        return EXACT if self.exact else Tolerance(relative=self.rtol, absolute=self.atol)


Against = Annotated[
    str, typer.Option("--against", help="What to compare with: [bold]llvm-cpu[/bold].")
]
Reference = Annotated[
    list[str] | None,
    typer.Option(
        "--reference",
        help="An expected result, in order, in the notation of --input ([bold]@file.npy[/bold]"
        "); then nothing is run on the CPU.",
        show_default=False,
    ),
]
Seed = Annotated[int, typer.Option("--seed", help="Seed of inputs that are made up.")]


@grouped
def diff_command(
    module: ModelPath,
    against: Against = "llvm-cpu",
    reference: Reference = None,
    function: FunctionName = None,
    input: Inputs = None,
    seed: Seed = 0,
    *,
    apart: ToleranceOptions,
    device: Device = "emulated",
    parameters: Parameters = None,
    compile_flag: CompileFlags = None,
    json: Json = False,
) -> None:
    """Run a model on the Metal device and on the CPU, and say how far the results are apart.

    Integers must be equal. An element of a float result is right when |got - expected| is at most
    atol + rtol * |expected|; f16 and bf16 get 64 and 256 times that. Ends with exit code 1 when
    any element is not.

    [bold]Examples[/bold]

      assay diff model.onnx --against llvm-cpu

      assay diff model.mlir --input @image.npy --rtol 1e-5

      assay diff model.vmfb --input @image.npy --reference @expected.npy
    """
    from ..compare import compare
    from .terminal import progress, want_json

    want_json(json)
    if against != "llvm-cpu":
        raise CommandError(f"--against {against}: expected llvm-cpu", code=USAGE)
    with progress() as say:
        opened = open_model(module, flags=compile_flag, say=say)
        if not reference and opened.compiled is None and not _runs_on_cpu(opened):
            raise CommandError(_needs_source(module), code=USAGE)
        chosen = load_function(opened, function, device=device, parameters=parameters)
        values = _inputs(chosen, input, seed)
        say(f"running {chosen.name} on the {device} device")
        got = chosen.invoke(values)
        if reference:
            expected = _given(reference)
        else:
            build = _cpu_build(opened, compile_flag, say)
            expected = _on_cpu(build, chosen.name, values, parameters, say)
    if len(got) != len(expected):
        raise CommandError(f"{len(got)} results, but {len(expected)} to compare them with")
    tolerance = apart.tolerance()
    compared = [compare(a, b, tolerance) for a, b in zip(got, expected, strict=True)]
    _show(chosen.name, "reference" if reference else against, compared, json=json)
    if not all(result.equal for result in compared):
        raise typer.Exit(FAILED)


def _needs_source(path: Path) -> str:
    return (
        f"{path}: this module holds kernels for Metal only, so there is nothing to run on the "
        "CPU; give the model it was compiled from (.mlir, .onnx, .tflite), or a module compiled "
        "with --target both, or expected results with --reference @results.npy"
    )


def _inputs(function: "Function", texts: list[str] | None, seed: int) -> "list[Value]":
    """The given inputs, or seeded ones when none are given."""
    from ..seeds import UnknownInput, seeded_inputs
    from ..text_values import parse_inputs

    if texts:
        values = parse_inputs(texts)
        need_inputs(function, len(values))
        return values
    try:
        return seeded_inputs(function.signature, seed)
    except UnknownInput as error:
        raise CommandError(f"no inputs can be made up for {function.name}: {error}") from None


def _given(texts: list[str]) -> "list[Value]":
    from ..text_values import parse_inputs

    return parse_inputs(texts)


def _runs_on_cpu(opened: "Opened") -> bool:
    """Whether a compiled module brings kernels for the CPU beside those for Metal."""
    from ..contents import CPU, read_contents

    return CPU in read_contents(opened.data, str(opened.path)).other_executables


def _cpu_build(opened: "Opened", flags: list[str] | None, say: Any) -> bytes:
    """The module to run on the CPU: a second build of the model, or the same module."""
    from assay.compiler.models import compile_model

    if opened.compiled is None:
        return opened.data
    return compile_model(opened.path, target="llvm-cpu", flags=flags or (), progress=say).data


def _on_cpu(
    data: bytes, function: str, values: "list[Value]", parameters: list[str] | None, say: Any
) -> "list[Value]":
    from ..reference import CpuModule

    say(f"running {function} on llvm-cpu")
    return CpuModule(data, parameters=parameter_files(parameters)).invoke(function, values)


def _show(function: str, against: str, compared: "list[Comparison]", *, json: bool) -> None:
    from .terminal import print_json

    if json:
        equal = all(result.equal for result in compared)
        results = [_json(result) for result in compared]
        print_json({"function": function, "equal": equal, "results": results})
    else:
        _print(function, against, compared)


def _print(function: str, against: str, compared: "list[Comparison]") -> None:
    from rich import box
    from rich.table import Table

    from .terminal import show

    table = Table(title=f"{function}: emulated Metal against {against}", box=box.SIMPLE_HEAD)
    for name in ("result", "type"):
        table.add_column(name)
    for name in ("max abs", "max rel", "max ulp", "out of tolerance"):
        table.add_column(name, justify="right")
    table.add_column("verdict")
    for position, result in enumerate(compared):
        verdict = "[green]equal[/green]" if result.equal else "[bold red]different[/bold red]"
        table.add_row(
            str(position),
            result.type,
            f"{result.max_absolute:.3g}",
            f"{result.max_relative:.3g}",
            f"{result.max_ulp:,}",
            f"{result.bad:,} of {result.elements:,}",
            verdict,
        )
    show(table)
    for position, result in enumerate(compared):
        if not result.equal:
            show(f"result {position}: {_first_bad(result)}")


def _first_bad(result: "Comparison") -> str:
    if result.problem:
        return result.problem
    bad = result.first_bad
    if bad is None:
        return "equal"
    where = f" at {list(bad.index)}" if bad.index else ""
    return f"first difference{where}: got {bad.got!r}, expected {bad.expected!r}"


def _json(result: "Comparison") -> dict[str, Any]:
    bad = result.first_bad
    return {
        "type": result.type,
        "equal": result.equal,
        "elements": result.elements,
        "out_of_tolerance": result.bad,
        "max_absolute": result.max_absolute,
        "max_relative": result.max_relative,
        "max_ulp": result.max_ulp,
        "problem": result.problem or None,
        "first_bad": bad and {"index": bad.index, "got": bad.got, "expected": bad.expected},
    }
