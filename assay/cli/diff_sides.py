"""The two sides of `assay diff`: results of an emulated device, and those that are expected."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .failures import USAGE, CommandError
from .options.shared import (
    load_function,
    need_inputs,
    open_model,
    parameter_files,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..compare import Comparison, Tolerance
    from ..elements import Value
    from ..module import Function
    from ..npu import NpuFunction
    from ..npu.layers import LayerRun
    from .options.iree import IreeOptions
    from .options.shared import Opened
    from .torq.run import TorqOptions

REFERENCES = ("llvm-cpu", "litert", "onnxruntime", "tosa", "emulated")
"""Where else a model runs."""
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a run is given, and what its results are compared with.

    `reference` are results that are known already, in the notation of `--input`, else `against`
    says who makes them.
    """

    against: str
    reference: list[str]
    inputs: list[str] | None
    seed: int
    iree: "IreeOptions"
    parameters: list[str] | None

    def given(self) -> "list[Value]":
        """The results that are known already."""
        from ..text_values import parse_inputs

        return parse_inputs(self.reference)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """Results of a function: those of the device, and those that are expected.

    `names` are those of the results; `alone` counts tensors that there is nothing to compare with.
    """

    function: str
    got: "Sequence[Value]"
    expected: "Sequence[Value]"
    names: Sequence[str] = ()
    alone: int = 0

    def compared(self, tolerance: "Tolerance") -> "list[tuple[str, Comparison]]":
        """How far each result is from what is expected. Raises CommandError."""
        from ..compare import compare

        got, expected = self.got, self.expected
        if len(got) != len(expected):
            problem = f"{len(got)} results, but {len(expected)} to compare them with"
            raise CommandError(problem, code=USAGE)
        names = self.names or [str(number) for number in range(len(got))]
        pairs = zip(names, got, expected, strict=True)
        return [(name, compare(one, other, tolerance)) for name, one, other in pairs]


def npu_sides(program: "TorqOptions", wanted: Wanted, say: Say) -> Sides:
    """A model or executable on the NPU. Raises CommandError."""
    from .torq.run import first, open_torq, usage_errors

    if wanted.parameters:
        raise CommandError("--parameters is not for the NPU", code=USAGE)
    if not wanted.reference and not program.is_model:
        raise CommandError(
            f"{program.path}: an executable holds nothing that runs on the CPU; give the model it "
            "was compiled from with --device torq, or expected results with --reference "
            "@results.npy",
            code=USAGE,
        )
    function = open_torq(program, say)
    values = _inputs(function, wanted, quantised=True)
    say(first("running on the NPU"))
    with usage_errors():
        got = function.invoke(values)
    expected = wanted.given() or _elsewhere(program.path, values, wanted, say, on_npu=True)
    signed = [_signed(value) for value in expected]
    return Sides(function=function.name, got=got, expected=signed)


def _signed(value: "Value") -> "Value":
    """Unsigned integers as an executable has them: it knows their bits only."""
    import numpy as np

    array = np.asarray(value)
    return array.view(array.dtype.str.replace("u", "i")) if array.dtype.kind == "u" else value


def layer_sides(program: "TorqOptions | None", wanted: Wanted, say: Say) -> Sides:
    """All tensors of a model on the NPU. Raises CommandError."""
    from ..npu.layers import LayeredModel, against
    from .torq.run import first, hardware_name, usage_errors

    if program is None or not program.is_model:
        raise CommandError("--layers is for models with --device torq", code=USAGE)
    model = LayeredModel(program.path, hardware=hardware_name(program), say=say)
    values = _inputs(model.function, wanted, quantised=True)
    say(first("running on the NPU"))
    with usage_errors():
        layers = model.run(values)
    if not layers:
        raise CommandError("--layers: the model has no operators", code=USAGE)
    tensors = _tensors(program.path, values, layers, wanted, say)
    if tensors is not None:
        layers = against(layers, tensors)
    known = [(layer, layer.expected) for layer in layers if layer.expected is not None]
    if not known:
        names = ", ".join(sorted({layer.source for layer in layers if layer.source}))
        problem = f"--reference: no tensor has a name of the model's, which are {names}"
        raise CommandError(problem, code=USAGE)
    return Sides(
        function=model.function.name,
        got=[layer.got for layer, _ in known],
        expected=[expected for _, expected in known],
        names=[f"{layer.source or 'unnamed'} ({layer.operator})" for layer, _ in known],
        alone=len(layers) - len(known),
    )


