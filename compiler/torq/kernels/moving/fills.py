"""One value everywhere, and values around a tensor."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from assay.hw.torq.notes import TaskNote
from assay.hw.torq.words.commands import Dim, Ndl, SliceTask

from ...operators.moves import Fill, Pad
from ...operators.tensors import Layout, Region, TensorType
from ...slice.formats import is_float
from ...slice.loops import PLAIN
from ...slice.operands import of_loops
from ...slice.tensor import Tensor
from ..alike import VECTOR_BYTES
from ..kernel import InputRegion, Kernel, Nest, Places, TileDim
from ..strided import Axis, merged
from .movement import movement, nests
from .moves import types_differ

ALL_LANES = 0xFFFF
ALL_ACTIVATIONS = 0xF
_MOST_BYTES = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Filling:
    """A task that writes `width` elements per step of `axes`; neither ALU nor ACT run."""

    target: Tensor
    start: int
    axes: tuple[Axis, ...]
    width: int
    value: int

    @property
    def cycles(self) -> int:
        """One for each transfer."""
        return math.prod(count for count, _ in self.axes)

    def task(self) -> SliceTask:
        """It as a task."""
        element = self.target.element
        loops = [Dim(count=count, stride=step, tag=PLAIN) for count, (step,) in self.axes]
        write = Ndl(
            agent="DEQW",
            low=(
                Dim(count=element, stride=1, tag="B"),
                Dim(count=self.width, stride=element, tag="D"),
            ),
            high=tuple(reversed(loops)) or (Dim(count=1, tag=PLAIN),),
            base_address=self.target.address + self.start,
        )
        name = self.target.name
        return SliceTask(
            ndls=(Ndl(agent="REF"), write),
            pad_value=self.value,
            alu_disable=ALL_LANES,
            act_disable=ALL_ACTIVATIONS,
            note=TaskNote(operation=f"fill of {name}", operands=(of_loops(write, name),)),
        )


def filling(target: Tensor, region: Region, value: int) -> list[Filling]:
    """The tasks that fill a region of a tensor: whole vectors, then what is left of each run."""
    element = target.element
    start = sum(n * stride for n, stride in zip(region.starts, target.strides, strict=True))
    axes = merged(
        [(n, (step,)) for n, step in zip(region.sizes, target.strides, strict=True) if n > 1]
    )
    run = 1
    if axes and axes[-1][1] == (element,):
        run = axes.pop()[0]
    vector = VECTOR_BYTES // element
    whole, rest = divmod(run, vector)
    found = []
    if whole:
        found.append(((*axes, (whole, (VECTOR_BYTES,))), start, vector))
    if rest:
        found.append((tuple(axes), start + whole * VECTOR_BYTES, rest))
    return [
        Filling(target=target, start=at, axes=loops, width=width, value=value)
        for loops, at, width in found
    ]


def filling_refusal(kind: TensorType, value: int) -> str | None:
    """Why a tensor cannot be filled with a value, or None: 0 has the same bits as a float."""
    if kind.element > _MOST_BYTES or (is_float(kind.dtype) and value):
        return f"{value} as {kind.dtype}; integers of 1 or 2 bytes, or 0, are possible"
    return None


class FillKernel(Kernel[Fill]):
    """Integers of one or two bytes, and 0."""

    name = "fill"

    def accepts(self, op: Fill) -> str | None:
        """None, or why it cannot run the operator."""
        return filling_refusal(op.y, op.value)

    def tile_dims(self, op: Fill) -> tuple[TileDim, ...]:
        """Any axis; of quadrants, rows and columns in pairs."""
        step = 2 if op.y.layout is Layout.QUADRANTS else 1
        return tuple(
            TileDim(axis=axis, granularity=step if axis >= 2 else 1)
            for axis in range(len(op.y.shape))
        )

    def input_regions(self, op: Fill, out: Region) -> tuple[InputRegion, ...]:
        """Nothing is read."""
        return ()

    def nests(self, op: Fill, out: Region, places: Places) -> Sequence[Nest]:
        """All of the tensor."""
        y = places["y"]
        return filling(y, Region.whole(y.shape), op.value)


class PadKernel(Kernel[Pad]):
    """The borders are filled, and what lies between them is moved."""

    name = "pad"

    def accepts(self, op: Pad) -> str | None:
        """None, or why it cannot run the operator."""
        shape = tuple(a + n + b for a, n, b in zip(op.before, op.x.shape, op.after, strict=False))
        if not len(op.before) == len(op.x.shape) == len(op.after) or shape != op.y.shape:
            return f"{op.x.shape} with {op.before} before and {op.after} behind to {op.y.shape}"
        return filling_refusal(op.y, op.value) or types_differ(op)

    def tile_dims(self, op: Pad) -> tuple[TileDim, ...]:
        """Any axis."""
        return tuple(TileDim(axis=axis) for axis in range(len(op.y.shape)))

    def input_regions(self, op: Pad, out: Region) -> tuple[InputRegion, ...]:
        """What lies inside of the borders, if anything does."""
        inside = _inside(op, out)
        if inside is None:
            return ()
        starts = tuple(
            start + first - before
            for start, first, before in zip(inside.starts, out.starts, op.before, strict=True)
        )
        return (InputRegion(operand="x", region=Region(starts=starts, sizes=inside.sizes)),)

    def nests(self, op: Pad, out: Region, places: Places) -> Sequence[Nest]:
        """Along each axis the border before and behind, as long as those inside leave it."""
        y, inside = places["y"], _inside(op, out)
        whole = Region.whole(out.sizes)
        if inside is None:
            return filling(y, whole, op.value)
        found: list[Nest] = []
        for axis, (start, stop, size) in enumerate(
            zip(inside.starts, inside.stops, out.sizes, strict=True)
        ):
            for first, count in ((0, start), (stop, size - stop)):
                if count:
                    found += filling(y, whole.along(axis, first, count), op.value)
            whole = whole.along(axis, start, stop - start)
        x = places["x"]
        axes = zip(inside.sizes, zip(x.strides, y.strides, strict=True), strict=True)
        write = sum(n * stride for n, stride in zip(inside.starts, y.strides, strict=True))
        return [*found, *nests(movement("pad", x, y, list(axes), (0, write)))]


def _inside(op: Pad, out: Region) -> Region | None:
    """What of a region is no border, counted from the region's start."""
    starts, sizes = [], []
    for first, size, before, count in zip(
        out.starts, out.sizes, op.before, op.x.shape, strict=True
    ):
        low, high = max(first, before), min(first + size, before + count)
        if low >= high:
            return None
        starts.append(low - first)
        sizes.append(high - low)
    return Region(starts=tuple(starts), sizes=tuple(sizes))
