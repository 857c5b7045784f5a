"""Which transfers move a region between XRAM, where it is strided, and LRAM, where it is linear."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..operators.tensors import PLANE_ALIGNMENT, Layout, Region, TensorType
from ..plan.attributes import Move
from ..slice.tensor import Tensor, dense
from .storage import Home

_MOST_LOOPS = 3
_LONGEST_STRIDE = 1 << 22
"""Bytes: codes of strides are differences of them, of 24 bits with a sign."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loop:
    count: int
    outside: int
    inside: int


def tile_strides(kind: TensorType, region: Region) -> tuple[int, ...]:
    """Strides of a region in a buffer of its own: whole planes as in XRAM, parts without gaps.

    So the rows of many planes are one transfer, and nothing beside them is overwritten.
    """
    own = kind.of(region)
    strides = own.strides
    if kind.layout is not Layout.ROWS and region.sizes[2:] != kind.shape[2:]:
        strides = dense(kind.dtype, 0, kind.dtype, own.stored_shape).strides
    # Along dimensions of one step any stride will do: that of the whole tensor, whose parts lie so.
    sizes = zip(strides, kind.strides, own.stored_shape, strict=True)
    return tuple(whole if size == 1 else stride for stride, whole, size in sizes)


def tile_tensor(name: str, kind: TensorType, region: Region) -> Tensor:
    """A region of a tensor in a buffer of its own."""
    own = kind.of(region)
    return Tensor(
        name=name,
        address=0,
        dtype=own.dtype,
        shape=own.stored_shape,
        strides=tile_strides(kind, region),
    )


def pieces_of(kind: TensorType, most: int) -> Iterator[Region]:
    """A tensor in regions of `most` bytes: some steps of one axis, one of those outside of it.

    Rows of planes stay whole; of quadrants, two rows are a step.
    """
    whole = Region.whole(kind.shape)
    sizes = list(kind.shape)
    for axis in range(len(sizes) if kind.layout is Layout.ROWS else 3):
        step = 2 if kind.layout is Layout.QUADRANTS and axis == 2 else 1
        sizes[axis] = step
        one = kind.of(Region(starts=whole.starts, sizes=tuple(sizes))).bytes_
        sizes[axis] = min(kind.shape[axis], max(1, most // one) * step)
        if sizes[axis] > step:
            break
    steps = (range(0, n, size) for n, size in zip(kind.shape, sizes, strict=True))
    for starts in itertools.product(*steps):
        ends = zip(starts, sizes, kind.shape, strict=True)
        yield Region(starts=starts, sizes=tuple(min(n, size - at) for at, n, size in ends))


def stored_region(kind: TensorType, region: Region) -> Region:
    """The region in the dimensions that the tensor has in memory."""
    if kind.layout is not Layout.QUADRANTS:
        return region
    (n, c, h, w), sizes = region.starts, region.sizes
    return Region(
        starts=(n, c, 0, h // 2, w // 2),
        sizes=(*sizes[:2], 4, sizes[2] // 2, sizes[3] // 2),
    )


def moves_of(home: Home, region: Region, tensor: Tensor) -> tuple[Move, ...]:
    """The transfers between a region in XRAM and a tensor of its shape in LRAM."""
    box = stored_region(home.kind, region)
    loops = [
        _Loop(count=count, outside=outside, inside=inside)
        for count, outside, inside in zip(box.sizes, home.strides, tensor.strides, strict=True)
    ]
    start = sum(a * stride for a, stride in zip(box.starts, home.strides, strict=True))
    whole = home.kind.layout is not Layout.ROWS and region.sizes[2:] == home.kind.shape[2:]
    row, rest = _row(loops, tensor.element, gaps=len(loops) - 2 if whole else 0)
    inner, outer = _linear(row, rest)
    return tuple(
        Move(
            outside=start + sum(i * loop.outside for i, loop in zip(at, outer, strict=True)),
            inside=tensor.address + sum(i * o.inside for i, o in zip(at, outer, strict=True)),
            row=row,
            loops=tuple((loop.count, loop.outside) for loop in inner),
        )
        for at in itertools.product(*(range(loop.count) for loop in outer))
    )


def _row(loops: Sequence[_Loop], element: int, *, gaps: int) -> tuple[int, list[_Loop]]:
    """Bytes that are together on both sides, and the loops around them, outermost first.

    Along the first `gaps` dimensions, gaps behind planes are moved, too, if both sides have them.
    """
    row, rest = element, list(loops)
    while rest:
        loop, most = rest[-1], PLANE_ALIGNMENT - 1 if len(rest) <= gaps else 0
        alike = loop.outside == loop.inside and 0 <= loop.inside - row <= most
        if loop.count > 1 and not alike:
            break
        row += (loop.count - 1) * loop.inside
        rest.pop()
    return row, [loop for loop in rest if loop.count > 1]


def _linear(row: int, rest: Sequence[_Loop]) -> tuple[list[_Loop], list[_Loop]]:
    """The loops of one transfer, innermost first, and those around it, outermost first."""
    inner: list[_Loop] = []
    left, extent = list(rest), row
    while left:
        loop = left[-1]
        if loop.inside != extent or abs(loop.outside) > _LONGEST_STRIDE:
            break
        if inner and loop.outside == inner[-1].count * inner[-1].outside:
            last = inner.pop()
            loop = _Loop(count=last.count * loop.count, outside=last.outside, inside=last.inside)
        elif len(inner) == _MOST_LOOPS:
            break
        inner.append(loop)
        left.pop()
        extent = loop.inside * loop.count
    return inner, left
