"""Operators that one kernel does: chains in which each reads what only the one before makes.

Such a chain can be done where its last operator stands: whatever else its members read is made
before that, and nothing between them leads out of the chain and back, so no cycle comes about.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from ..graph.symbolic.graph import Forward, Graph, Operator
from .kinds import ELEMENTWISE, needs_elements

_MOST: Final = 16


@dataclass(frozen=True, slots=True)
class Group:
    """Operators for one kernel, in order.

    A chain reads what its operators read and gives what the last one gives; what is no chain says
    in `takes` and `gives` which tensors these are.
    """

    operators: tuple[Operator, ...]
    takes: tuple[str, ...] = ()
    gives: tuple[str, ...] = ()

    @property
    def last(self) -> Operator:
        """The operator that makes what the group gives."""
        return self.operators[-1]

    @property
    def needs_elements(self) -> bool:
        """Whether it looks at elements that an empty tensor does not have."""
        return any(needs_elements(op.node.op_type) for op in self.operators)

    @property
    def outputs(self) -> tuple[str, ...]:
        """The tensors that the group gives."""
        return self.gives or tuple(name for name in self.last.outputs if name)

    @property
    def inputs(self) -> tuple[str, ...]:
        """What it reads that is not its own, each once."""
        if self.gives:
            return self.takes
        own = {name for operator in self.operators for name in operator.outputs}
        names = [name for operator in self.operators for name in operator.inputs]
        return tuple(dict.fromkeys(name for name in names if name and name not in own))


Step = Group | Forward


def grouped(graph: Graph, side: Callable[[Operator], object] = lambda _: None) -> list[Step]:
    """The graph's steps, operators in groups; those of another `side` are never in one."""
    uses = _uses(graph)
    open_groups: dict[str, Group] = {}
    """Groups that may grow, by the one tensor that they give."""
    found: list[Step | None] = []
    at: dict[str, int] = {}
    for step in graph.steps:
        if isinstance(step, Forward):
            found.append(step)
            continue
        before = _before(graph, step, open_groups, uses)
        group = Group((step,))
        if before is not None and side(open_groups[before].last) == side(step):
            group = Group((*open_groups.pop(before).operators, step))
            found[at.pop(before)] = None
        if len(group.outputs) == 1 and not step.takes_sizes:
            open_groups[group.outputs[0]] = group
            at[group.outputs[0]] = len(found)
        found.append(group)
    return [step for step in found if step is not None]


def _before(
    graph: Graph, step: Operator, groups: dict[str, Group], uses: Counter[str]
) -> str | None:
    """The tensor of a group that this operator can join."""
    if step.node.op_type not in ELEMENTWISE or len(step.outputs) != 1:
        return None
    dims = graph.tensors[step.outputs[0]].dims
    for name in step.inputs:
        known = groups.get(name)
        if known is None or uses[name] != 1 or len(known.operators) >= _MOST:
            continue
        if graph.tensors[name].dims == dims:
            return name
    return None


def _uses(graph: Graph) -> Counter[str]:
    uses: Counter[str] = Counter(graph.outputs)
    uses.update(graph.reads)
    for step in graph.steps:
        names: Sequence[str] = (step.source,) if isinstance(step, Forward) else step.inputs
        uses.update(names)
    return uses