def _tensors(
    path: Path, values: "list[Value]", layers: "Sequence[LayerRun]", wanted: Wanted, say: Say
) -> "Mapping[str, NDArray[Any]] | None":
    """A model's tensors by the names of layers, None for those that operators are defined to make.

    Raises CommandError and ModelError.
    """
    from assay.compiler.models.formats import model_format

    from ..npu.layers import of_onnx
    from ..reference import tensors_by_litert, tensors_by_onnxruntime
    from ..text_values import read_npz

    if wanted.reference:
        found = {name: array for text in wanted.reference for name, array in read_npz(text).items()}
    elif wanted.against == "onnxruntime":
        found = tensors_by_onnxruntime(path, values)
    elif wanted.against == "litert":
        found = tensors_by_litert(path, values)
    elif wanted.against == "tosa":
        return None
    else:
        return _tensors_on_cpu(path, values, layers, wanted, say)
    return of_onnx(path, found, layers) if model_format(path) == "onnx" else found


def _tensors_on_cpu(
    path: Path, values: "list[Value]", layers: "Sequence[LayerRun]", wanted: Wanted, say: Say
) -> "dict[str, NDArray[Any]]":
    """A model's tensors by the names that layers have. Raises CommandError."""
    import numpy as np

    from assay.compiler.graph.all_results import with_all_results

    from ..npu.layers import of_results

    with with_all_results(path) as model:
        made = _on_cpu(_build(model.file, wanted, say), model.function, values, wanted, say)
    return of_results(model.results, [np.asarray(tensor) for tensor in made], layers)


def gpu_sides(module: Path, function: str | None, device: str, wanted: Wanted, say: Say) -> Sides:
    """A function of a module or model on the Metal device. Raises CommandError."""
    opened = open_model(module, wanted.iree, say=say)
    if not wanted.reference and opened.compiled is None and not _runs_on_cpu(opened, wanted):
        raise CommandError(_needs_source(module), code=USAGE)
    chosen = load_function(opened, function, device=device, parameters=wanted.parameters)
    values = _inputs(chosen, wanted)
    say(f"running {chosen.name} on the {device} device")
    got = chosen.invoke(values)
    if wanted.reference:
        expected = wanted.given()
    elif wanted.against != "llvm-cpu":
        expected = _elsewhere(module, values, wanted, say)
    else:
        expected = _on_cpu(_cpu_build(opened, wanted, say), chosen.name, values, wanted, say)
    return Sides(function=chosen.name, got=got, expected=expected)


def _needs_source(path: Path) -> str:
    return (
        f"{path}: this module holds kernels for Metal only, so there is nothing to run on the "
        "CPU; give the model it was compiled from (.mlir, .onnx, .tflite), or a module compiled "
        "with --target both, or expected results with --reference @results.npy"
    )


def _inputs(
    function: "Function | NpuFunction", wanted: Wanted, *, quantised: bool = False
) -> "list[Value]":
    """The given inputs, or seeded ones when none are given."""
    from ..seeds import UnknownInput, seeded_inputs
    from ..text_values import parse_inputs

    if wanted.inputs:
        values = parse_inputs(wanted.inputs)
        need_inputs(function, len(values))
        return values
    try:
        return seeded_inputs(function.signature, wanted.seed, quantised=quantised)
    except UnknownInput as error:
        raise CommandError(f"no inputs can be made up for {function.name}: {error}") from None


def _runs_on_cpu(opened: "Opened", wanted: Wanted) -> bool:
    """Whether a compiled module brings kernels for the CPU beside those for Metal."""
    from ..contents import CPU, read_contents

    contents = read_contents(opened.data, str(opened.path))
    return wanted.against == "llvm-cpu" and CPU in contents.other_executables


def _cpu_build(opened: "Opened", wanted: Wanted, say: Say) -> bytes:
    """The module to run on the CPU: a second build of the model, or the same module."""
    return opened.data if opened.compiled is None else _build(opened.path, wanted, say)


def _build(path: Path, wanted: Wanted, say: Say) -> bytes:
    return wanted.iree.compile(path, target="llvm-cpu", say=say).data


def _elsewhere(
    path: Path, values: "list[Value]", wanted: Wanted, say: Say, *, on_npu: bool = False
) -> "list[Value]":
    """The results of a model, without the emulated device's module.

    Of ONNX on the NPU, IREE's CPU backend runs the integers that were made of it.
    """
    from assay.compiler.graph.onnx.text import tosa_file
    from assay.compiler.models.formats import model_format

    from ..reference import run_by_litert, run_by_onnxruntime, run_by_tosa

    if wanted.against == "llvm-cpu":
        if on_npu and model_format(path) == "onnx":
            with tosa_file(path) as tosa:
                data = _build(tosa, wanted, say)
        else:
            data = _build(path, wanted, say)
        return _on_cpu(data, "main", values, wanted, say)
    say(f"running {path.name} by {wanted.against}")
    runs = {"litert": run_by_litert, "onnxruntime": run_by_onnxruntime, "tosa": run_by_tosa}
    return runs[wanted.against](path, values)


def _on_cpu(
    data: bytes, function: str, values: "list[Value]", wanted: Wanted, say: Say
) -> "list[Value]":
    from ..reference import CpuModule

    say(f"running {function} on llvm-cpu")
    module = CpuModule(data, parameters=parameter_files(wanted.parameters))
    return module.invoke(function, values)
