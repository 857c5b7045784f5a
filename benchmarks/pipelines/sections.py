"""Times that sections of the note speak of without a number."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from .advice import Table, at, by_chip, time_over
from .claims.claim import HYBRID, SHORT, TILES
from .forms import FORMS
from .runs import DEPTHS, Results

_TILES: Final = {
    str(FORMS[form].tile): form
    for form in ("three_stages", *(each for each in FORMS if each.startswith("three_stages ")))
}
"""Forms by tile."""


def _short(results: Results) -> Iterable[Table]:
    pair = ("three_stages 64x64x16", "three_stages")

    def cell(k: object, chip: str) -> str:
        assert isinstance(k, int)
        return f"{time_over(results, pair, chip, 512, 4096, k):.2f}"

    yield by_chip(
        "The note prefers 16 of k at a time below K = 256, and 32 from 4096 on. Time with 16 over "
        "that with 32, M = 512, N = 4096",
        "K",
        DEPTHS,
        cell,
    )


def _tiles(results: Results) -> Iterable[Table]:
    def cell(tile: object, chip: str) -> str:
        return f"{at(results, _TILES[str(tile)], chip, 512, 4096, 512).microseconds:.0f}"

    title = "Microseconds in three stages, M = 512, N = 4096, K = 512"
    yield by_chip(title, "tile", _TILES, cell)


def _hybrid(results: Results) -> Iterable[Table]:
    forms = ("two_stages", "three_stages", "fused", "hybrid")

    def cell(form: object, chip: str) -> str:
        moved = at(results, str(form), chip, 512, 4096, 512).bytes
        return f"{moved['l1'] / 1e6:.0f} / {moved['l2'] / 1e6:.0f} / {moved['dram'] / 1e6:.1f}"

    yield by_chip(
        "Who asks for how much: megabytes through L1, L2 and DRAM, M = 512, N = 4096, K = 512",
        "form",
        forms,
        cell,
    )


TABLES: Final[Mapping[str, Callable[[Results], Iterable[Table]]]] = {
    TILES: _tiles,
    SHORT: _short,
    HYBRID: _hybrid,
}
"""By section."""
