"""A model on the NPU, tensor by tensor: what every operator made, and what it should have."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from assay.compiler.graph.all_results import Result

    from ..elements import Value

Array = NDArray[Any]
Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class LayerRun:
    """One tensor: the operator that made it, its names in the model, and its elements.

    `expected` is None where nothing is known to compare it with. `in_planes` says that what the
    model has as (n, h, w, c) is (n, c, h, w) here.
    """

    operator: str
    source: str
    got: Array
    expected: Array | None
    in_planes: bool = False


class LayeredModel:
    """A model's program that stores what every operator makes, on an NPU.

    Channels stay in the model's order, in which others know its tensors.
    """

    def __init__(self, path: Path, *, hardware: str | None = None, say: Say | None = None) -> None:
        """Compiles a model. Raises ModelError and StatusError."""
        from assay.compiler.graph.errors import naming
        from assay.compiler.torq.layers import expose
        from assay.compiler.torq.passes.load import load
        from assay.compiler.torq.passes.pipeline import run_passes, usual_passes
        from assay.compiler.torq.passes.sort_channels import SortChannels
        from assay.compiler.torq.schedule.compile import program_for
        from assay.hal.torq.pack import pack
        from assay.hal.torq.write import write_executable

        from .models import usual_options
        from .module import load_npu

        self._module = load(path, say)
        passes = [each for each in usual_passes() if not isinstance(each, SortChannels)]
        run_passes(self._module, passes, source=str(path))
        with naming(str(path)):
            self._layers = expose(self._module)
            program = program_for(self._module, usual_options(hardware))
        executable = write_executable(pack(program, path.stem))
        self.function = load_npu(executable, hardware=hardware, name=str(path)).find(None)
        """The program; its results are the model's, and behind them those of all operators."""

    def run(self, values: Sequence[Value]) -> list[LayerRun]:
        """Every operator's tensor, and what the operators' definitions make of the same inputs.

        Raises NpuInputError, and StatusError of the NPU.
        """
        from assay.compiler.torq.operators.tensors import Layout
        from assay.compiler.torq.schedule.storage import array_of

        inputs = [np.asarray(value) for value in values]
        results = self.function.invoke(inputs)
        made = results[len(results) - len(self._layers) :]
        return [
            LayerRun(
                operator=layer.operator,
                source=layer.source,
                got=array_of(np.asarray(data).tobytes(), layer.kind),
                expected=_in_bytes(wanted).reshape(layer.kind.shape),
                in_planes=layer.kind.layout is not Layout.ROWS,
            )
            for layer, data, wanted in zip(self._layers, made, self._defined(inputs), strict=True)
        ]

    def _defined(self, inputs: Sequence[Array]) -> list[Array]:
        """What the operators are defined to make."""
        from assay.compiler.graph.tosa import ops
        from assay.compiler.torq.hl.interpret import interpreted

        (function,) = ops.functions(self._module)
        results = interpreted(function, inputs)
        return results[len(results) - len(self._layers) :]


def _in_bytes(tensor: Array) -> Array:
    """Truth values as the NPU keeps them."""
    return tensor.astype(np.int8) if tensor.dtype == np.bool_ else tensor


def against(layers: Sequence[LayerRun], tensors: Mapping[str, Array]) -> list[LayerRun]:
    """Layers beside a model's own tensors, by name.

    The last operator that bears a tensor's name makes it: those before are steps on the way, and
    have nothing to be compared with.
    """
    last = {layer.source: number for number, layer in enumerate(layers)}
    return [
        replace(
            layer,
            expected=_laid_out(tensors[layer.source], layer)
            if layer.source in tensors and last[layer.source] == number
            else None,
        )
        for number, layer in enumerate(layers)
    ]


def of_results(
    results: Sequence[Result], made: Sequence[Array], layers: Sequence[LayerRun]
) -> dict[str, Array]:
    """What others made of a model's tensors, by the names that layers have.

    Layers of several operators have the name of the first one and the tensor of a later one: the
    last one of the layer's shape and type before another layer's; if there are several, the one
    that the layer's operator is defined to make.
    """
    tensors = dict(zip((result.name for result in results), made, strict=True))
    last = {layer.source: layer for layer in layers}
    found = {}
    for result in results:
        layer = last.get(result.name)
        if layer is None:
            continue
        behind = takewhile(lambda name: name not in last, result.behind)
        alike = [
            tensors[name]
            for name in (result.name, *behind)
            if (laid := _laid_out(tensors[name], layer)) is not None
            and _in_bytes(laid).dtype == layer.got.dtype
        ]
        if alike:
            same = (tensor for tensor in reversed(alike) if _is_defined_so(tensor, layer))
            found[result.name] = _in_bytes(next(same, alike[-1]))
    return found


def _is_defined_so(tensor: Array, layer: LayerRun) -> bool:
    """Whether a tensor is what a layer's operator is defined to make."""
    laid = _laid_out(tensor, layer)
    if laid is None or layer.expected is None:
        return False
    return np.array_equal(_in_bytes(laid), layer.expected)


def of_onnx(
    path: Path, tensors: Mapping[str, Array], layers: Sequence[LayerRun]
) -> dict[str, Array]:
    """An ONNX model's tensors as the integers of its program, by the names that layers have.

    Those of floats that a dequantiser made are quantised again. Raises ModelError.
    """
    from assay.compiler.graph.mlir import new_context
    from assay.compiler.graph.onnx.convert import converted

    kinds = {layer.source: layer.got.dtype for layer in layers}
    found = {}
    for made in converted(path, new_context()).tensors:
        source = next((name for name in made.sources if name in kinds), "")
        tensor = tensors.get(made.name)
        if tensor is not None and kinds.get(source) == made.dtype and tensor.shape == made.shape:
            found[source] = made.stored(tensor)
    return found


def _laid_out(tensor: Array, layer: LayerRun) -> Array | None:
    """A tensor as a layer has it; None if it is another tensor altogether."""
    shape = layer.got.shape
    if layer.in_planes and tensor.ndim == 4:
        tensor = tensor.transpose(0, 3, 1, 2)
    if tensor.shape == shape:
        return tensor
    # Dimensions of one element may come and go, but those of planes have their order.
    there, here = ([size for size in each if size > 1] for each in (tensor.shape, shape))
    is_same = there == here and (len(here) <= 1 or not layer.in_planes)
    return tensor.reshape(shape) if is_same else None
