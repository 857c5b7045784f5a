"""What the note's arithmetic is made of, and where the model says the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from assay.hw.apple.core.occupancy import occupancy
from assay.hw.apple.facts.chips import Chip
from assay.hw.apple.facts.chips import chip as chip_named
from assay.hw.apple.facts.instructions import instruction_set

from ..forms import FORMS, FP4, budget
from ..runs import NOTE, Result, Results, Run

_SCALE_BYTES: Final = 2


def note() -> Chip:
    return chip_named(NOTE)


def fitting(memory_bytes: int) -> Callable[[], float]:
    """Threadgroups of a core by threadgroup memory alone, as the note counts them."""

    def count() -> float:
        found = occupancy(
            note(), registers=16, simdgroups=4, threadgroup_memory=memory_bytes, threadgroups=4096
        )
        return found.threadgroups

    return count


def tile_bytes() -> int:
    """Read from device memory for a tile: x, weights, and their scales."""
    whole = budget("three_stages")
    tile = FORMS["three_stages"].tile
    scales = tile.n * tile.k // FP4.group * _SCALE_BYTES
    return whole.read_a + whole.read_b + scales


def share_of_core() -> float:
    return note().bandwidth / note().cores


def mma(chip: Chip, name: str = "mma_8x8x8_f16") -> float:
    return instruction_set(chip.timing).classes[name].interval


def multiply_cycles() -> float:
    return FORMS["three_stages_divergent"].multiplications * mma(note())


def bytes_of(form: str, name: str) -> Callable[[], float]:
    return lambda: float(getattr(budget(form), name))


def steady(results: Results, form: str, chip: str) -> Result:
    return results[Run(form=form, chip=chip, m=512, n=4096, k=512)]


def on_core(form: str) -> Callable[[Results, str], float]:
    return lambda results, chip: steady(results, form, chip).resident
