"""Points in batches: those of one kernel together, which is then compiled once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import Final

from .point import Point

MOST: Final = 32
"""Points of a batch, so that no process is left with all the work."""

Batch = tuple[Point, ...]


def batches(points: Iterable[Point], workers: int) -> list[Batch]:
    """Batches of points that follow each other; enough of them for so many workers."""
    kernels = [tuple(group) for _, group in groupby(points, key=lambda point: point.recipe)]
    total = sum(map(len, kernels))
    most = max(1, min(MOST, -(-total // (2 * max(workers, 1)))))
    return [part for each in kernels for part in _cut(each, most)]


def _cut(points: Sequence[Point], most: int) -> Iterator[Batch]:
    """Parts of nearly the same length."""
    count = -(-len(points) // most)
    ends = [len(points) * number // count for number in range(count + 1)]
    yield from (tuple(points[a:b]) for a, b in pairwise(ends))
