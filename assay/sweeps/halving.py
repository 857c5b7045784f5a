"""Successive halving: all kernels get a little, the better ones more, the best all.

What is given out is the number of sizes, then the size of the sample. A rung takes a third of the
kernels to the next.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, inf, log, prod
from typing import Final

from assay.hw.apple.core.sample import WAVES
from assay.hw.apple.facts.chips import chip

from .errors import SweepError
from .point import Point, Recipe, Size
from .rows import Row
from .workers import Progress, Workers

FIRST: Final = 1
SECOND: Final = 2
"""Waves of threadgroups that runs of the first rungs execute; those of the last have `WAVES`."""
_PART: Final = 1 / 3
_FIRST: Final = 6  # sizes that every kernel is tried for, at least; one in six of many
_FAR: Final = 1.6  # times the best that the best of a grid may take
_NEAR: Final = 1.05  # times the fastest that are worth a full run

Group = tuple[str, str]
"""What kernels compete for beside sizes: the format of the weights, and the chip."""
Field = dict[Size, dict[Recipe, Point]]
"""The points of a group."""


@dataclass
class Runs:
    """Runs that were made, each once.

    Attributes:
        workers: who makes them.
        progress: told how many there are, and how many the rung will have made.
        cheap, full: how many were made, with smaller samples and with the usual one.
        threadgroups: how many were executed for them.
    """

    workers: Workers
    progress: Progress | None = None
    cheap: int = 0
    full: int = 0
    threadgroups: int = 0
    _rows: dict[Point, tuple[int, Row]] = field(default_factory=dict)

    def make(self, points: Iterable[Point], waves: int) -> None:
        """Run points that had no run of that size, nor one that executed all there is."""
        wanted = [each for each in dict.fromkeys(points) if self.waves(each) < waves]
        wanted.sort(key=lambda each: (each.recipe.label, each.recipe.policy))
        done = self.cheap + self.full
        for found in self.workers.measure(wanted, waves):
            for point, row in found:
                self._rows[point] = waves, row
                self.threadgroups += row.get("sampled") or 0
            if waves == WAVES:
                self.full += len(found)
            else:
                self.cheap += len(found)
            if self.progress is not None:
                self.progress(self.cheap + self.full, done + len(wanted))

    def waves(self, point: Point) -> int:
        """The size of the largest run of a point, 0 if there is none."""
        waves, row = self._rows.get(point, (0, None))
        return WAVES if row is not None and _is_whole(point, row, waves) else waves

    def row(self, point: Point) -> Row:
        """What the largest run of a point gave."""
        return self._rows[point][1]

    def seconds(self, point: Point, least: int) -> float:
        """The time of a point; infinite if it had no run of at least that size, or cannot run."""
        if self.waves(point) < least or self.row(point)["status"] != "ok":
            return inf
        return float(self.row(point)["seconds"])


def fields(points: Iterable[Point]) -> dict[Group, Field]:
    """Points by what they compete for."""
    found: dict[Group, Field] = {}
    for point in points:
        of = found.setdefault((point.recipe.policy, point.chip), {})
        of.setdefault(point.size, {})[point.recipe] = point
    return found


def halve(runs: Runs, groups: Mapping[Group, Field]) -> None:
    """Make the runs of all rungs. Raises SweepError for a size that no kernel runs."""
    runs.make((p for of in groups.values() for s in _first(of) for p in of[s].values()), FIRST)
    kept = {group: _survivors(runs, of) for group, of in groups.items()}
    every = ((kept[group], points) for group, of in groups.items() for points in of.values())
    runs.make((p for better, points in every for r, p in points.items() if r in better), SECOND)
    for of in groups.values():
        _rescue(runs, of)
    runs.make((p for of in groups.values() for s in of for p in _finalists(runs, of[s])), WAVES)


def _first(of: Field) -> Sequence[Size]:
    """Some sizes that differ much: the least, then always the one furthest from all others."""
    sizes = sorted(of, key=lambda size: (prod(size), size))
    chosen = [sizes[0]]
    while len(chosen) < min(len(sizes), max(_FIRST, ceil(len(sizes) / 6))):
        chosen.append(max(sizes, key=lambda size: min(_distance(size, other) for other in chosen)))
    return chosen


def _distance(one: Size, other: Size) -> float:
    return sum(abs(log(a / b)) for a, b in zip(one, other, strict=True))


def _survivors(runs: Runs, of: Field) -> set[Recipe]:
    """The third of the kernels of each grid that came closest to the best for the first sizes.

    They are two at least: what runs of the smallest sample say may be some percent off.
    """
    return {
        recipe
        for each in ranked(runs, of, _first(of), FIRST)
        for recipe in each[: max(2, ceil(len(each) * _PART))]
    }


def ranked(runs: Runs, of: Field, sizes: Iterable[Size], least: int) -> list[list[Recipe]]:
    """Kernels by how close they came to the best for one of the sizes, those of a grid together.

    Which grid leaves cores without work at its end is another one for other sizes, and so the best
    of each are worth to be kept. Grids of which no kernel came near are left out.
    """
    shown: dict[Recipe, float] = {}
    grids: dict[Recipe, list[int]] = {}
    for size in sizes:
        times = {recipe: runs.seconds(point, least) for recipe, point in of[size].items()}
        best = min(times.values())
        for recipe in (each for each in times if times[each] < inf):
            shown[recipe] = min(shown.get(recipe, inf), times[recipe] / best)
            threadgroups = runs.row(of[size][recipe])["threadgroups"]
            grids.setdefault(recipe, []).append(threadgroups)
    classes: dict[tuple[int, ...], list[Recipe]] = {}
    for recipe in sorted(shown, key=lambda each: (shown[each], each.label)):
        classes.setdefault(tuple(grids[recipe]), []).append(recipe)
    return [each for each in classes.values() if shown[each[0]] <= _FAR]


def _rescue(runs: Runs, of: Field) -> None:
    """Try all kernels for sizes that no survivor runs."""
    lost = [size for size in of if not _ran(runs, of[size])]
    runs.make((point for size in lost for point in of[size].values()), SECOND)
    for size in lost:
        if not _ran(runs, of[size]):
            one = next(iter(of[size].values()))
            m, n, k = size
            raise SweepError(
                f"no kernel runs {m}x{n}x{k} on {one.chip}; the first: {runs.row(one)['reason']}"
            )


def _ran(runs: Runs, points: Mapping[Recipe, Point]) -> list[Point]:
    """Those that have a time of the second rung; the fastest first."""
    ran = (point for point in points.values() if runs.seconds(point, SECOND) < inf)
    return sorted(ran, key=lambda point: runs.seconds(point, SECOND))


def _finalists(runs: Runs, points: Mapping[Recipe, Point]) -> list[Point]:
    """Those that are near the best, a third of them at most."""
    ran = _ran(runs, points)
    best = runs.seconds(ran[0], SECOND)
    near = [point for point in ran if runs.seconds(point, SECOND) <= best * _NEAR]
    return near[: max(2, ceil(len(ran) * _PART))]


def _is_whole(point: Point, row: Row, waves: int) -> bool:
    """Whether a run executed all that a core gets, and a larger one would be the same."""
    if row["status"] != "ok":
        return True
    cores = min(chip(point.chip).cores, row["threadgroups"])
    return bool(ceil(row["threadgroups"] / cores) <= waves * row["resident_threadgroups"])
