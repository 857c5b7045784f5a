"""What of a graph the NPU can do: which operators, and why others not; their part as a model.

It computes with integers, so that a part begins behind quantisers and ends before dequantisers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..graph.errors import GraphRefused
from ..graph.symbolic.dims import is_known
from ..graph.symbolic.graph import Forward, Graph, Operator
from ..models.errors import ModelError
from .groups import Group
from .kernel import Kernel
from .regions import Makers, is_free, regions
from .source import Source


@dataclass(frozen=True, kw_only=True, slots=True)
class Refusal:
    """An operator that is not for the NPU, and why."""

    operator: Operator
    reason: str

    def __str__(self) -> str:
        return f"{self.operator.node.op_type} {self.operator.name}: {self.reason}"


class NpuParts:
    """A graph's part for the NPU: what of the operators that are wanted there it can do."""

    def __init__(self, source: Source, graph: Graph, wanted: Callable[[Operator], bool]) -> None:
        self._source, self._graph = source, graph
        self._makers = Makers(graph)
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

    def refuse(self, group: Group, error: ModelError) -> None:
        """Leaves a region that cannot be compiled to others after all, or what of it is to blame,
        with what depends on that."""
        found = self._blamed(group, error)
        for operator, reason in found.items():
            self._refuse((operator,), reason)
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
        self.kernels = {group: self._source.region(self._graph, group) for group in self.regions}
        found: dict[Operator, str] = {}
        for group, kernel in self.kernels.items():
            try:
                self._source.check(kernel)
            except ModelError as error:
                found |= self._blamed(group, error)
        return found

    def _blamed(self, group: Group, error: ModelError) -> Mapping[Operator, str]:
        """Operators that the problems are about; all of them for what names none."""
        if not isinstance(error, GraphRefused):
            reason = str(error).splitlines()[-1].strip()
            return dict.fromkeys(group.operators, reason)
        found: dict[Operator, str] = {}
        for problem in error.problems:
            named = self._source.concerned(self._graph, group, problem)
            found |= dict.fromkeys(named, problem.reason)
        return found or dict.fromkeys(group.operators, str(error.problems[0]))
