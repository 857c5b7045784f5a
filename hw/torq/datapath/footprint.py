"""Which bytes of LRAM the agents of a task touch, from their descriptors."""

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from ..intervals import ADDRESSES, merged
from . import layout as at
from .descriptors import TAG_PIXEL, Descriptor
from .plan import SlicePlan

Ranges = tuple[tuple[int, int], ...]
Bytes = NDArray[np.uint8]
_MOST_STARTS = 1 << 22
"""Addresses beyond which only their range is given."""
_READERS = ("DEDR", "DEDR1", "DEWR", "DEBR", "DEBR1")


def touched(plan: SlicePlan, memory: Bytes) -> Iterator[tuple[str, bool, int, Ranges]]:
    """(agent, writes, descriptor's address, byte ranges) of every agent of a task.

    `memory` is LRAM when the task starts: what gathers or scatters goes by the offsets there, and
    is said to touch every place of its own descriptor moved by every offset.
    """
    for agent in _READERS:
        for descriptor in plan.descriptors.get(agent, ()):
            ranges = _reads(plan, agent, _starts(plan, agent, descriptor))
            if agent == "DEDR" and "DEDR1" in plan.descriptors:
                ranges = _moved(ranges, _offsets(plan, "DEDR1", at.INDEX_SIZE, memory))
            yield agent, False, descriptor.address, ranges
    for descriptor in plan.descriptors.get("DEQW", ()):
        ranges = _writes(plan, descriptor)
        if "DEBR1" in plan.descriptors:
            ranges = _moved(ranges, _offsets(plan, "DEBR1", at.SCATTER_BYTES, memory))
        yield "DEQW", True, descriptor.address, ranges


def unmoved(plan: SlicePlan) -> dict[str, Ranges]:
    """What agents that go by offsets in memory would touch if all offsets were 0."""
    found = {}
    if "DEDR1" in plan.descriptors:
        reads = plan.descriptors.get("DEDR", ())
        pieces = [p for d in reads for p in _reads(plan, "DEDR", _starts(plan, "DEDR", d))]
        found["DEDR"] = tuple(sorted(pieces))
    if "DEBR1" in plan.descriptors:
        writes = plan.descriptors.get("DEQW", ())
        found["DEQW"] = tuple(sorted(piece for d in writes for piece in _writes(plan, d)))
    return found


