"""From times at some sizes to conditions for all: boxes of sizes, each with one kernel.

Sizes are cut in two until one kernel serves each part well. A cut lies half way, as ratios go,
between sizes that were tuned; so a size that was not falls to the part of those that are near.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf, isqrt, log
from typing import Final, Generic, TypeVar

from .point import Size

_K = TypeVar("_K")
Losses = Mapping[_K, Mapping[Size, float]]
"""By kernel and size: the logarithm of its time over the best's; missing where it cannot run."""

AXES: Final = ("m", "n", "k")
Bounds = tuple[tuple[int, int], ...]
"""Of each axis the least value, and the one behind the last; 0 where there is none."""
_WHOLE: Final[Bounds] = ((1, 0),) * 3


@dataclass(frozen=True, slots=True)
class Leaf(Generic[_K]):
    """One kernel for all sizes within bounds; `sizes` are those that were tuned."""

    bounds: Bounds
    kernel: _K
    sizes: tuple[Size, ...]

    def holds(self, size: Size) -> bool:
        """Whether a size is in the box."""
        return all(
            first <= value and (value < last or not last)
            for value, (first, last) in zip(size, self.bounds, strict=True)
        )

    @property
    def condition(self) -> str:
        """All conditions as one; `k >= 1` is met by any size."""
        return " and ".join(self._conditions()) or "k >= 1"

    def _conditions(self) -> Iterator[str]:
        for name, (first, last) in zip(AXES, self.bounds, strict=True):
            if first > 1:
                yield f"{name} >= {first}"
            if last:
                yield f"{name} < {last}"


def leaves(
    sizes: Sequence[Size],
    losses: Losses[_K],
    tolerance: float,
    beside: Iterable[Size] = (),
) -> list[Leaf[_K]]:
    """Boxes that cover all sizes once.

    Args:
        sizes: those that were tuned; each has a kernel that runs it.
        losses: of kernels, in the order in which they are preferred.
        tolerance: times over 1 that the kernel of a box may take where it is worst, if the box can
            be cut.
        beside: others, whose losses are estimates: they count where kernels and cuts are chosen,
            but no box is cut for them, unless its kernel does not run them.
    """
    grown = _Grown(losses, log(1 + tolerance), frozenset(sizes))
    return list(grown.boxes((*sizes, *beside), _WHOLE))


@dataclass(frozen=True, slots=True)
class _Grown(Generic[_K]):
    losses: Losses[_K]
    tolerance: float
    tuned: frozenset[Size]

    def boxes(self, sizes: Sequence[Size], bounds: Bounds) -> Iterator[Leaf[_K]]:
        kernel = min(self.losses, key=lambda each: _sum(sizes, self.losses[each]))
        is_fine = all(self._serves(kernel, size) for size in sizes)
        cuts = [] if is_fine else list(_cuts(sizes))
        if not cuts:
            yield Leaf(bounds, kernel, tuple(size for size in sizes if size in self.tuned))
            return
        axis, at = min(cuts, key=lambda cut: _cost(sizes, cut, self.losses))
        below, above = _parted(sizes, axis, at)
        first, last = bounds[axis]
        yield from self.boxes(below, _replaced(bounds, axis, (first, at)))
        yield from self.boxes(above, _replaced(bounds, axis, (at, last)))

    def _serves(self, kernel: _K, size: Size) -> bool:
        loss = self.losses[kernel].get(size, inf)
        return loss <= self.tolerance if size in self.tuned else loss < inf


def _replaced(bounds: Bounds, axis: int, by: tuple[int, int]) -> Bounds:
    return (*bounds[:axis], by, *bounds[axis + 1 :])


def _sum(sizes: Sequence[Size], of: Mapping[Size, float]) -> float:
    return sum(of.get(size, inf) for size in sizes)


def _cuts(sizes: Sequence[Size]) -> Iterator[tuple[int, int]]:
    """Axis and place of all cuts: what begins the upper part, half way as ratios go."""
    for axis in range(len(AXES)):
        values = sorted({size[axis] for size in sizes})
        for below, above in pairwise(values):
            yield axis, isqrt(below * above) + 1


def _cost(sizes: Sequence[Size], cut: tuple[int, int], losses: Losses[_K]) -> float:
    parts = _parted(sizes, *cut)
    return sum(min(_sum(part, of) for of in losses.values()) for part in parts)


def _parted(sizes: Sequence[Size], axis: int, at: int) -> tuple[tuple[Size, ...], tuple[Size, ...]]:
    below = tuple(size for size in sizes if size[axis] < at)
    return below, tuple(size for size in sizes if size[axis] >= at)
