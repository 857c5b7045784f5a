"""What a plan has for each operator of the model: cycles of units, bytes, products."""

from __future__ import annotations

import math
from collections.abc import Iterator

from assay.hw.torq.facts.machine import limit
from assay.hw.torq.intervals import length, union
from assay.hw.torq.notes import OperatorNote

from ..operators.operator import Operator
from ..operators.products import Convolution, DepthwiseConvolution, FullyConnected, MatMul
from ..target import target
from .network import Network
from .steps import LoadCode, LoadTile, Plan, RunSlice, Step, StoreTile, Wait, buffers_of
from .units import cycles_of

_GENERAL = "general"
"""The way of an operator of which one part went it."""


def macs_of(op: Operator) -> int:
    """How many products an operator sums; those of elementwise operators do not count."""
    if isinstance(op, MatMul):
        return op.y.shape[0] * op.y.shape[1] * op.y.shape[2] * op.b.shape[1]
    if isinstance(op, Convolution | DepthwiseConvolution | FullyConnected):
        return math.prod(op.y.shape) * math.prod(op.weights.shape[1:])
    return 0


def macs_cycles(op: Operator) -> int:
    """Cycles of an operator's products if all multipliers of all slices are at work."""
    return -(-macs_of(op) // (limit("multipliers_per_slice") * target().slices))


def operators_of(network: Network, plan: Plan) -> tuple[OperatorNote, ...]:
    """Each operator of the model once, in the order in which a network has them first."""
    names = {job.name: job.source for job in network.jobs}
    found: dict[str, dict[str, int]] = {}
    ways: dict[str, str] = {}
    places: dict[str, list[tuple[int, int]]] = {}
    for job in network.jobs:
        own = found.setdefault(job.source, {"macs": 0})
        own["macs"] += macs_of(job.op)
        if ways.get(job.source) != _GENERAL:
            ways[job.source] = job.way or ways.get(job.source, "")
    for step in plan.steps:
        name = _operator(step, names)
        if name not in found:
            continue
        for key, value in _figures(step):
            found[name][key] = found[name].get(key, 0) + value
        for buffer in buffers_of(step):
            begin = plan.addresses[buffer]
            places.setdefault(name, []).append((begin, begin + buffer.size))
    return tuple(
        OperatorNote(name=name, way=ways[name], lram=length(union(places.get(name, ()))), **own)
        for name, own in found.items()
    )


def _operator(step: Step, names: dict[str, str]) -> str:
    """The operator of the model that a step is for; none if it is for no one alone."""
    if isinstance(step, Wait):
        return ""
    if isinstance(step, RunSlice):
        return step.source
    if isinstance(step, LoadCode):
        return step.run.source
    return names.get(step.buffer.job, "")


def _figures(step: Step) -> Iterator[tuple[str, int]]:
    if isinstance(step, RunSlice):
        yield "slices", cycles_of(step)
    elif isinstance(step, LoadCode):
        yield "loads", cycles_of(step)
        yield "loaded", step.run.code_bytes
    elif isinstance(step, LoadTile):
        yield "loads", cycles_of(step)
        yield "loaded", sum(move.size for move in step.moves)
    elif isinstance(step, StoreTile):
        yield "stores", cycles_of(step)
        yield "stored", sum(move.size for move in step.moves)
