"""Device models in which several devices work together, as a split says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from assay.compiler.graph.symbolic.graph import Graph, Operator
from assay.compiler.models.errors import ModelError
from assay.compiler.module.groups import Group, Step, grouped
from assay.compiler.module.kernel import Kernel
from assay.compiler.module.npu import NpuParts, Refusal
from assay.compiler.module.regions import Makers, is_free, steps_with
from assay.compiler.module.source import Source

from .npu import NpuPrograms

Side = Callable[[Operator], int]


@dataclass(frozen=True, kw_only=True, slots=True)
class Together:
    """The steps of a graph, with kernels and devices of its groups; what the NPU does not take."""

    steps: Sequence[Step]
    kernels: Mapping[Group, Kernel]
    devices: Mapping[Group, int]
    refused: Sequence[Refusal] = ()


def without_npu(source: Source, graph: Graph, side: Side, *, apart: bool = False) -> Together:
    """Every operator on the device that `side` says; `apart`: each a kernel of its own."""
    steps = grouped(graph, id if apart else side)
    groups = [step for step in steps if isinstance(step, Group)]
    return Together(
        steps=steps,
        kernels={group: source.kernel(graph, group) for group in groups},
        devices={group: side(group.last) for group in groups},
    )


def with_npu(
    source: Source,
    graph: Graph,
    side: Side,
    npu: int,
    following: int | None,
    programs: NpuPrograms,
) -> Together:
    """The same, where `npu` is one of the devices; what it cannot do, the `following` one does.

    Raises ModelError if there is none.
    """
    parts = NpuParts(source, graph, lambda operator: side(operator) == npu)
    while True:
        failed = _compiled(parts, programs)
        if failed is None:
            break
        parts.refuse(*failed)
    others = _others(graph, parts, side, npu, npu if following is None else following)
    steps = steps_with(graph, parts.regions, others)
    groups = [step for step in steps if isinstance(step, Group)]
    rest = [group for group in groups if group not in parts.kernels]
    if rest and following is None:
        listed = "".join(f"\n  {refusal}" for refusal in parts.refused)
        raise ModelError(f"{source.path}: the NPU alone cannot do all of it:{listed}")
    return Together(
        steps=steps,
        kernels={**parts.kernels, **{group: source.kernel(graph, group) for group in rest}},
        devices={group: npu if group in parts.kernels else others(group.last) for group in groups},
        refused=parts.refused,
    )


def _compiled(parts: NpuParts, programs: NpuPrograms) -> tuple[Group, ModelError] | None:
    """The first region that cannot be compiled, and why."""
    for group in parts.regions:
        try:
            programs.of(parts.kernels[group])
        except ModelError as error:
            return group, error
    return None


def _others(graph: Graph, parts: NpuParts, side: Side, npu: int, following: int) -> Side:
    """The device of what the NPU does not do: of what it was to do, the next; a dequantiser goes
    with who reads it."""
    makers = Makers(graph)
    readers: dict[str, int] = {}
    for step in reversed(graph.steps):
        if not isinstance(step, Operator) or is_free(step) or parts.does(step):
            continue
        chosen = side(step)
        for name in step.inputs:
            while (maker := makers.of.get(name)) is not None and is_free(maker):
                readers[name] = following if chosen == npu else chosen
                name = maker.inputs[0] if isinstance(maker, Operator) else maker.source

    def device(operator: Operator) -> int:
        chosen = side(operator)
        if chosen != npu:
            return chosen
        if is_free(operator):
            return readers.get(operator.outputs[0], following)
        return following

    return device
