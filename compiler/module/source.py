"""Models that modules are built of: what is asked of one, whatever its format is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from ..graph.errors import Problem
from ..graph.symbolic.dims import Dims
from ..graph.symbolic.graph import Graph, Operator
from .groups import Group
from .kernel import Kernel


class Source(Protocol):
    """A model."""

    path: Path

    def declared(self) -> dict[str, Dims]:
        """The shapes of its inputs as the file says them."""

    def graph(self, shapes: Mapping[str, Dims]) -> Graph:
        """The graph for these input shapes. Raises ModelError."""

    def kernel(self, graph: Graph, group: Group) -> Kernel:
        """The kernel of a group. Raises ModelError."""

    def region(self, graph: Graph, group: Group) -> Kernel:
        """A group's model for the NPU."""

    def check(self, region: Kernel) -> None:
        """Raises GraphRefused for a region that the NPU's compiler cannot read."""

    def concerned(self, graph: Graph, group: Group, problem: Problem) -> Sequence[Operator]:
        """The operators of a region that a problem with its model is about, if it tells."""
