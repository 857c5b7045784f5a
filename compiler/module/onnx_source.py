"""ONNX models as modules are built of them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from assay.sim.native.work_folder import work_folder

from ..graph.errors import Problem
from ..graph.mlir import new_context
from ..graph.onnx.convert import converted
from ..graph.symbolic.dims import Dims
from ..graph.symbolic.graph import Graph, Operator
from ..graph.symbolic.onnx_graph import graph_of
from ..graph.symbolic.onnx_model import OnnxModel
from .extraction import extracted
from .groups import Group
from .kernel import Kernel
from .kernels import kernel_of

_NAMED: Final = re.compile(r"(?:node|the node of) (\S+)")


class OnnxSource:
    """An ONNX model."""

    def __init__(self, path: Path) -> None:
        """Raises ModelError."""
        self.path = path
        self._model = OnnxModel(path)
        self._nodes = {name: node for node in self._model.proto.graph.node for name in node.output}

    def declared(self) -> dict[str, Dims]:
        """The shapes of its inputs as the file says them."""
        return self._model.declared()

    def graph(self, shapes: Mapping[str, Dims]) -> Graph:
        """The graph for these input shapes. Raises ModelError."""
        return graph_of(self._model, shapes)

    def kernel(self, graph: Graph, group: Group) -> Kernel:
        """The kernel of a group. Raises ModelError."""
        return kernel_of(graph, group)

    def region(self, graph: Graph, group: Group) -> Kernel:
        """A group's model for the NPU, with its weights."""
        data = extracted(self._model, graph, group.takes, group.gives)
        return Kernel(
            entry=f"npu_{hashlib.sha256(data).hexdigest()[:12]}",
            arguments=group.takes,
            outputs=group.gives,
            model=data,
        )

    def check(self, region: Kernel) -> None:
        """Raises GraphRefused for a region that the NPU's compiler cannot read."""
        with work_folder() as work:
            path = Path(work) / "part.onnx"
            path.write_bytes(region.model)
            converted(path, new_context())

    def concerned(self, graph: Graph, group: Group, problem: Problem) -> Sequence[Operator]:
        """The operators of a region that a problem with its model names."""
        del graph
        match = _NAMED.match(problem.where)
        name = match[1] if match else problem.where.partition(" ")[2]
        return [
            operator
            for operator in group.operators
            if name in (operator.node.name, *operator.outputs)
        ] or [operator for operator in group.operators if self._reads(operator, name)]

    def _reads(self, operator: Operator, name: str) -> bool:
        """Whether an operator reads a tensor, or what a node of that name makes."""
        nodes = [self._nodes[each] for each in operator.inputs if each in self._nodes]
        return name in operator.inputs or name in [node.name for node in nodes if node.name]