def _offsets(plan: SlicePlan, agent: str, size_at: int, memory: Bytes) -> NDArray[np.int64]:
    """The offsets that an index stream finds in memory, each once."""
    size = plan[size_at]
    found = [np.zeros(0, np.int64)]
    for descriptor in plan.descriptors[agent]:
        for first, last in _reads(plan, agent, _starts(plan, agent, descriptor)):
            held = memory[first : min(last, len(memory))]
            whole = held[: len(held) // size * size].tobytes()
            found.append(np.frombuffer(whole, f"<i{size}").astype(np.int64))
    return np.unique(np.concatenate(found))


def _moved(ranges: Ranges, offsets: NDArray[np.int64]) -> Ranges:
    """All ranges by all offsets; where there are very many, all that lies between."""
    bounds = np.array(ranges, np.int64).reshape(-1, 2)
    if not len(bounds) or not len(offsets):
        return ()
    if len(bounds) * len(offsets) > _MOST_STARTS:
        bounds = np.array([[bounds[:, 0].min() + offsets[0], bounds[:, 1].max() + offsets[-1]]])
        offsets = np.zeros(1, np.int64)
    firsts, lasts = ((bounds[:, [k]] + offsets).ravel() for k in (0, 1))
    order = np.argsort(firsts)
    firsts, reach = np.maximum(firsts[order], 0), np.maximum.accumulate(lasts[order])
    breaks = np.flatnonzero(firsts[1:] > reach[:-1]) + 1
    begins = firsts[np.concatenate([[0], breaks])]
    ends = reach[np.concatenate([breaks - 1, [len(reach) - 1]])]
    found = zip(begins.tolist(), ends.tolist(), strict=True)
    return tuple((first, last) for first, last in found if first < last)


def _starts(plan: SlicePlan, agent: str, descriptor: Descriptor) -> NDArray[np.int64]:
    """The addresses of all transfers, each once."""
    return _spread(descriptor.base, _loops(plan, agent, descriptor))


def _spread(base: int, loops: Iterable[tuple[int, int]]) -> NDArray[np.int64]:
    """All sums of a base and steps of loops; where there are very many, all numbers between."""
    starts = np.array([base], np.int64)
    for count, stride in loops:
        if count > 1 and stride:
            if count * len(starts) > _MOST_STARTS:
                reach = (count - 1) * stride
                low = int(starts[0]) + min(reach, 0)
                high = min(int(starts[-1]) + max(reach, 0), low + ADDRESSES - 1)
                starts = np.arange(low, high + 1, dtype=np.int64)
                continue
            steps = np.arange(count, dtype=np.int64) * stride
            starts = np.unique((starts[:, None] + steps[None, :]).ravel())
    return starts


def _loops(plan: SlicePlan, agent: str, descriptor: Descriptor) -> Iterator[tuple[int, int]]:
    """(count, stride) of each loop, undoing the delta code with its shortened loops."""
    moved = 0
    found: list[int] = []
    short = [(plan[at.SHORT_LOOP], plan[at.SHORT_BY]), (plan[at.SHORT_LOOP1], plan[at.SHORT_BY1])]
    for k, loop in enumerate(descriptor.loops):
        lacking = sum(
            found[index] * by for index, by in short if agent == "DEDR" and by and k > index + 1
        )
        stride = loop.delta + moved - lacking
        found.append(stride)
        moved += (loop.count - 1) * stride
        yield loop.count, stride


def _reads(plan: SlicePlan, agent: str, starts: NDArray[np.int64]) -> Ranges:
    if agent == "DEDR":
        groups = [starts + g * plan[at.GROUP_STRIDE] for g in range(max(plan[at.GROUPS], 1))]
        return merged(np.concatenate(groups), plan[at.WORD_BYTES])
    if agent == "DEWR":
        return _weights(plan, starts)
    sizes = {"DEDR1": at.INDEX_BYTES, "DEBR": at.BIAS_BYTES, "DEBR1": at.SCATTER_BYTES}
    return merged(starts, plan[sizes[agent]])


def _weights(plan: SlicePlan, starts: NDArray[np.int64]) -> Ranges:
    bits, size = plan[at.WEIGHT_BITS], plan[at.WEIGHT_BYTES]
    if not bits:
        return merged(starts, size)
    count = size // plan[at.WEIGHT_OUT]
    if bits == 8:
        return merged(starts, count)
    first = starts // 8
    return merged(first, -(-(count * bits + 7) // 8))


def _writes(plan: SlicePlan, descriptor: Descriptor) -> Ranges:
    size, pixel = plan[at.WRITE_BYTES], plan[at.PIXEL_BYTES]
    if not plan[at.PLANE]:
        starts = _starts(plan, "DEQW", descriptor)
        if not plan[at.SPLIT]:
            return merged(starts, size)
        both = np.concatenate([starts, starts + plan[at.SPLIT_STRIDE]])
        return merged(both, size // 2)
    vectors = 1
    for loop in descriptor.loops:
        vectors *= loop.count if loop.tag == TAG_PIXEL else 1
    starts = _spread(descriptor.base, _loops(plan, "DEQW", descriptor))
    pixels = min(plan[at.PLANE_PIXELS], vectors * (size // pixel))
    y, x = np.divmod(np.arange(pixels, dtype=np.int64), plan[at.PLANE_X])
    places = (y & 1) * plan[at.ROW_STEP] + (y >> 1) * plan[at.ROW_PAIR_STEP]
    if plan[at.SPLIT]:
        places += (x >> 1) * pixel + (x & 1) * plan[at.SPLIT_STRIDE]
    else:
        places += x * pixel
    places = np.unique(places)
    if len(starts) * len(places) > _MOST_STARTS:
        low, high = int(starts[0] + places[0]), int(starts[-1] + places[-1])
        return merged(np.arange(low, min(high, low + ADDRESSES - 1) + 1, dtype=np.int64), pixel)
    return merged((starts[:, None] + places[None, :]).ravel(), pixel)
