"""The loops of the memory agents: how blocks are moved between LRAM and the buses."""

from __future__ import annotations

import math

from assay.hw.torq.facts.machine import limit
from assay.hw.torq.words.commands import Dim, Ndl

from .errors import IllegalSliceProgram
from .kernel import Load, Nest
from .loops import FLAT, KERNEL_COLUMN, KERNEL_ROW, PLAIN, Loop
from .tensor import View

ONE_WORD = (Dim(count=1, tag="G"),)
DATA_BUS, RESULT_BUS = limit("data_bus"), limit("result_bus")
_BUS_BYTES = {
    "DEDR": DATA_BUS,
    "DEDR1": DATA_BUS,
    "DEWR": limit("weight_bus"),
    "DEBR": limit("bias_bus"),
}
_SEGMENTS = limit("data_memory_segments")
_MOST_LOOPS = limit("descriptor_loops")
_LARGE_STRIDE = 1 << 22
_TAGS = (FLAT, KERNEL_COLUMN, KERNEL_ROW)


def block(
    name: str, agent: str, view: View, *, parts: int = 1
) -> tuple[tuple[Dim, ...], tuple[Dim, ...]]:
    """(low dimensions of one transfer, the loops over a block's transfers).

    `name` is the kernel's, for messages. Raises IllegalSliceProgram.
    """
    element = view.tensor.element
    dims = _dims(view, most=_BUS_BYTES[agent] // element if parts == 1 else 0)
    dense = bool(dims) and dims[0].stride == element
    data, rest = (dims[0], dims[1:]) if dense else (Dim(count=1), dims)
    low: tuple[Dim, ...] = (
        Dim(count=element, stride=1, tag="B"),
        Dim(count=data.count, stride=element, tag="D"),
    )
    if parts > 1:
        if not rest or rest[0].count != parts:
            raise IllegalSliceProgram("block", f"{name}: {agent}: no {parts} parts in a transfer")
        low = (*low, Dim(count=parts, stride=rest[0].stride, tag="G"))
        rest = rest[1:]
    size = math.prod(dim.count for dim in low)
    if size > _BUS_BYTES[agent]:
        raise IllegalSliceProgram(
            "bus width",
            f"{name}: {agent} moves {size} bytes at a time; {_BUS_BYTES[agent]} are possible",
        )
    words = tuple(Dim(count=dim.count, stride=dim.stride, tag="G") for dim in rest)
    if math.prod(dim.count for dim in words) > _SEGMENTS:
        raise IllegalSliceProgram(
            "block", f"{name}: {agent}: more than {_SEGMENTS} transfers in a block"
        )
    return low, words or ONE_WORD


def memory(name: str, agent: str, load: Load, low: tuple[Dim, ...], words: tuple[Dim, ...]) -> Ndl:
    """The loops of an agent that loads blocks from LRAM. Raises IllegalSliceProgram."""
    high = list(words)
    for place, loop in enumerate(reversed(load.nest)):
        if agent == "DEDR" and loop.data:
            high += loop.data
            continue
        every = load.every if place == 0 else 1
        stride = stride_of(load.view, loop) * every
        tag = loop.tag if agent == "DEDR" and loop.tag in _TAGS else PLAIN
        high.append(Dim(count=-(-loop.count // every), stride=stride, tag=tag))
    return Ndl(agent=agent, low=low, high=few(name, agent, high), base_address=load.view.address)


def stride_of(view: View, loop: Loop) -> int:
    """Bytes from one step of a loop to the next; those of a single step may be too many."""
    stride = view.stride_of(loop)
    return stride if loop.count > 1 or abs(stride) < _LARGE_STRIDE else 0


def few(name: str, agent: str, dims: list[Dim]) -> tuple[Dim, ...]:
    """As many loops as a descriptor may have. Raises IllegalSliceProgram."""
    if len(dims) > _MOST_LOOPS:
        raise IllegalSliceProgram(
            "loops", f"{name}: {agent} has {len(dims)} loops; {_MOST_LOOPS} are possible"
        )
    return tuple(dims)


def loads(load: Load) -> int:
    """Transfers of a load in all loops around it."""
    counts = [loop.count for loop in load.nest]
    if counts:
        counts[-1] = -(-counts[-1] // load.every)
    return math.prod(counts)


def steps_inside(nest: Nest, outer: Nest) -> int:
    """Steps of `nest` for one step of the loops around a load."""
    around: set[Loop] = set(outer)
    return math.prod(loop.count for loop in nest if loop not in around)


def _dims(view: View, *, most: int) -> list[Dim]:
    """The dimensions of a block, innermost first.

    Where one goes on as the other ends they are merged, up to `most` elements: what fits a bus.
    """
    dims: list[Dim] = []
    for count, stride in zip(reversed(view.shape), reversed(view.strides), strict=True):
        if count == 1:
            continue
        inner = dims[-1] if dims else None
        if inner and inner.count * inner.stride == stride and inner.count * count <= most:
            dims[-1] = Dim(count=inner.count * count, stride=inner.stride)
        else:
            dims.append(Dim(count=count, stride=stride))
    return dims
