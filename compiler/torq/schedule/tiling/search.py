"""The tiles of an operator that take the least time, by what they move and what kernels cost."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...blocks import BURST
from ...kernels.alike import VECTOR_BYTES, Alike
from ...kernels.kernel import Kernel, TileDim
from ...kernels.planes.convolution import ConvolutionKernel
from ...operators.operator import Operator
from ...operators.products import Convolution
from ...operators.tensors import Layout, Region
from ...slice.errors import IllegalSliceProgram
from ...slice.lram import ALIGNMENT
from ...target import target
from .shares import CHANNELS, Balance, scales_differ
from .tiling import Tiling, unit_of

_DIVISORS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256, 512, 1024)
_AXES_AT_A_TIME = 2
_CYCLES_PER_TILE = 500
"""What a tile costs besides what it moves and computes: commands, starts of transfers."""
_CYCLES_PER_RUN = 150
"""What a run of a slice costs besides its tasks."""
_EDGES = 3
"""Tiles along an axis that may each be unlike."""
_LEFT_OVER = 16
"""Which part of the shorter of transfers and work is beside nothing: one of so many."""
_COMPARED = 4
"""How many tilings are compared by what kernels cost for a tile, too."""


@dataclass(frozen=True, kw_only=True)
class Traffic:
    """Bytes that all tiles move, and those of one tile besides constants; how many tiles."""

    moved: int
    each: int
    tiles: int

    @property
    def cycles(self) -> int:
        """Cycles of all transfers."""
        return cycles_of_bytes(self.moved) + self.tiles * _CYCLES_PER_TILE


def padding_of(kernel: Kernel[Any], op: Operator, sizes: Sequence[int]) -> float:
    """How much longer a kernel takes for the pixels of a tile of planes than for those of a whole
    one: what is left of the last vector is padding.
    """
    vector = VECTOR_BYTES // op.y.element
    if isinstance(kernel, ConvolutionKernel) and isinstance(op, Convolution):
        vector = kernel.vector(op)
    pixels, whole = (math.prod(shape[-2:]) for shape in (sizes, op.y.shape))
    return _filled(pixels, vector) / _filled(whole, vector)


def cycles_of_bytes(size: int) -> int:
    """Cycles of transfers of so many bytes."""
    return target().dma_cycles(size, BURST)


@dataclass(frozen=True, kw_only=True)
class TileSearch:
    """What is looked for: tiles of an operator that fit into `free` bytes.

    What is `resident` is in LRAM as a whole. If buffers are `doubled`, everything that changes from
    tile to tile is there twice.
    """

    op: Operator
    kernel: Kernel[Any]
    free: int
    resident: frozenset[str]
    doubled: bool
    reuse: bool
    work: int
    """Cycles of the whole operator on all slices: about what its tiles take, too."""
    cost: Callable[[Region], Sequence[int]]
    """Cycles of the parts of a tile, of which each slice makes one."""
    slices: int = 1
    all_tiles: bool = True
    """Whether all tiles are weighed, or one in the middle for all."""
    _looked_up: dict[tuple[str, Region], Any] = field(default_factory=dict)
    """What the kernel says of regions, which many tilings have in common."""

    def best(self) -> Tiling | None:
        """The tiling that takes the least time; None if none fits."""
        dims = [d for d in self.kernel.tile_dims(self.op) if self.op.y.shape[d.axis] > 1]
        if isinstance(self.kernel, Alike) and self._has_some_resident():
            dims = dims[:1]  # along which parts of a tensor lie as tiles by themselves
        for axes in self._axes(dims):
            found = [
                (self._expected(tiling, traffic), traffic.cycles, tiling.sizes, tiling, traffic)
                for tiling in self._tilings(axes)
                if (traffic := self._traffic(tiling)) is not None
            ]
            if found:
                fewest = sorted(found, key=lambda one: one[:3])[:_COMPARED]
                timed = [self._timed(tiling, traffic) for *_, tiling, traffic in fewest]
                return min(timed, key=lambda tiling: tiling.cycles)
        return None

    def _has_some_resident(self) -> bool:
        here = [name in self.resident for name in self.op.operands]
        return any(here) and not all(here)

    def _axes(self, dims: Sequence[TileDim]) -> Iterator[tuple[TileDim, ...]]:
        """Which axes to cut: each two, then all as far as can be."""
        yield from itertools.combinations(dims, min(_AXES_AT_A_TIME, len(dims)))
        if len(dims) > _AXES_AT_A_TIME:
            yield tuple(dims)

    def _tilings(self, axes: Sequence[TileDim]) -> Iterator[Tiling]:
        """Tilings along some axes; with several cut, the first one is outermost or innermost."""
        shape = self.op.y.shape
        natural = tuple(range(len(shape)))
        for sizes in self._sizes(axes):
            tiling = Tiling(kernel=self.kernel, sizes=sizes, axes=natural)
            yield tiling
            cut = [axis for axis, count in enumerate(tiling.counts(shape)) if count > 1]
            if len(cut) > 1:
                rest = (axis for axis in natural if axis != cut[0])
                yield replace(tiling, axes=(*rest, cut[0]))

    def _sizes(self, axes: Sequence[TileDim]) -> Iterator[tuple[int, ...]]:
        """Sizes of tiles that are cut along some axes."""
        shape = self.op.y.shape
        choices = []
        few = len(axes) > _AXES_AT_A_TIME
        for dim in axes:
            whole = shape[dim.axis]
            if few and dim is not axes[-1]:
                choices.append([dim.granularity])
                continue
            found = {whole, min(whole, dim.granularity)}
            for unit in (unit_of(dim), dim.granularity):
                found |= {min(whole, -(-whole // n // unit) * unit or unit) for n in _DIVISORS}
            choices.append(sorted(s for s in found if not s % dim.granularity or s == whole))
        for chosen in itertools.product(*choices):
            sizes = list(shape)
            for dim, size in zip(axes, chosen, strict=True):
                sizes[dim.axis] = size
            yield tuple(sizes)

    def _traffic(self, tiling: Tiling) -> Traffic | None:
        """What tiles move; None if they do not fit."""
        shape = self.op.y.shape
        counts = tiling.counts(shape)
        tiles = math.prod(counts)
        middle = self._middle(tiling)
        parts = dict(self._needed(tiling.region((0,) * len(counts), shape)))
        for name, size in self._needed(middle).items():
            parts[name] = max(size, parts.get(name, 0))
        moved = room = each = 0
        for name, size in parts.items():
            times = self._times(tiling, middle, name)
            moved += size * times if name in self._loaded_or_stored(middle) else 0
            each += size if name in self.op.tensors else size // 2
            room += size * (2 if self.doubled and times > 1 else 1)
        return Traffic(moved=moved, each=each, tiles=tiles) if room <= self.free else None

    def _needed(self, out: Region) -> dict[str, int]:
        """Bytes of what a tile needs in LRAM besides what is there, by name."""
        key = "needed", out
        if key not in self._looked_up:
            self._looked_up[key] = {
                name: -(-size // ALIGNMENT) * ALIGNMENT
                for name, size in self.kernel.footprint(self.op, out).items()
                if name not in self.resident
            }
        found: dict[str, int] = self._looked_up[key]
        return found

    def _constants(self, out: Region) -> dict[str, tuple[int, ...]]:
        """Shapes of the constants of a region."""
        key = "constants", out
        if key not in self._looked_up:
            specs = self.kernel.constants(self.op, out)
            self._looked_up[key] = {spec.name: spec.shape for spec in specs}
        found: dict[str, tuple[int, ...]] = self._looked_up[key]
        return found

    def _loaded_or_stored(self, out: Region) -> set[str]:
        return {*self._constants(out), *self.op.tensors}

    def _times(self, tiling: Tiling, middle: Region, name: str) -> int:
        """How often something is moved."""
        counts = tiling.counts(self.op.y.shape)
        times, stays = 1, self.reuse
        for axis in reversed(tiling.axes):
            if counts[axis] == 1 or (stays and self._is_same_along(axis, middle, name)):
                continue
            stays = False
            times *= counts[axis]
        return times

    def _is_same_along(self, axis: int, middle: Region, name: str) -> bool:
        """Whether all tiles along an axis need the same of an operand or a constant."""
        if name == "y":
            return False
        whole = middle.along(axis, 0, self.op.y.shape[axis])
        if name in self.op.tensors:
            # A tile of what is put together may need nothing of an operand.
            return self._read(middle).get(name) == self._read(whole).get(name)
        return self._constants(middle).get(name) == self._constants(whole).get(name)

    def _read(self, out: Region) -> dict[str, Region]:
        key = "read", out
        if key not in self._looked_up:
            needs = self.kernel.input_regions(self.op, out)
            self._looked_up[key] = {need.operand: need.region for need in needs}
        found: dict[str, Region] = self._looked_up[key]
        return found

    def _middle(self, tiling: Tiling) -> Region:
        """A tile that is not at an edge, if there is one."""
        shape = self.op.y.shape
        counts = tiling.counts(shape)
        starts = tuple(
            min(count // 2, max(0, count - 2)) * size
            for count, size in zip(counts, tiling.sizes, strict=True)
        )
        return tiling.region(starts, shape)

    def _timed(self, tiling: Tiling, traffic: Traffic) -> Tiling:
        """With the cycles of all tiles."""
        try:
            cost = self._work(tiling)
        except IllegalSliceProgram:
            cost = 0
        work = cost + _CYCLES_PER_RUN * traffic.tiles
        return replace(tiling, cycles=self._together(traffic, work))

    def _work(self, tiling: Tiling) -> int:
        """Cycles of the busiest slice: tiles at edges and in the middle, by how many there are.

        What is scaled in several ways may take longer than what is scaled alike.
        """
        shape = self.op.y.shape
        if not self.all_tiles:
            return max(self.cost(self._middle(tiling))) * math.prod(tiling.counts(shape))
        balance = Balance(slices=self.slices)
        every = CHANNELS if scales_differ(self.op) else -1
        places = [
            _places(size, whole, every=axis == every)
            for axis, (size, whole) in enumerate(zip(tiling.sizes, shape, strict=True))
        ]
        for at in itertools.product(*places):
            starts, sizes, times = zip(*at, strict=True)
            costs = self.cost(Region(starts=starts, sizes=sizes))
            balance.shared([cost * math.prod(times) for cost in costs])
        return max(balance.work)

    def _expected(self, tiling: Tiling, traffic: Traffic) -> int:
        """About the cycles of all tiles."""
        work = self.work + _CYCLES_PER_RUN * traffic.tiles
        for dim in self.kernel.tile_dims(self.op):
            size, whole = tiling.sizes[dim.axis], self.op.y.shape[dim.axis]
            work = int(work * _filled(size, dim.best) / _filled(whole, dim.best))
        if self.op.y.layout is not Layout.ROWS:
            work = int(work * padding_of(self.kernel, self.op, tiling.sizes))
        return self._together(traffic, work)

    def _together(self, traffic: Traffic, work: int) -> int:
        """Cycles of transfers and slices; those of the ends are beside nothing."""
        if not self.doubled:
            return traffic.cycles + work
        most, least = max(traffic.cycles, work), min(traffic.cycles, work)
        return most + least // _LEFT_OVER + cycles_of_bytes(traffic.each)


def _places(size: int, whole: int, *, every: bool) -> list[tuple[int, int, int]]:
    """(start, size, how many alike) of tiles along an axis: the first, one in the middle and the
    last, or every one.
    """
    starts = range(0, whole, size)
    if every or len(starts) <= _EDGES:
        return [(start, min(size, whole - start), 1) for start in starts]
    last = starts[-1]
    return [(0, size, 1), (size, size, len(starts) - 2), (last, whole - last, 1)]


def _filled(size: int, unit: int) -> float:
    """How many elements of whole units there are for each of a size."""
    return -(-size // unit) * unit / size
