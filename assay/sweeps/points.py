"""A space: kernels, sizes and chips, and the points that they make."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product

from .constraints import Constraint
from .errors import SweepError
from .point import Point, Recipe, Size


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """Points in a fixed order: kernels first, then sizes, then chips.

    Attributes:
        name: for headings.
        recipes: the kernels.
        sizes: m, n and k of the products.
        chips: keys of chips.
        constraints: conditions that all points meet which have the axes that they name.
        warm: whether caches hold what an earlier run of a kernel left.
    """

    name: str
    recipes: tuple[Recipe, ...]
    sizes: tuple[Size, ...]
    chips: tuple[str, ...]
    constraints: tuple[Constraint, ...] = ()
    warm: bool = True
    points: tuple[Point, ...] = field(init=False)

    def __post_init__(self) -> None:
        found = tuple(dict.fromkeys(self._points()))
        if not found:
            raise SweepError(f"{self.name}: no point meets all constraints")
        object.__setattr__(self, "points", found)

    @property
    def knobs(self) -> tuple[str, ...]:
        """Names of all knobs that are chosen for some kernel."""
        return tuple(dict.fromkeys(name for each in self.recipes for name, _ in each.knobs))

    def allows(self, point: Point) -> bool:
        """Whether a point meets all constraints."""
        return all(each.holds(point) for each in self.constraints)

    def _points(self) -> Iterator[Point]:
        for recipe, (m, n, k), on in product(self.recipes, self.sizes, self.chips):
            point = Point(recipe=recipe, m=m, n=n, k=k, chip=on, warm=self.warm)
            if self.allows(point):
                yield point
