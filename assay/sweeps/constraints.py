"""Conditions on the points of a space, in the notation of conditional kernels."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from assay.compiler.foundry.conditions import Domain, Predicate
from assay.compiler.foundry.errors import FoundryError

from .errors import SweepError
from .knobs import Value
from .point import Point


@dataclass(frozen=True, slots=True)
class Constraint:
    """A condition such as `stages * tile_k <= 64 or chip == 'm1'`."""

    predicate: Predicate
    names: frozenset[str]

    @classmethod
    def read(cls, text: str, points: Iterable[Point]) -> Constraint:
        """Reads a condition on axes that some of the points have. Raises SweepError."""
        values: dict[str, list[Value]] = {}
        for point in points:
            for name, value in axes_of(point).items():
                values.setdefault(name, []).append(value)
        domains = {name: _domain(found) for name, found in values.items()}
        try:
            predicate = Predicate.parse(text, domains)
        except FoundryError as error:
            raise SweepError(f"constraints: {error}") from None
        names = {node.id for node in ast.walk(predicate.tree) if isinstance(node, ast.Name)}
        return cls(predicate, frozenset(names & set(domains)))

    def holds(self, point: Point) -> bool:
        """Whether a point meets it, or lacks what it speaks of."""
        found = axes_of(point)
        if not self.names <= set(found):
            return True
        domains = self.predicate.domains
        numbers = {
            name: domains[name].number(_as(domains[name], found[name]), name) for name in self.names
        }
        return self.predicate.holds(numbers)


def axes_of(point: Point) -> Mapping[str, Value]:
    """What conditions can name: all axes, and the sides of tiles, `tile_m`, `tile_n`, `tile_k`."""
    knobs = dict(point.recipe.knobs)
    found: dict[str, Value] = {
        "variant": point.recipe.variant,
        "policy": point.recipe.policy,
        "chip": point.chip,
        "m": point.m,
        "n": point.n,
        "k": point.k,
        **knobs,
    }
    if "tile" in knobs and point.recipe.maker is None:
        sides = map(int, str(knobs["tile"]).split("x"))
        found |= dict(zip(("tile_m", "tile_n", "tile_k"), sides, strict=True))
    return found


def _domain(values: list[Value]) -> Domain:
    numbers = [value for value in values if isinstance(value, int)]
    if len(numbers) == len(values):
        return Domain(min(numbers), max(numbers))
    names = tuple(dict.fromkeys(map(str, values)))
    return Domain(0, len(names) - 1, names)


def _as(domain: Domain, value: Value) -> Value:
    return str(value) if domain.names else value
