"""Tiles of a product, and who computes which part of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from assay.hw.apple.facts.limits import limits

from ..errors import FoundryError

MATRIX: Final = 8
"""Rows and columns of a simdgroup matrix; also the weights that a policy reads at a time."""


@dataclass(frozen=True, slots=True)
class Tile:
    """The part of a product that a threadgroup computes: m x n of it, k of the sum at a time."""

    m: int
    n: int
    k: int

    def __post_init__(self) -> None:
        if min(self.m, self.n, self.k) < MATRIX or any(
            each % MATRIX for each in (self.m, self.n, self.k)
        ):
            raise FoundryError(
                "tile-coverage", f"tile {self}: its sides are multiples of {MATRIX}, at least one"
            )

    def __str__(self) -> str:
        return f"{self.m}x{self.n}x{self.k}"

    @property
    def a_elements(self) -> int:
        """Of the left factor, for one step of k."""
        return self.m * self.k

    @property
    def b_elements(self) -> int:
        """Of the right factor, for one step of k."""
        return self.k * self.n


@dataclass(frozen=True, slots=True)
class Simdgroups:
    """Simdgroups beside each other, each with so many simdgroup matrices along m and n.

    Without `each` a simdgroup has as many as the tile needs.
    """

    rows: int = 2
    columns: int = 2
    each: tuple[int, int] | None = None

    @property
    def threads(self) -> int:
        """Of all of them."""
        return self.rows * self.columns * limits().thread_execution_width

    def share(self, tile: Tile) -> tuple[int, int]:
        """Simdgroup matrices of one simdgroup, along m and n. Raises FoundryError."""
        found = self.each or _divided(tile, self.rows * MATRIX, self.columns * MATRIX)
        covered = self.rows * found[0] * MATRIX, self.columns * found[1] * MATRIX
        parts = f"{self.rows}x{self.columns} simdgroups with {found[0]}x{found[1]} matrices of 8x8"
        _check_coverage(tile, covered, parts)
        return found


@dataclass(frozen=True, slots=True)
class Threads:
    """Threads beside each other, without simdgroup matrices; each sums so many elements."""

    rows: int = 16
    columns: int = 16
    each: tuple[int, int] | None = None

    @property
    def threads(self) -> int:
        """Of all of them."""
        return self.rows * self.columns

    def share(self, tile: Tile) -> tuple[int, int]:
        """Elements of one thread, along m and n. Raises FoundryError."""
        found = self.each or _divided(tile, self.rows, self.columns)
        covered = self.rows * found[0], self.columns * found[1]
        parts = f"{self.rows}x{self.columns} threads with {found[0]}x{found[1]} elements"
        _check_coverage(tile, covered, parts)
        return found


def _divided(tile: Tile, rows: int, columns: int) -> tuple[int, int]:
    """As many as fit, at least one: what does not fit is found by coverage."""
    return max(tile.m // rows, 1), max(tile.n // columns, 1)


def _check_coverage(tile: Tile, covered: tuple[int, int], parts: str) -> None:
    wanted = tile.m, tile.n
    if covered == wanted:
        return
    lines = []
    for name, has, needs in zip(("rows", "columns"), covered, wanted, strict=True):
        if has < needs:
            lines.append(f"{name} {has} to {needs - 1} are never computed")
        elif has > needs:
            lines.append(f"{name} {needs} to {has - 1} are not in it")
    raise FoundryError(
        "tile-coverage",
        f"tile {tile}: {parts} compute {covered[0]}x{covered[1]} of {wanted[0]}x{wanted[1]}; "
        + ", ".join(lines),
    )
