"""Parts of ONNX models between tensors, as models of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..graph.symbolic.graph import Graph
from ..graph.symbolic.onnx_model import OnnxModel
from .regions import FREE


def extracted(model: OnnxModel, graph: Graph, takes: Sequence[str], gives: Sequence[str]) -> bytes:
    """The part of a model between tensors, as a model of its own with their shapes in `graph`."""
    return _Extraction(model, graph, takes, gives).model()


class _Extraction:
    """The nodes of a region as the model has them, with what computes their constants.

    Weights stay the integers that they are behind their dequantisers.
    """

    def __init__(
        self, model: OnnxModel, graph: Graph, takes: Sequence[str], gives: Sequence[str]
    ) -> None:
        self._model, self._graph, self._takes, self._gives = model, graph, takes, gives
        self._nodes = {name: node for node in model.proto.graph.node for name in node.output}
        self._taken: dict[str, Any] = {}
        self._constants: dict[str, Any] = {}

    def model(self) -> bytes:
        """The file."""
        onnx = self._model.onnx
        for name in self._gives:
            self._need(name)
        nodes = self._model.proto.graph.node
        order = [node for node in nodes if any(name in self._taken for name in node.output)]
        proto = onnx.helper.make_graph(
            order,
            "part",
            [self._info(name) for name in self._takes],
            [self._info(name) for name in self._gives],
            list(self._constants.values()),
        )
        opsets = [onnx.helper.make_opsetid(domain, number) for domain, number in self._graph.opsets]
        made = onnx.helper.make_model(
            proto, opset_imports=opsets, ir_version=10, producer_name="assay"
        )
        data: bytes = made.SerializeToString(deterministic=True)
        return data

    def _need(self, name: str) -> None:
        """Everything that makes a tensor, back to what the region takes and to constants."""
        waiting = [name]
        while waiting:
            name = waiting.pop()
            if not name or name in self._takes or name in self._constants:
                continue
            node = self._nodes.get(name)
            known = self._model.constants.get(name)
            if known is None and (node is None or node.op_type != FREE):
                known = self._graph.constants.get(name)
            if known is not None:
                self._constants[name] = self._model.onnx.numpy_helper.from_array(known, name)
            elif node is not None and name not in self._taken:
                self._taken.update(dict.fromkeys(node.output, node))
                waiting.extend(node.input)

    def _info(self, name: str) -> Any:
        tensor = self._graph.tensors[name]
        helper = self._model.onnx.helper
        kind = helper.np_dtype_to_tensor_dtype(tensor.dtype)
        return helper.make_tensor_value_info(name, kind, list(tensor.dims))
