"""Regions for the NPU: operators that become one program, integers in and integers out.

A dequantiser and a forward cost nothing there: who needs what they give does them itself, from the
integers that they come from. So no floats cross, and what reads them on another device may, too.

Regions are convex: nothing leads out of one and back into it. An operator's *phase* counts how
often work has changed to the NPU before it; those of one phase that read each other are a region.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from ..graph.symbolic.graph import Forward, Graph, Operator
from .groups import Group, Step, grouped

IsNpu = Callable[[Operator], bool]
FREE = "DequantizeLinear"
"""What kind of operator every region does itself."""


class Makers:
    """Who makes each tensor of a graph, and what is behind views and dequantisers."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self.of: dict[str, Operator | Forward] = {}
        for step in graph.steps:
            for name in (step.target,) if isinstance(step, Forward) else step.outputs:
                self.of[name] = step

    def root(self, name: str) -> str:
        """The tensor that forwards and dequantisers begin with to give this one."""
        step = self.of.get(name)
        while step is not None and is_free(step):
            name = step.source if isinstance(step, Forward) else step.inputs[0]
            step = self.of.get(name)
        return name

    def roots(self, operator: Operator) -> Iterator[str]:
        """Those of an operator's operands that are no constants."""
        for name in operator.inputs:
            if name and name not in self._graph.constants:
                yield self.root(name)


def is_free(step: Operator | Forward) -> bool:
    """Whether a region does a step itself, wherever else it is done."""
    return isinstance(step, Forward) or step.node.op_type == FREE


def regions(graph: Graph, is_npu: IsNpu) -> list[Group]:
    """The NPU's operators of a graph as groups, each of which is one program."""
    makers = Makers(graph)
    chosen = [
        step
        for step in _needed(graph.steps, {*graph.outputs, *graph.reads})
        if isinstance(step, Operator) and not is_free(step) and is_npu(step)
    ]
    whole = set(chosen)
    members = _connected(chosen, makers, _phases(graph, makers, whole))
    return [_group(graph, makers, operators, whole) for operators in members]


def _phases(
    graph: Graph, makers: Makers, chosen: set[Operator]
) -> Mapping[Operator | Forward, int]:
    found: dict[Operator | Forward, int] = {}
    for step in graph.steps:
        on_npu = step in chosen
        names: Sequence[str] = (step.source,) if isinstance(step, Forward) else step.inputs
        if isinstance(step, Operator) and on_npu:
            names = list(makers.roots(step))
        phase = 0
        for name in names:
            maker = makers.of.get(name)
            if maker is not None:
                phase = max(phase, found[maker] + (maker in chosen and not on_npu))
        found[step] = phase
    return found


def _connected(
    chosen: Sequence[Operator], makers: Makers, phases: Mapping[Operator | Forward, int]
) -> list[list[Operator]]:
    """Operators of one phase that read each other's results, in the graph's order."""
    leader: dict[Operator, Operator] = {}

    def find(operator: Operator) -> Operator:
        while leader[operator] is not operator:
            operator = leader[operator]
        return leader[operator]

    for operator in chosen:
        leader[operator] = operator
        for name in makers.roots(operator):
            maker = makers.of.get(name)
            if (
                isinstance(maker, Operator)
                and maker in leader
                and phases[maker] == phases[operator]
            ):
                leader[find(operator)] = find(maker)
    found: dict[Operator, list[Operator]] = {}
    for operator in chosen:
        found.setdefault(find(operator), []).append(operator)
    return list(found.values())


def _group(
    graph: Graph, makers: Makers, operators: Sequence[Operator], chosen: set[Operator]
) -> Group:
    """Operators with the integers that they take from outside, and what outside needs of theirs."""
    own = {name for operator in operators for name in operator.outputs}
    takes = [name for operator in operators for name in makers.roots(operator) if name not in own]
    needed = _needed_outside(graph, makers, set(operators), chosen)
    gives = [name for operator in operators for name in operator.outputs if name in needed]
    return Group(tuple(operators), tuple(dict.fromkeys(takes)), tuple(dict.fromkeys(gives)))


def _needed_outside(
    graph: Graph, makers: Makers, members: set[Operator], chosen: set[Operator]
) -> set[str]:
    """Tensors that somebody else than these operators needs."""
    needed = {*graph.outputs, *graph.reads}
    for step in reversed(graph.steps):
        if isinstance(step, Forward):
            if step.target in needed:
                needed.add(step.source)
        elif is_free(step):
            if needed.intersection(step.outputs):
                needed.add(step.inputs[0])
        elif step not in members:
            needed.update(makers.roots(step) if step in chosen else step.inputs)
    return needed


def steps_with(
    graph: Graph, found: Sequence[Group], side: Callable[[Operator], object]
) -> list[Step]:
    """The graph's steps with regions among them: what others do, in groups, in an order in which
    all can be done, and without what only regions needed."""
    inside = {operator for group in found for operator in group.operators}
    taken = [name for group in found for name in group.takes]
    rest = [step for step in graph.steps if step not in inside]
    rest = _needed(rest, {*graph.outputs, *graph.reads, *taken})
    others = replace(graph, steps=tuple(rest), outputs=(*graph.outputs, *taken))
    return _ordered(graph, [*grouped(others, side), *found])


def _needed(steps: Sequence[Operator | Forward], names: set[str]) -> list[Operator | Forward]:
    """Steps that somebody needs, given the names that are needed at the end."""
    wanted, kept = set(names), []
    for step in reversed(steps):
        made = (step.target,) if isinstance(step, Forward) else step.outputs
        if wanted.intersection(made):
            kept.append(step)
            wanted.update((step.source,) if isinstance(step, Forward) else step.inputs)
    return kept[::-1]


def _ordered(graph: Graph, steps: Sequence[Step]) -> list[Step]:
    """The steps so that each stands behind what it reads, and else as the graph has them."""
    place = {step: number for number, step in enumerate(graph.steps)}
    ordered = sorted(
        steps, key=lambda step: place[step if isinstance(step, Forward) else step.last]
    )
    there = {each.name for each in graph.inputs} | set(graph.constants) | {""}
    waiting, done = list(ordered), []
    while waiting:
        ready = next(step for step in waiting if there.issuperset(_reads(step)))
        waiting.remove(ready)
        there.update((ready.target,) if isinstance(ready, Forward) else ready.outputs)
        done.append(ready)
    return done


def _reads(step: Step) -> Sequence[str]:
    return (step.source,) if isinstance(step, Forward) else step.inputs
