"""`assay diff`: the same inputs on an emulated device and elsewhere, compared."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .diff_output import show_compared
from .diff_sides import REFERENCES, Say, Sides, Wanted, gpu_sides, layer_sides, npu_sides
from .failures import FAILED, USAGE, CommandError, errors_end_with
from .modules.diff import assay_sides
from .modules.files import is_assay_file
from .options.common import NpuOptions
from .options.groups import grouped
from .options.iree import IreeOptions
from .options.shared import (
    Device,
    FunctionName,
    Inputs,
    Json,
    ModelPath,
    Parameters,
)
from .recordings.both import AGAINST, show_both

if TYPE_CHECKING:
    from ..compare import Tolerance
    from .torq.run import TorqOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class ToleranceOptions:
    """How far apart results may be."""

    rtol: Annotated[float, typer.Option("--rtol", min=0, help="Relative tolerance, f32.")] = 2e-4
    atol: Annotated[float, typer.Option("--atol", min=0, help="Absolute tolerance, f32.")] = 2e-5
    steps: Annotated[
        int, typer.Option("--steps", min=0, help="How far apart integers of the NPU may be.")
    ] = 0
    exact: Annotated[bool, typer.Option("--exact", help="Every bit must be equal.")] = False

    def tolerance(self) -> "Tolerance":
        """The tolerance that the options say."""
        from ..compare import EXACT, Tolerance

        if self.exact:
            return EXACT
        return Tolerance(relative=self.rtol, absolute=self.atol, steps=self.steps)


Against = Annotated[
    str,
    typer.Option(
        "--against",
        help="What to compare with: [bold]llvm-cpu[/bold], IREE's CPU backend; "
        "[bold]litert[/bold], the reference kernels of LiteRT, for .tflite models; "
        "[bold]onnxruntime[/bold], for .onnx models on the NPU; "
        "[bold]tosa[/bold], the definitions of TOSA's operators, for quantised models; or "
        "[bold]emulated[/bold]: each dispatch of --device native, on the emulated device.",
    ),
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
Layers = Annotated[
    bool,
    typer.Option(
        "--layers",
        help="With --device torq: every tensor between operators; --reference may be an .npz of a "
        "board's tensors, by their names in the model.",
    ),
]
BuiltFrom = Annotated[
    Path | None,
    typer.Option(
        "--model",
        help="For .assay modules: the model it was built from, if it has none for the CPU.",
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
    layers: Layers = False,
    model: BuiltFrom = None,
    *,
    apart: ToleranceOptions,
    device: Device = "emulated",
    parameters: Parameters = None,
    iree: IreeOptions,
    npu: NpuOptions,
    json: Json = False,
) -> None:
    """Run a model on the GPU or the NPU and on the CPU, and say how far the results are apart.

    Integers must be equal, or at most --steps apart. An element of a float result is right when
    |got - expected| is at most atol + rtol * |expected|; f16 and bf16 get 64 and 256 times that.
    Ends with exit code 1 when any element is not, and with 2 when there is nothing to compare.

    [bold]Examples[/bold]

      assay diff model.onnx --against llvm-cpu

      assay diff model.tflite --device torq --against litert --layers

      assay diff model.mlir --input @image.npy --rtol 1e-5

      assay diff model.assay --device torq,emulated --model model.onnx --steps 1

      assay diff model.vmfb --input @image.npy --reference @expected.npy

      assay diff program.py --device native --against emulated
    """
    from .terminal import progress, want_json

    want_json(json)
    errors_end_with(USAGE)  # 1 is for results that differ
    if against not in REFERENCES:
        raise CommandError(f"--against {against}: expected {', '.join(REFERENCES)}", code=USAGE)
    wanted = Wanted(against, reference or [], input, seed, iree, parameters)
    if against == AGAINST:
        show_both(module, function, device, wanted, apart.tolerance(), json=json)
        return
    is_assay = is_assay_file(module)
    program = None if is_assay else npu.program(module, function, device)
    with progress() as say:
        if is_assay:
            sides = assay_sides(module, device, model, wanted, say)
        else:
            sides = _sides(module, function, device, program, wanted, say, layers=layers)
    compared = sides.compared(apart.tolerance())
    ours = device if is_assay else f"emulated {'NPU' if program else 'Metal'}"
    who = f"{ours} against {'reference' if reference else against}"
    show_compared(sides, compared, who, brief=layers, json=json)
    if not all(result.equal for _, result in compared):
        raise typer.Exit(FAILED)


def _sides(
    module: Path,
    function: str | None,
    device: str,
    program: "TorqOptions | None",
    wanted: Wanted,
    say: Say,
    *,
    layers: bool,
) -> Sides:
    """Of a module of IREE, a model, or what is for the NPU."""
    if layers:
        return layer_sides(program, wanted, say)
    if program is not None:
        return npu_sides(program, wanted, say)
    return gpu_sides(module, function, device, wanted, say)
