"""A model in MLIR (StableHLO, TOSA, linalg; from TFLite, too) as one function with its sizes.

What shape each result has is asked of IREE: brought to its `flow` dialect, a function says its
results' sizes as arithmetic on its inputs' sizes, if they follow from those.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from assay.sim.native.work_folder import work_folder

from ...models import importers
from ...models.formats import model_format
from .dims import Dims
from .graph import Graph, Operator, Tensor
from .mlir_signature import Signature, with_sizes
from .mlir_sizes import FlowFunction, flow_of


@dataclass(frozen=True, slots=True)
class _Node:
    """What operators of ONNX have instead."""

    op_type: str


class MlirFunction:
    """A model with one function of tensors, as one operator."""

    def __init__(self, path: Path) -> None:
        """Raises ModelError; ShapesFromValues if that is why it cannot be one operator."""
        from iree.compiler import ir

        self.path = path
        with work_folder() as work, ir.Context() as context:
            context.allow_unregistered_dialects = True
            source, _ = importers.to_mlir(path, model_format(path), work, lambda text: None)
            flow = ir.Module.parse(flow_of(source, path))
            signature = Signature(path, ir.Module.parse(source.read_bytes()))
            self._sizes, self._shaped = signature.sizes, signature.shaped
            self.entry, self.inputs = signature.entry, signature.inputs
            found = FlowFunction(path, flow, self.entry, self.inputs)
            results = [found.result(number, signature.dtype) for number in range(found.count)]
            self.outputs = tuple(
                Tensor(name=name, dtype=each.dtype, dims=each.dims)
                for name, each in zip(signature.output_names, results, strict=True)
            )

    def declared(self) -> dict[str, Dims]:
        """The shapes of the inputs as the file says them: unknown sizes have names by place."""
        return {each.name: each.dims for each in self.inputs}

    def graph(self, shapes: Mapping[str, Dims]) -> Graph:
        """The model for these input shapes, as one operator. Raises ModelError."""
        sizes = self._sizes(shapes)
        inputs = self._shaped(shapes)
        outputs = [
            Tensor(
                name=each.name,
                dtype=each.dtype,
                dims=tuple(with_sizes(dim, sizes) for dim in each.dims),
            )
            for each in self.outputs
        ]
        operator = Operator(
            node=_Node("the whole model"),
            name=self.entry,
            inputs=tuple(each.name for each in inputs),
            outputs=tuple(each.name for each in outputs),
        )
        return Graph(
            name=self.entry,
            opsets=(),
            inputs=inputs,
            outputs=operator.outputs,
            tensors={each.name: each for each in (*inputs, *outputs)},
            constants={},
            steps=(operator,),
        )
