"""Random TFLite networks imported, with inputs; what IREE's CPU backend makes of them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from assay.compiler.graph.elements import LIMITS, NUMPY, Array, is_float
from assay.compiler.graph.importer import import_model
from assay.compiler.graph.tosa import ops
from assay.compiler.models import importers
from assay.compiler.models.tools import _package_folder
from assay.compiler.torq.hl.dialect import hl_context
from tests.models.tflite.models import MODELS
from tests.models.tflite.small import int8_cnn

SMALL = ("small", "ds_cnn", "int16_cnn")
LARGE = ("mobilenet_v2", "resnet18", "yolov8n", "transformer", "lstm", "mamba")
LARGEST = ("resnet18_480x640", "yolov8n_640")
_MAKERS = {"small": int8_cnn, **MODELS}
IMPORTABLE = bool(_package_folder("tosa_converter_for_tflite") and _package_folder("iree.compiler"))


def tflite_file(name: str, folder: Path) -> Path:
    """A network as a file."""
    path = folder / f"{name}.tflite"
    if not path.exists():
        path.write_bytes(_MAKERS[name]())
    return path


def imported(name: str, folder: Path) -> ModuleOp:
    """A network in TOSA."""
    return import_model(tflite_file(name, folder), hl_context())


def main(module: ModuleOp) -> FuncOp:
    """The one function of a module."""
    (found,) = ops.functions(module)
    return found


def random_inputs(function: FuncOp, seed: int = 0) -> list[Array]:
    """Integers from the whole range of each input's type, normal floats."""
    random = np.random.default_rng(seed)
    made: list[Array] = []
    for argument in ops.body(function).args:
        kind = ops.dtype(argument)
        if is_float(kind):
            made.append(random.normal(0, 2, ops.shape(argument)).astype(NUMPY[kind]))
            continue
        low, high = LIMITS[kind]
        values = random.integers(low, high, ops.shape(argument), endpoint=True)
        made.append(values.astype(NUMPY[kind]))
    return made


def run_by_iree(path: Path, folder: Path, inputs: list[Array]) -> list[Array]:
    """The results of a TFLite file on IREE's CPU backend."""
    import iree.compiler as compiler
    import iree.runtime as runtime

    mlir, _ = importers.to_mlir(path, "tflite", folder, lambda text: None)
    binary = compiler.compile_file(
        str(mlir),
        target_backends=["llvm-cpu"],
        input_type="tosa",
        extra_args=["--iree-llvmcpu-target-cpu=generic", "--iree-llvmcpu-debug-symbols=false"],
    )
    config = runtime.Config("local-sync")
    vm_module = runtime.VmModule.copy_buffer(config.vm_instance, binary)
    results = runtime.load_vm_module(vm_module, config)["main"](*inputs)
    several = results if isinstance(results, list | tuple) else [results]
    return [np.array(result.to_host()) for result in several]


@cache
def reference(name: str, folder: Path) -> tuple[list[Array], list[Array]]:
    """Random inputs of a network, and what TOSA's operators make of them."""
    from assay.compiler.graph.tosa.evaluate import evaluated

    function = main(imported(name, folder))
    inputs = random_inputs(function)
    return inputs, evaluated(function, inputs)
