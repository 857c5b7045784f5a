"""Runs modules and models elsewhere: the numbers that emulated runs are compared with."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from assay.compiler.models import MissingTool

if TYPE_CHECKING:
    from assay.compiler.graph.onnx.convert import Converted

Value = npt.NDArray[Any] | int | float


class CpuError(Exception):
    """IREE's runtime refused the module or the call; `str()` is its message."""


class CpuModule:
    """A module compiled for `llvm-cpu`, loaded into IREE's runtime."""

    def __init__(self, data: bytes, *, parameters: Mapping[str, Path] | None = None) -> None:
        """`parameters` maps scopes to `.irpa`, `.safetensors` or `.gguf` files."""
        try:
            import iree.runtime as runtime
        except ImportError:
            raise MissingTool("IREE's runtime", "iree") from None
        self._runtime = runtime
        config = runtime.Config("local-task")
        modules = [runtime.VmModule.copy_buffer(config.vm_instance, data)]
        if parameters:
            modules.insert(0, self._parameter_module(config, parameters))
        try:
            context = runtime.SystemContext(vm_modules=modules, config=config)
        except (RuntimeError, ValueError) as error:
            raise CpuError(str(error)) from None
        self._module = context.modules[modules[-1].name]

    def invoke(self, function: str, arguments: Sequence[Value]) -> list[Value]:
        """Calls a function; results are arrays for tensors and Python numbers for scalars."""
        try:
            results = self._module[function](*arguments)
        except (RuntimeError, ValueError, LookupError) as error:
            raise CpuError(str(error)) from None
        listed = list(results) if isinstance(results, tuple | list) else [results]
        return [_host(result) for result in listed if result is not None]

    def _parameter_module(self, config: Any, parameters: Mapping[str, Path]) -> Any:
        providers = []
        for scope, path in parameters.items():
            index = self._runtime.ParameterIndex()
            index.load(str(path))
            providers.append(index.create_provider(scope=scope))
        return self._runtime.create_io_parameters_module(config.vm_instance, *providers)


def run_by_litert(path: Path, arguments: Sequence[Value]) -> list[Value]:
    """The results of a `.tflite` model by the reference kernels of LiteRT, TensorFlow Lite's heir.

    Raises MissingTool, and CpuError for what LiteRT refuses.
    """
    model = _interpreter(path, arguments)
    return [model.get_tensor(slot["index"]) for slot in model.get_output_details()]


def tensors_by_litert(path: Path, arguments: Sequence[Value]) -> dict[str, npt.NDArray[Any]]:
    """All tensors of a `.tflite` model by name, those between operators too.

    Raises MissingTool, and CpuError for what LiteRT refuses.
    """
    model = _interpreter(path, arguments, experimental_preserve_all_tensors=True)
    found: dict[str, npt.NDArray[Any]] = {}
    for slot in model.get_tensor_details():
        try:
            found[slot["name"]] = model.get_tensor(slot["index"])
        except ValueError:  # scratch of a kernel, which has no elements
            continue
    return found


def _interpreter(path: Path, arguments: Sequence[Value], **options: bool) -> Any:
    """LiteRT, after a run of a model."""
    try:
        from ai_edge_litert.interpreter import Interpreter, OpResolverType
    except ImportError:
        raise MissingTool("LiteRT", "litert") from None
    kernels = OpResolverType.BUILTIN_REF
    try:
        model = Interpreter(str(path), experimental_op_resolver_type=kernels, **options)
        model.allocate_tensors()
        for slot, value in zip(model.get_input_details(), arguments, strict=True):
            model.set_tensor(slot["index"], value)
        model.invoke()
    except (RuntimeError, ValueError) as error:
        raise CpuError(f"{path}: LiteRT refuses it: {error}") from None
    return model


def run_by_onnxruntime(path: Path, arguments: Sequence[Value]) -> list[Value]:
    """The results of a quantised `.onnx` model by ONNX Runtime, its operators one by one.

    Arguments and results are the integers that the NPU takes and gives; floats on either side of
    them are dequantised before the run, and quantised behind it. Raises MissingTool, ModelError,
    and CpuError for what ONNX Runtime refuses.
    """
    ports = _onnx_ports(path)
    names = [port.name for port in ports.outputs]
    results = _by_onnxruntime(path, str(path), ports, names, arguments)
    return [port.integers(results[port.name]) for port in ports.outputs]


def tensors_by_onnxruntime(path: Path, arguments: Sequence[Value]) -> dict[str, npt.NDArray[Any]]:
    """All tensors of a quantised `.onnx` model by name, as the model has them.

    Raises MissingTool, ModelError, and CpuError for what ONNX Runtime refuses.
    """
    from assay.compiler.graph.onnx.model import with_all_outputs

    ports = _onnx_ports(path)
    data, names = with_all_outputs(path)
    return _by_onnxruntime(path, data, ports, names, arguments)


def _onnx_ports(path: Path) -> "Converted":
    from assay.compiler.graph.mlir import new_context
    from assay.compiler.graph.onnx.convert import converted

    return converted(path, new_context())


def _by_onnxruntime(
    path: Path,
    model: str | bytes,
    ports: "Converted",
    names: Sequence[str],
    arguments: Sequence[Value],
) -> dict[str, npt.NDArray[Any]]:
    """The tensors with these names in a model, which is the name of a file or what is in one."""
    try:
        import onnxruntime as runtime
    except ImportError:
        raise MissingTool("ONNX Runtime", "onnx") from None
    feed = {
        port.name: port.real(np.asarray(value).view(port.dtype))
        for port, value in zip(ports.inputs, arguments, strict=True)
    }
    options = runtime.SessionOptions()
    level = runtime.GraphOptimizationLevel
    options.graph_optimization_level = level.ORT_DISABLE_ALL
    if _computes_with_integers(path):
        # Processors without VNNI saturate sums of products of unsigned and signed bytes, unless
        # this makes the weights unsigned, which is an optimisation.
        options.add_session_config_entry("session.x64quantprecision", "1")
        options.graph_optimization_level = level.ORT_ENABLE_EXTENDED
    options.log_severity_level = 4
    try:
        session = runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        results = session.run(list(names), feed)
    except Exception as error:  # of classes that ONNX Runtime does not name
        raise CpuError(f"{path}: ONNX Runtime refuses it: {error}") from None
    return {name: np.asarray(found) for name, found in zip(names, results, strict=True)}


def _computes_with_integers(path: Path) -> bool:
    """Whether a model has operators of integers, not only those of floats between quantisers."""
    from assay.compiler.graph.onnx.integers import OPERATORS
    from assay.compiler.graph.onnx.model import read_model

    return any((node.domain, node.op) in OPERATORS for node in read_model(path).nodes)


def run_by_tosa(path: Path, arguments: Sequence[Value]) -> list[Value]:
    """The results of a quantised model by the definitions of its operators, in NumPy.

    Raises ModelError for a model that is none, and ValueError for arrays that do not fit.
    """
    from assay.compiler.graph.importer import import_model
    from assay.compiler.graph.reference import result_of
    from assay.compiler.graph.tosa import ops
    from assay.compiler.graph.tosa.evaluate import run

    (function,) = ops.functions(import_model(path))
    return list(run(function, [np.asarray(value) for value in arguments], result_of))


def _host(result: Any) -> Value:
    if isinstance(result, int | float):
        return result
    return np.array(result.to_host(), copy=True)
