"""Walks over several tensors of one shape: loops outside, dense runs of elements inside."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from assay.hw.torq.facts.machine import limit

from ..slice.kernel import SliceKernel
from ..slice.loops import Index
from ..slice.tensor import Tensor, View

Axis = tuple[int, tuple[int, ...]]
"""Steps, and bytes from one to the next in each tensor."""
_SIDE = 1 << 13
"""Pixels in a row of a run that is too long to be one row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """Loops (outermost first) around a run of elements that is dense in every tensor.

    Attributes:
        run: elements of a run.
        units: bytes from one element of a run to the next, in each tensor.
        skipped: elements before the first one of each run, which another walk does.
    """

    axes: tuple[Axis, ...]
    run: int
    units: tuple[int, ...]
    skipped: int = 0

    def enter(self, k: SliceKernel, nest: ExitStack) -> tuple[Index, ...]:
        """The loops; gives the bytes from each tensor's start to the current run."""
        places = [Index({}, self.skipped * unit) for unit in self.units]
        for count, strides in self.axes:
            loop = nest.enter_context(k.each(count))
            places = [place + loop * stride for place, stride in zip(places, strides, strict=True)]
        return tuple(places)


def walks(
    tensors: Sequence[Tensor], shape: Sequence[int], units: tuple[int, ...] = ()
) -> list[Walk]:
    """The walks that go over every element once.

    A tensor with one step along an axis is repeated there. A run is as long as a plane can be; its
    elements lie `units` bytes apart in each tensor, or without gaps.
    """
    units = units or tuple(tensor.element for tensor in tensors)
    axes = merged(
        [
            (count, tuple(_stride(tensor, axis) for tensor in tensors))
            for axis, count in enumerate(shape)
            if count > 1
        ]
    )
    run = 1
    if axes and axes[-1][1] == units:
        run = axes.pop()[0]
    outer = tuple(axes)
    most = limit("plane_side") // max(1, max(tensor.element for tensor in tensors) // 2)
    if run <= most:
        return [Walk(axes=outer, run=run, units=units)]
    whole = run // _SIDE * _SIDE
    found = [Walk(axes=outer, run=whole, units=units)]
    if whole < run:
        found.append(Walk(axes=outer, run=run - whole, units=units, skipped=whole))
    return found


def _stride(tensor: Tensor, axis: int) -> int:
    return tensor.strides[axis] if tensor.shape[axis] > 1 else 0


def merged(axes: Sequence[Axis]) -> list[Axis]:
    """Neighbouring axes as one where one goes on as the other ends, in every tensor."""
    found: list[Axis] = []
    for count, strides in axes:
        if found:
            outer, outer_strides = found[-1]
            if outer_strides == tuple(count * stride for stride in strides):
                found[-1] = (outer * count, strides)
                continue
        found.append((count, strides))
    return found


def at(tensor: Tensor, place: Index, count: int) -> View:
    """`count` neighbouring elements, so many bytes from a tensor's start."""
    return View(tensor=tensor, place=place, shape=(count,), strides=(tensor.element,))


def start(tensor: Tensor, place: Index) -> View:
    """One element, so many bytes from a tensor's start."""
    return View(tensor=tensor, place=place, shape=(), strides=())


def vectors(run: int, vector: int) -> int:
    """Vectors of a run."""
    return math.ceil(run / vector)
