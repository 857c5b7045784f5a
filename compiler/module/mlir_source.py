"""Models in MLIR and TFLite as modules are built of them: by their operations.

Kernels are functions of their own, with weights as arguments, named by what they do.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from ..graph.errors import Problem
from ..graph.symbolic.dims import Dims
from ..graph.symbolic.graph import Graph, Operator
from ..graph.symbolic.mlir_model import MlirModel
from .groups import Group
from .kernel import Kernel

_NAMELESS: Final = "kernel$async"
"""A function that waits for one fence and signals another, as IREE calls them."""
_MOST_WORDS: Final = 3
_LINE: Final = re.compile(r"line (\d+)")


class MlirSource:
    """A model with one function of tensors."""

    def __init__(self, path: Path) -> None:
        """Raises ModelError."""
        self.path = path
        self._model = MlirModel(path)

    def declared(self) -> dict[str, Dims]:
        """The shapes of its inputs as the file says them: unknown sizes have names by place."""
        return self._model.declared()

    def graph(self, shapes: Mapping[str, Dims]) -> Graph:
        """The graph for these input shapes. Raises ModelError."""
        return self._model.graph(shapes)

    def kernel(self, graph: Graph, group: Group) -> Kernel:
        """The kernel of a group, named by what it does."""
        model = self._model
        takes = [name for name in group.inputs if not model.is_embedded(name, group.operators)]
        part = model.part(graph, takes, group.outputs, _NAMELESS, in_place=True)
        kinds = [operator.node.op_type for operator in group.operators[:_MOST_WORDS]]
        entry = f"{'_'.join(map(_word, kinds))}_{_digest(part.text)}"
        return Kernel(
            entry=entry,
            arguments=model.arguments(takes, group.outputs),
            outputs=group.outputs,
            constants=part.numbers,
            mlir=part.text.replace(f"@{_NAMELESS}", f"@{entry}$async", 1),
        )

    def region(self, graph: Graph, group: Group) -> Kernel:
        """A group's model for the NPU, with its weights."""
        part = self._model.part(graph, group.takes, group.gives)
        return Kernel(
            entry=f"npu_{_digest(part.text)}",
            arguments=self._model.arguments(group.takes, group.gives),
            outputs=group.gives,
            constants=part.numbers,
            mlir=part.text,
        )

    def check(self, region: Kernel) -> None:
        """The compiler itself says what it cannot do."""

    def concerned(self, graph: Graph, group: Group, problem: Problem) -> Sequence[Operator]:
        """The operators of a region that stand at the line that a problem names."""
        lines = [int(line) for line in _LINE.findall(problem.where)]
        part = self._model.part(graph, group.takes, group.gives)
        places = [self._model.place(part, line) for line in lines]
        return [each for each in group.operators if each.node.position in places]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _word(kind: str) -> str:
    return kind.rpartition(".")[2]
