"""How a result is cut into tiles: a kernel, sizes, and the order in which tiles come."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ...kernels.kernel import Kernel, TileDim
from ...operators.tensors import Region


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiling:
    """A kernel, the size of its tiles, and their order: `axes`, the innermost one last.

    `cycles` is what all tiles are expected to take.
    """

    kernel: Kernel[Any]
    sizes: tuple[int, ...]
    axes: tuple[int, ...]
    cycles: int = 0

    def regions(self, shape: Sequence[int]) -> Iterator[Region]:
        """All tiles in order."""
        starts = [range(0, shape[axis], self.sizes[axis]) for axis in self.axes]
        for at in itertools.product(*starts):
            places = dict(zip(self.axes, at, strict=True))
            yield self.region(tuple(places[axis] for axis in range(len(shape))), shape)

    def region(self, starts: tuple[int, ...], shape: Sequence[int]) -> Region:
        """The tile that starts at some element."""
        ends = zip(starts, self.sizes, shape, strict=True)
        return Region(starts=starts, sizes=tuple(min(n, whole - a) for a, n, whole in ends))

    def counts(self, shape: Sequence[int]) -> tuple[int, ...]:
        """How many tiles there are along each axis."""
        return tuple(-(-n // size) for n, size in zip(shape, self.sizes, strict=True))


def unit_of(dim: TileDim) -> int:
    """Elements of which whole multiples waste nothing."""
    return math.lcm(dim.granularity, dim.best)
