"""ONNX's own inference of types and shapes, asked for one node at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..elements import Array
from . import contents
from .dims import Dim, Dims


class Unknown(Exception):
    """A node whose result cannot be told, with the reason."""


class Inference:
    """Of the nodes of one model."""

    def __init__(self, onnx: Any, proto: Any) -> None:
        self._onnx, self._version = onnx, proto.ir_version
        self._opsets = list(proto.opset_import)

    def attributes(self, node: Any) -> dict[str, Any]:
        """A node's attributes as Python values."""
        get = self._onnx.helper.get_attribute_value
        return {entry.name: get(entry) for entry in node.attribute}

    def has_graphs(self, node: Any) -> bool:
        """Whether a node has graphs inside, as If and Loop do."""
        kinds = self._onnx.AttributeProto
        return any(entry.type in (kinds.GRAPH, kinds.GRAPHS) for entry in node.attribute)

    def dtype(self, code: int) -> np.dtype[Any]:
        """A type of elements, by ONNX's number."""
        found: np.dtype[Any] = self._onnx.helper.tensor_dtype_to_np_dtype(code)
        return found

    def computed(self, node: Any, given: Mapping[str, Array]) -> dict[str, Array]:
        """What a node makes of constants. Raises Unknown."""
        from onnx.reference import ReferenceEvaluator

        infos = [self._info(name, array.dtype, array.shape) for name, array in given.items()]
        names = [name for name in node.output if name]
        outputs = [self._onnx.ValueInfoProto(name=name) for name in names]
        try:
            made = ReferenceEvaluator(self._single(node, infos, outputs)).run(None, dict(given))
        except Exception as error:  # whatever its kernels, written by many hands, may raise
            raise Unknown(f"it cannot be computed from its constants: {error}") from None
        return dict(zip(names, map(np.asarray, made), strict=True))

    def results(
        self,
        node: Any,
        kind: Callable[[str], tuple[np.dtype[Any], Dims]],
        constant: Callable[[str], Array | None],
    ) -> list[tuple[np.dtype[Any], Dims | None]]:
        """Type and shape of each result, None where the shape is not told. Raises Unknown."""
        names: dict[str, Dim] = {}
        infos, constants = [], []
        for name in dict.fromkeys(filter(None, node.input)):
            array = constant(name)
            if array is not None and array.size <= contents.MOST:
                constants.append(self._onnx.numpy_helper.from_array(array, name))
                continue
            dtype, dims = kind(name)
            names.update((str(dim), dim) for dim in dims if not isinstance(dim, int))
            infos.append(self._info(name, dtype, dims))
        outputs = [self._onnx.ValueInfoProto(name=name) for name in node.output if name]
        single = self._single(node, infos, outputs, constants)
        try:
            made = self._onnx.shape_inference.infer_shapes(single, strict_mode=True, data_prop=True)
        except (self._onnx.shape_inference.InferenceError, RuntimeError) as error:
            said = str(error).strip().splitlines()[-1]
            raise Unknown(f"its inputs do not fit it: {said}") from None
        kinds = {value.name: value.type.tensor_type for value in made.graph.output}
        return [
            self._kind(kinds[name], names) if name else (np.dtype(np.float32), ())
            for name in node.output
        ]

    def _info(self, name: str, dtype: np.dtype[Any], dims: Dims) -> Any:
        return self._onnx.helper.make_tensor_value_info(
            name,
            self._onnx.helper.np_dtype_to_tensor_dtype(dtype),
            [dim if isinstance(dim, int) else str(dim) for dim in dims],
        )

    def _kind(self, kind: Any, names: Mapping[str, Dim]) -> tuple[np.dtype[Any], Dims | None]:
        if not kind.elem_type:
            raise Unknown("the type of its result is not known: is it an operator of ONNX?")
        dtype = self.dtype(kind.elem_type)
        if not kind.HasField("shape"):
            return dtype, None
        made: list[Dim] = []
        for size in kind.shape.dim:
            if size.HasField("dim_value"):
                made.append(size.dim_value)
            elif size.dim_param in names:
                made.append(names[size.dim_param])
            else:
                return dtype, None
        return dtype, tuple(made)

    def _single(
        self, node: Any, infos: list[Any], outputs: list[Any], constants: Sequence[Any] = ()
    ) -> Any:
        """A model of one node."""
        helper = self._onnx.helper
        graph = helper.make_graph([node], "node", infos, outputs, list(constants))
        return helper.make_model(graph, opset_imports=self._opsets, ir_version=self._version)
