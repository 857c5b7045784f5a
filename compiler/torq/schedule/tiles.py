"""How an operator's result is cut into tiles that fit into LRAM, and a tile between the slices."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..kernels.kernel import Kernel, TileDim
from ..kernels.variants import refusal, variants
from ..operators.operator import Operator
from ..operators.tensors import Region
from ..slice.errors import IllegalSliceProgram
from ..slice.lram import ALIGNMENT

_DIVISORS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256, 512, 1024)
_AXES_AT_A_TIME = 2
_BYTES_PER_CYCLE = 4.75
_CYCLES_PER_TILE = 1000
"""What a tile costs besides what it moves: commands, starts of transfers."""
_WORTH_SPLITTING = 0.85


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiling:
    """A kernel, and the size of its tiles."""

    kernel: Kernel[Any]
    sizes: tuple[int, ...]

    def regions(self, shape: Sequence[int]) -> Iterator[Region]:
        """All tiles, the last dimension first."""
        starts = [range(0, whole, size) for whole, size in zip(shape, self.sizes, strict=True)]
        for at in itertools.product(*starts):
            ends = zip(at, self.sizes, shape, strict=True)
            yield Region(starts=at, sizes=tuple(min(n, whole - a) for a, n, whole in ends))


def unit_of(dim: TileDim) -> int:
    """Elements of which whole multiples waste nothing."""
    return math.lcm(dim.granularity, dim.best)


class Tiler:
    """Chooses tiles, and remembers what it chose for operators like those before."""

    def __init__(self) -> None:
        self._tilings: dict[tuple[Operator, int, frozenset[str]], Tiling | None] = {}
        self._splits: dict[tuple[Operator, str, Region], tuple[int, int]] = {}

    def tiling(self, op: Operator, free: int, resident: frozenset[str]) -> Tiling | None:
        """The kernel and the tiles with the least traffic that need no more than `free` bytes.

        What is `resident` is in LRAM as a whole and does not count. Raises IllegalSliceProgram when
        no kernel accepts the operator; gives None when no tile is small enough.
        """
        key = op, free // 4096, resident
        if key not in self._tilings:
            self._tilings[key] = _chosen(op, free // 4096 * 4096, resident)
        return self._tilings[key]

    def parts(self, op: Operator, kernel: Kernel[Any], out: Region) -> list[Region]:
        """The region for each slice: two if that is faster."""
        key = op, kernel.name, out
        if key not in self._splits:
            self._splits[key] = _split(op, kernel, out)
        axis, point = self._splits[key]
        if axis < 0:
            return [out]
        return _halves(out, axis, point)


def needed(
    op: Operator, kernel: Kernel[Any], out: Region, resident: frozenset[str]
) -> dict[str, int]:
    """Bytes of what a tile needs in LRAM besides what is there, by name."""
    return {
        name: -(-size // ALIGNMENT) * ALIGNMENT
        for name, size in kernel.footprint(op, out).items()
        if name not in resident
    }


def _chosen(op: Operator, free: int, resident: frozenset[str]) -> Tiling | None:
    kernels = variants(op)
    if not kernels:
        raise IllegalSliceProgram("operator", refusal(op))
    kernel = kernels[0]
    if sum(needed(op, kernel, Region.whole(op.y.shape), resident).values()) <= free:
        return Tiling(kernel=kernel, sizes=op.y.shape)
    dims = [dim for dim in kernel.tile_dims(op) if op.y.shape[dim.axis] > 1]
    for axes in _axes(dims):
        fitting = []
        for sizes in _sizes(op, axes):
            tiling = Tiling(kernel=kernel, sizes=sizes)
            traffic = _traffic(op, tiling, free, resident)
            if traffic is not None:
                fitting.append((traffic, sizes))
        if fitting:
            return Tiling(kernel=kernel, sizes=min(fitting)[1])
    return None


def _axes(dims: Sequence[TileDim]) -> Iterator[tuple[TileDim, ...]]:
    """Which axes to cut: two, those first that are outermost, then all as far as can be."""
    yield from itertools.combinations(dims, min(_AXES_AT_A_TIME, len(dims)))
    if len(dims) > _AXES_AT_A_TIME:
        yield tuple(dims)


def _sizes(op: Operator, axes: Sequence[TileDim]) -> Iterator[tuple[int, ...]]:
    """Sizes of tiles that are cut along some axes."""
    choices = []
    few = len(axes) > _AXES_AT_A_TIME
    for dim in axes:
        whole = op.y.shape[dim.axis]
        if few and dim is not axes[-1]:
            choices.append([dim.granularity])
            continue
        units = [unit_of(dim), dim.granularity]
        found = {whole}
        for unit in units:
            found |= {min(whole, -(-whole // n // unit) * unit or unit) for n in _DIVISORS}
        choices.append(sorted(s for s in found if not s % dim.granularity or s == whole))
    for chosen in itertools.product(*choices):
        sizes = list(op.y.shape)
        for dim, size in zip(axes, chosen, strict=True):
            sizes[dim.axis] = size
        yield tuple(sizes)


def _traffic(
    op: Operator, tiling: Tiling, free: int, resident: frozenset[str]
) -> tuple[float, int] | None:
    """Cycles of all transfers by estimate, and tiles; None if tiles do not fit."""
    counts = [-(-n // size) for n, size in zip(op.y.shape, tiling.sizes, strict=True)]
    tiles = math.prod(counts)
    middle = tuple(
        min(count // 2, max(0, count - 2)) * size
        for count, size in zip(counts, tiling.sizes, strict=True)
    )
    kernel, named = tiling.kernel, {*op.tensors}
    most = 0
    for starts in {(0,) * len(counts), middle}:
        ends = zip(starts, tiling.sizes, op.y.shape, strict=True)
        out = Region(starts=starts, sizes=tuple(min(n, w - a) for a, n, w in ends))
        parts = needed(op, kernel, out, resident)
        if sum(parts.values()) > free:
            return None
        most = max(most, sum(size for name, size in parts.items() if name in named))
        constants = sum(size for name, size in parts.items() if name not in named)
    channels = counts[1] if len(counts) > 1 else counts[0]
    moved = tiles * most + channels * constants
    return moved / _BYTES_PER_CYCLE + tiles * _CYCLES_PER_TILE, tiles


def _split(op: Operator, kernel: Kernel[Any], out: Region) -> tuple[int, int]:
    """Axis and size of the first part; axis -1 if the tile stays whole."""
    best = kernel.cost(op, out) * _WORTH_SPLITTING
    found = -1, 0
    for dim in kernel.tile_dims(op):
        size = out.sizes[dim.axis]
        unit = unit_of(dim) if size > unit_of(dim) else dim.granularity
        point = -(-size // 2 // unit) * unit or unit
        if point >= size:
            continue
        try:
            cost = max(kernel.cost(op, part) for part in _halves(out, dim.axis, point))
        except IllegalSliceProgram:
            continue
        if cost < best:
            best, found = cost, (dim.axis, point)
    return found


def _halves(out: Region, axis: int, point: int) -> list[Region]:
    start, size = out.starts[axis], out.sizes[axis]
    return [out.along(axis, start, point), out.along(axis, start + point, size - point)]
