"""What of a graph the NPU can do: which operators, and why others not; their part as a model.

It computes with integers, so that a part begins behind quantisers and ends before dequantisers.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.sim.native.work_folder import work_folder

from ..graph.errors import GraphRefused
from ..graph.mlir import new_context
from ..graph.onnx.convert import converted
from ..graph.symbolic.dims import is_known
from ..graph.symbolic.graph import Forward, Graph, Operator
from ..graph.symbolic.onnx_model import OnnxModel
from ..models.errors import ModelError
from .groups import Group
from .kernel import Kernel
from .regions import FREE, Makers, is_free, regions

_NAMED = re.compile(r"(?:node|the node of) (\S+)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Refusal:
    """An operator that is not for the NPU, and why."""

    operator: Operator
    reason: str

    def __str__(self) -> str:
        return f"{self.operator.node.op_type} {self.operator.name}: {self.reason}"


class NpuParts:
    """A graph's part for the NPU: what of the operators that are wanted there it can do."""

    def __init__(self, model: OnnxModel, graph: Graph, wanted: Callable[[Operator], bool]) -> None:
        self._model, self._graph = model, graph
        self._makers = Makers(graph)
        self._nodes = {name: node for node in model.proto.graph.node for name in node.output}
        self._kept: dict[Operator, None] = {
            step: None
            for step in graph.steps
            if isinstance(step, Operator) and not is_free(step) and wanted(step)
        }
        self.refused: list[Refusal] = []
        """In the order in which it was found out."""
        self.regions: list[Group] = []
        """Groups of operators, each of which is a program."""
        self.kernels: dict[Group, Kernel] = {}
        self._settle()

    def does(self, operator: Operator) -> bool:
        """Whether the NPU does an operator that is no dequantiser."""
        return operator in self._kept

    def refuse(self, group: Group, reason: str) -> None:
        """Leaves a region to others after all, with what depends on that."""
        self._refuse(group.operators, reason)
        self._settle()

    def _settle(self) -> None:
        """Takes operators away until the NPU can do what is left."""
        while True:
            found = dict(self._at_borders()) or self._unknown()
            if not found:
                return
            for operator, reason in found.items():
                self._refuse((operator,), reason)

    def _refuse(self, operators: Sequence[Operator], reason: str) -> None:
        for operator in operators:
            del self._kept[operator]
            self.refused.append(Refusal(operator=operator, reason=reason))

    def _at_borders(self) -> Iterator[tuple[Operator, str]]:
        """Operators at which floats, or shapes that are not known, would cross."""
        outside = self._read_outside()
        for operator in self._kept:
            for name in (*operator.outputs, *self._makers.roots(operator)):
                tensor = self._graph.tensors.get(name)
                if tensor is None:
                    continue
                maker = self._makers.of.get(name)
                made_here = isinstance(maker, Operator) and maker in self._kept
                if not is_known(tensor.dims):
                    yield operator, f"the shape of {name} is known only when the model runs"
                elif tensor.dtype.kind != "f":
                    continue
                elif not made_here:
                    yield operator, f"it reads {name}, which is float and not made on the NPU"
                elif name in operator.outputs and name in outside:
                    yield operator, f"{name}, which it makes, is float and needed elsewhere"

    def _read_outside(self) -> set[str]:
        """What other devices, or the caller, read, and what that is a view of."""
        names = {*self._graph.outputs, *self._graph.reads}
        for step in reversed(self._graph.steps):
            if isinstance(step, Forward):
                if step.target in names:
                    names.add(step.source)
            elif step not in self._kept and not is_free(step):
                names.update(step.inputs)
        return names

    def _unknown(self) -> dict[Operator, str]:
        """Operators that the NPU's compiler does not take; makes regions and kernels."""
        self.regions = regions(self._graph, self.does)
        self.kernels = {group: self._kernel(group) for group in self.regions}
        found: dict[Operator, str] = {}
        for group, kernel in self.kernels.items():
            try:
                with work_folder() as work:
                    path = Path(work) / "part.onnx"
                    path.write_bytes(kernel.model)
                    converted(path, new_context())
            except GraphRefused as refused:
                found |= self._named(group, refused)
            except ModelError as error:
                found |= dict.fromkeys(group.operators, str(error))
        return found

    def _named(self, group: Group, refused: GraphRefused) -> Mapping[Operator, str]:
        """Operators by the places that problems name; all of them for what names none."""
        found: dict[Operator, str] = {}
        for problem in refused.problems:
            match = _NAMED.match(problem.where)
            name = match[1] if match else problem.where.partition(" ")[2]
            named = [
                operator
                for operator in group.operators
                if name in (operator.node.name, *operator.outputs)
            ] or [operator for operator in group.operators if self._reads(operator, name)]
            found |= dict.fromkeys(named, problem.reason)
        return found or dict.fromkeys(group.operators, str(refused.problems[0]))

    def _reads(self, operator: Operator, name: str) -> bool:
        """Whether an operator reads a tensor, or what a node of that name makes."""
        nodes = [self._nodes[each] for each in operator.inputs if each in self._nodes]
        return name in operator.inputs or name in [node.name for node in nodes if node.name]

    def _kernel(self, group: Group) -> Kernel:
        """A region as a model of its own, with its weights."""
        data = extracted(self._model, self._graph, group.takes, group.gives)
        return Kernel(
            entry=f"npu_{hashlib.sha256(data).hexdigest()[:12]}",
            arguments=group.takes,
            outputs=group.gives,
            model=data,
        )


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
