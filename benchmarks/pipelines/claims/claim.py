"""A number of the note, and how those of a heading are collected."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from ..runs import CHIPS, Results

_NEAR: Final = 0.005
"""A number of the note that is so near to what it comes to is the same; bytes are counted."""

CURRENT: Final = "Current design: double-buffered"
WHY_THREE: Final = "Why 3 stages, not 4"
BUDGET: Final = "Memory budget: 64x64x32"
SMALLER: Final = "Memory budget: reduced tiles"
LOAD: Final = "Load phase"
COMPUTE: Final = "Compute phase"
BALANCE: Final = "Balance assessment"
TILES: Final = "Tile size trade-offs"
SHORT: Final = "TILE_K = 16 variant"
DECODE: Final = "TILE_M = 32 for decode"
HYBRID: Final = "Fused dequant + triple-buffer hybrid"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One number of the note.

    Attributes:
        section: the heading that it stands under.
        what: what it is the number of.
        says: the number, or the least and the largest.
        unit: of all three columns.
        comes_to: the same by arithmetic, with the note's own assumptions (chip `seed-m4-max`); None
            where it gives none.
        model: the same for a chip by measured facts and predicted runs; None where chips have no
            part in it.
        why: what the difference is from.
    """

    section: str
    what: str
    says: float | tuple[float, float]
    unit: str
    comes_to: Callable[[], float] | None
    model: Callable[[Results, str], float] | None = None
    why: str = ""

    @property
    def holds(self) -> bool | None:
        """Whether the note's number is what it comes to; None where nothing is to be computed."""
        if self.comes_to is None:
            return None
        low, high = self.says if isinstance(self.says, tuple) else (self.says, self.says)
        near = 0.0 if self.unit == "B" else _NEAR
        return low * (1 - near) <= self.comes_to() <= high * (1 + near)

    def predicted(self, results: Results) -> Mapping[str, float]:
        """By chip; empty where chips have no part in it."""
        return {chip: self.model(results, chip) for chip in CHIPS} if self.model else {}


@dataclass(slots=True)
class Section:
    """Collects the claims of one heading."""

    name: str
    found: list[Claim] = field(default_factory=list)

    def add(
        self,
        what: str,
        says: float | tuple[float, float],
        unit: str,
        comes_to: Callable[[], float] | None,
        model: Callable[[Results, str], float] | None = None,
        why: str = "",
    ) -> None:
        self.found.append(
            Claim(
                section=self.name,
                what=what,
                says=says,
                unit=unit,
                comes_to=comes_to,
                model=model,
                why=why,
            )
        )
