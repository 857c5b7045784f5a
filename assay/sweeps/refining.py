"""Between the sizes that were given: boxes are tried there, and cut again where they lose."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from math import gcd, inf, isqrt, log
from typing import Final

from .beside import beside
from .halving import SECOND, Field, Group, Runs, ranked
from .point import Point, Recipe, Size
from .points import Space
from .tree import Leaf, leaves

_ROUNDS: Final = 4
_CLOSE: Final = 1.2  # ratio of neighbours between which nothing is tried
_EACH: Final = 3  # kernels of each grid that are tried for a size
_ESTIMATE: Final = 0.5  # how much what was not tried counts beside what was
_UNIT: Final = 256  # what sizes are multiples of at most, as those beside them are


def refine(
    runs: Runs,
    groups: Mapping[Group, Field],
    space: Space,
    tolerance: float,
) -> None:
    """Add sizes to fields, until those half way between others lose no more than the tolerance.

    They are tried with kernels that are fast for their neighbours, by runs of the second rung.
    """
    open_pairs = {group: list(_neighbours(of)) for group, of in groups.items()}
    for _ in range(_ROUNDS):
        tried: dict[Group, dict[Size, Mapping[Recipe, Point]]] = {}
        for group, of in groups.items():
            tried[group] = _points(runs, group, of, open_pairs[group], space)
        sizes = (points for new in tried.values() for points in new.values())
        runs.make((point for points in sizes for point in points.values()), SECOND)
        for group, new in tried.items():
            lost = _lost(runs, group, groups[group], new, tolerance)
            groups[group].update({size: dict(points) for size, points in new.items()})
            pairs = _neighbours(groups[group])
            open_pairs[group] = [pair for pair in pairs if lost & set(pair)]
        if not any(open_pairs.values()):
            return


def boxes(runs: Runs, group: Group, of: Field, tolerance: float) -> list[Leaf[Recipe]]:
    """Boxes of sizes, by all kernels that came to the second rung."""
    rows = {
        size: {r: runs.row(p) for r, p in points.items() if runs.seconds(p, SECOND) < inf}
        for size, points in of.items()
    }
    seconds = {size: {r: row["seconds"] for r, row in each.items()} for size, each in rows.items()}
    estimates = beside(rows, group[1])
    losses: dict[Recipe, dict[Size, float]] = {}
    for times, counts in ((seconds, 1.0), (estimates, _ESTIMATE)):
        for size, each in times.items():
            best = min(each.values())
            for recipe, time in each.items():
                losses.setdefault(recipe, {})[size] = counts * log(time / best)
    return leaves(list(of), losses, tolerance, estimates)


def _lost(
    runs: Runs,
    group: Group,
    of: Field,
    new: Mapping[Size, Mapping[Recipe, Point]],
    tolerance: float,
) -> set[Size]:
    """New sizes for which the boxes of the old ones name a kernel that loses too much."""
    known = boxes(runs, group, of, tolerance)
    found = set()
    for size, points in new.items():
        kernel = next(box.kernel for box in known if box.holds(size))
        best = min(runs.seconds(point, SECOND) for point in points.values())
        own = runs.seconds(points[kernel], SECOND) if kernel in points else inf
        if own > best * (1 + tolerance):
            found.add(size)
    return found


def _neighbours(sizes: Iterable[Size]) -> Iterator[tuple[Size, Size]]:
    """Pairs with none between them that are not close to each other."""
    every = sorted(sizes)
    for one, other in combinations(every, 2):
        ratio = max(max(a, b) / min(a, b) for a, b in zip(one, other, strict=True))
        if ratio > _CLOSE and not any(
            _between(each, one, other) for each in every if each not in (one, other)
        ):
            yield one, other


def _between(size: Size, one: Size, other: Size) -> bool:
    sides = zip(size, one, other, strict=True)
    return all(min(a, b) <= each <= max(a, b) for each, a, b in sides)


def _points(
    runs: Runs, group: Group, of: Field, pairs: Iterable[tuple[Size, Size]], space: Space
) -> dict[Size, Mapping[Recipe, Point]]:
    """The points half way between pairs that the constraints allow, for what is fast beside."""
    found: dict[Size, Mapping[Recipe, Point]] = {}
    for pair in pairs:
        m, n, k = (_middle(a, b) for a, b in zip(*pair, strict=True))
        if (m, n, k) in of:
            continue
        points = (
            Point(recipe=recipe, m=m, n=n, k=k, chip=group[1], warm=space.warm)
            for recipe in _fast(runs, of, pair)
        )
        allowed = {point.recipe: point for point in points if space.allows(point)}
        if allowed:
            found[m, n, k] = {**found.get((m, n, k), {}), **allowed}
    return found


def _fast(runs: Runs, of: Field, sizes: Iterable[Size]) -> list[Recipe]:
    """The kernels of each grid that come closest to the best for one of the sizes."""
    return [recipe for each in ranked(runs, of, sizes, SECOND) for recipe in each[:_EACH]]


def _middle(one: int, other: int) -> int:
    """Half way as ratios go, a multiple of what both are multiples of."""
    unit = min(gcd(one, other) & -gcd(one, other), _UNIT)
    middle = isqrt(one * other) // unit * unit
    return max(middle, min(one, other))
