"""How a tile is shared between the slices: in which parts, and which slice makes which."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...kernels.kernel import Kernel, TileDim
from ...kernels.scales import bits_of_sums, runs
from ...operators.operator import Operator
from ...operators.products import Convolution, DepthwiseConvolution, FullyConnected
from ...operators.tensors import Region
from ...slice.errors import IllegalSliceProgram
from .tiling import unit_of

FREE = -1
"""Channels are cut or not, as is fastest."""
CHANNELS = 1
"""The axis of a result whose steps may have scales of their own."""
_WORTH_SPLITTING = 0.85
_WORTH_SWAPPING = 64
"""Cycles by which parts differ that are not alike."""


@dataclass(kw_only=True)
class Balance:
    """Cycles that each slice works so far: whoever has less to do gets the larger part."""

    slices: int
    work: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.work = [0] * self.slices

    def shared(self, costs: Sequence[int]) -> list[int]:
        """The slice for each part of a tile, by the cycles of the parts: two, or one."""
        found = list(range(len(costs)))
        if self.slices > 1 and self._should_swap(costs):
            found = [1 - slice_ for slice_ in found]
        for slice_, cost in zip(found, costs, strict=True):
            self.work[slice_] += cost
        return found

    def _should_swap(self, costs: Sequence[int]) -> bool:
        """Whether the second slice gets the first part."""
        more = costs[0] - sum(costs[1:])
        behind = self.work[0] - self.work[1]
        return more * behind > 0 and min(abs(more), abs(behind)) > _WORTH_SWAPPING


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Axis and size of the first part, -1 if a tile stays whole; and the cycles of the parts."""

    axis: int = -1
    point: int = 0
    costs: tuple[int, ...]

    @property
    def channels(self) -> int:
        """Channels of the first part, 0 if both have all of them."""
        return self.point if self.axis == CHANNELS else 0

    def parts(self, out: Region) -> list[Region]:
        """The region for each slice."""
        return [out] if self.axis < 0 else _halves(out, self.axis, self.point)


class Splits:
    """The parts of tiles; what was found for a tile holds for all that are alike."""

    def __init__(self) -> None:
        self._found: dict[tuple[object, ...], Split] = {}
        self._costs: dict[tuple[object, ...], int] = {}

    def split(self, op: Operator, kernel: Kernel[Any], out: Region, channels: int = FREE) -> Split:
        """How a tile is cut: in two if that is faster. Raises IllegalSliceProgram.

        If `channels` are said, the first part has so many of them, or both have all if it is 0:
        then constants are those of another tile.
        """
        scales = _scale_runs(op, out)
        key = op, kernel.name, out.sizes, _edges(op, out), scales, channels
        if key not in self._found:
            like = _first_like(op, kernel, out, scales)
            self._found[key] = self._split(op, kernel, like, scales, channels)
        return self._found[key]

    def _split(
        self, op: Operator, kernel: Kernel[Any], out: Region, scales: Sequence[int], channels: int
    ) -> Split:
        """The fastest way to cut a region."""
        whole = self._cost(op, kernel, out)
        best = whole * _WORTH_SPLITTING
        found = Split(costs=(whole,))
        for dim in kernel.tile_dims(op):
            is_channels = dim.axis == CHANNELS
            if channels != FREE and is_channels != (channels > 0):
                continue
            points = _points(dim, out.sizes[dim.axis], scales if is_channels else ())
            for point in [channels] if channels > 0 else points:
                try:
                    halves = _halves(out, dim.axis, point)
                    costs = tuple(self._cost(op, kernel, part) for part in halves)
                except IllegalSliceProgram:
                    continue
                if max(costs) < best or channels > 0:
                    best = max(costs)
                    found = Split(axis=dim.axis, point=point, costs=costs)
        return found

    def _cost(self, op: Operator, kernel: Kernel[Any], out: Region) -> int:
        """Cycles of a region. Raises IllegalSliceProgram."""
        scales = _scale_runs(op, out)
        key = op, kernel.name, out.sizes, _edges(op, out), scales
        if key not in self._costs:
            self._costs[key] = kernel.cost(op, _first_like(op, kernel, out, scales))
        return self._costs[key]


def _edges(op: Operator, out: Region) -> tuple[tuple[bool, bool], ...]:
    """Whether a region begins and ends with the result, along each axis."""
    ends = zip(out.starts, out.sizes, op.y.shape, strict=True)
    return tuple((start == 0, start + size == whole) for start, size, whole in ends)


def scales_differ(op: Operator) -> bool:
    """Whether channels of an operator need several tasks, since they are not scaled alike."""
    return len(_scale_runs(op, Region.whole(op.y.shape))) > 1


def _scale_runs(op: Operator, out: Region) -> tuple[int, ...]:
    """Channels of a region that are scaled alike, one run behind the other."""
    if not isinstance(op, Convolution | DepthwiseConvolution | FullyConnected):
        return ()
    bits = bits_of_sums(op.x.dtype, op.sum_bits)
    found = runs(op.rescale, out.starts[CHANNELS], out.sizes[CHANNELS], bits)
    return tuple(run.count for run in found)


def _first_like(op: Operator, kernel: Kernel[Any], out: Region, scales: Sequence[int]) -> Region:
    """The first region of these sizes at the same edges: what is chosen for it is for all alike.

    Channels of several scales stay where they are.
    """
    units = {dim.axis: dim for dim in kernel.tile_dims(op)}
    starts = []
    for axis, (a, n, size) in enumerate(zip(out.starts, out.sizes, op.y.shape, strict=True)):
        dim = units.get(axis)
        if axis == CHANNELS and len(scales) > 1:
            dim = None
        if a and a + n < size and dim is not None:
            a = unit_of(dim) if unit_of(dim) + n < size else dim.granularity
        starts.append(a)
    return Region(starts=tuple(starts), sizes=out.sizes)


def _points(dim: TileDim, size: int, scales: Sequence[int]) -> Iterator[int]:
    """Where to cut: in the middle, and where passes of a kernel begin that are nearest to it."""
    unit = unit_of(dim) if size > unit_of(dim) else dim.granularity
    middle = -(-size // 2 // unit) * unit or unit
    if middle < size:
        yield middle
    if len(scales) > 1:
        begins, start = {middle}, 0
        for count in scales:
            begins |= set(range(start, start + count, unit))
            start += count
        near = sorted(begins - {0, middle}, key=lambda begin: (abs(2 * begin - size), begin))
        yield from (begin for begin in near[:2] if not begin % dim.granularity)


def _halves(out: Region, axis: int, point: int) -> list[Region]:
    start, size = out.starts[axis], out.sizes[axis]
    return [out.along(axis, start, point), out.along(axis, start + point, size - point)]
