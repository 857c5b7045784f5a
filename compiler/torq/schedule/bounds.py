"""The least time of operators one behind the other: LRAM limits what can be loaded in advance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..blocks import BURST
from ..hl.tiles import Tiles
from ..target import target
from .network import Network
from .operators import macs_cycles
from .steps import LoadCode, LoadTile, Plan


def least_in_order(network: Network, plan: Plan) -> int:
    """Cycles below which the plan's products and loads cannot be, if every operator, or group of
    operators, begins when the one before is done.
    """
    places = _places(network, plan.tiles)
    macs, loads = [0] * len(places), [0] * len(places)
    numbers = {job.name: place for job, place in zip(network.jobs, places, strict=True)}
    for job in network.jobs:
        macs[numbers[job.name]] += macs_cycles(job.op)
    for step in plan.steps:
        if isinstance(step, LoadTile) and step.buffer.job in numbers:
            loads[numbers[step.buffer.job]] += sum(move.size for move in step.moves)
        elif isinstance(step, LoadCode):
            loads[numbers[step.run.code.job]] += step.run.code_bytes
    cycles = [target().dma_cycles(size, BURST) for size in loads]
    return least(macs, cycles, in_advance=target().dma_cycles(target().lram, BURST))


def least(works: Sequence[int], loads: Sequence[int], in_advance: int) -> int:
    """The least cycles of operators of so much work and with so long loads, one behind the other.

    Of the loads of any that follow each other no more than `in_advance` can be there when they
    begin, and nothing when the first one does. So they take as long as the rest of their loads, or
    as their work; the longest sum of such stretches is the least for all.
    """
    work, load = (np.concatenate(([0], np.cumsum(each))) for each in (works, loads))
    ends = np.zeros(len(work), np.int64)
    for end in range(1, len(work)):
        loaded = load[end] - load[:end] - in_advance
        loaded[0] = load[end]
        stretches = np.maximum(work[end] - work[:end], loaded)
        ends[end] = (ends[:end] + stretches).max()
    return int(ends[-1])


def _places(network: Network, tiles: Mapping[str, Tiles]) -> list[int]:
    """For each operator which one it is, of those that are not done together."""
    places: list[int] = []
    groups: dict[int, int] = {}
    for job in network.jobs:
        place = places[-1] + 1 if places else 0
        chosen = tiles.get(job.name)
        if chosen is not None and chosen.group >= 0:
            place = groups.setdefault(chosen.group, place)
        places.append(place)
    return places
