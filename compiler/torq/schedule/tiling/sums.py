"""Tiles of operators whose terms do not fit into LRAM at once, or are more than the ALU can count.

A tile is what PRAM holds of a slice. Its sums are made by a chain of kernels, each of some of the
terms, and stay in PRAM until the last one: operands and weights come to LRAM part by part.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ...kernels.kernel import Kernel
from ...operators.operator import Operator
from ...operators.tensors import Region
from ...slice.counts import MOST_STEPS
from ...slice.lram import ALIGNMENT
from ..allocate import fetched_by
from .tiling import unit_of


@dataclass(frozen=True, kw_only=True)
class SumTiling:
    """Tiles that are made beside each other, one on each slice, and how many terms at a time."""

    kernel: Kernel[Any]
    tiles: tuple[tuple[Region, ...], ...]
    count: int

    def chains(self, op: Operator, outs: Sequence[Region]) -> list[list[Kernel[Any]]]:
        """The kernels that make each of some tiles, one after the other."""
        return [self._chain(op, out) for out in outs]

    def _chain(self, op: Operator, out: Region) -> list[Kernel[Any]]:
        terms, _ = self.kernel.terms(op)
        starts = range(0, terms, self.count)
        found = (self.kernel.over_terms(op, out, first, self.count) for first in starts)
        return [part for part in found if part is not None]


def stated_sums(op: Operator, kernel: Kernel[Any], count: int, slices: int) -> SumTiling | None:
    """Sums of a kernel over so many terms at a time; None if it cannot make them."""
    tiles = _tiles(kernel, op, Region.whole(op.y.shape))
    terms, steps = kernel.terms(op)
    if tiles is None or not 0 < count <= min(terms, MOST_STEPS // steps):
        return None
    groups = tuple(_groups(kernel, op, tiles, slices))
    return SumTiling(kernel=kernel, tiles=groups, count=count)


@dataclass(frozen=True, kw_only=True)
class SumSearch:
    """What is looked for: sums over as many terms at a time as fit into `free` bytes.

    What is `resident` is in LRAM as a whole. If buffers are `doubled`, what changes from one kernel
    of a chain to the next is there twice.
    """

    op: Operator
    kernels: Sequence[Kernel[Any]]
    free: int
    resident: frozenset[str]
    doubled: bool
    slices: int

    def best(self) -> SumTiling | None:
        """The first kernel's whose terms can be cut so that they fit; None if there is none."""
        for kernel in self.kernels:
            tiles = _tiles(kernel, self.op, Region.whole(self.op.y.shape))
            if tiles is None:
                continue
            groups = tuple(_groups(kernel, self.op, tiles, self.slices))
            count = self._count(kernel, groups)
            if count:
                return SumTiling(kernel=kernel, tiles=groups, count=count)
        return None

    def _count(self, kernel: Kernel[Any], groups: Sequence[tuple[Region, ...]]) -> int:
        """The most terms that fit; 0 if one does not."""
        terms, steps = kernel.terms(self.op)
        largest = max(groups, key=lambda outs: self._room(kernel, outs, 1, doubled=False))
        most = min(terms, MOST_STEPS // steps)
        for doubled in dict.fromkeys((self.doubled, False)):
            low, high = 0, most
            while low < high:
                middle = (low + high + 1) // 2
                fits = self._room(kernel, largest, middle, doubled=doubled) <= self.free
                low, high = (middle, high) if fits else (low, middle - 1)
            if low:
                return -(-terms // -(-terms // low))
        return 0

    def _room(
        self, kernel: Kernel[Any], outs: Sequence[Region], count: int, *, doubled: bool
    ) -> int:
        """Bytes of some tiles beside each other, and of what is read at a time."""
        shared: dict[str, int] = {}
        room = 0
        for out in outs:
            part = kernel.over_terms(self.op, out, 0, count)
            assert part is not None
            for name, size in part.footprint(self.op, out).items():
                bytes_ = -(-size // ALIGNMENT) * ALIGNMENT
                if name in self.resident:
                    continue
                if name in self.op.operands:
                    bytes_ += -(-fetched_by(self.op) // ALIGNMENT) * ALIGNMENT
                    shared[name] = max(bytes_, shared.get(name, 0))
                else:
                    room += bytes_ * (2 if doubled and name != "y" else 1)
        return room + sum(shared.values()) * (2 if doubled else 1)


def _tiles(kernel: Kernel[Any], op: Operator, out: Region) -> list[Region] | None:
    """A region cut until PRAM holds each of its tiles; None if it never does."""
    if kernel.over_terms(op, out, 0, 1):
        return [out]
    cut = [dim for dim in kernel.tile_dims(op) if out.sizes[dim.axis] > dim.granularity]
    if not cut:
        return None
    dim = max(cut, key=lambda dim: out.sizes[dim.axis] / unit_of(dim))
    start, size = out.starts[dim.axis], out.sizes[dim.axis]
    unit = unit_of(dim) if size > unit_of(dim) else dim.granularity
    point = -(-size // 2 // unit) * unit or unit
    found: list[Region] = []
    for first, count in ((start, point), (start + point, size - point)):
        tiles = _tiles(kernel, op, out.along(dim.axis, first, count))
        if tiles is None:
            return None
        found += tiles
    return found


def _groups(
    kernel: Kernel[Any], op: Operator, tiles: Sequence[Region], slices: int
) -> Iterator[tuple[Region, ...]]:
    """Tiles that read the same, as many as there are slices at a time."""
    for _, alike in itertools.groupby(tiles, lambda tile: kernel.input_regions(op, tile)):
        same = list(alike)
        for first in range(0, len(same), slices):
            yield tuple(same[first : first + slices])
