"""The kernels that the note speaks of, by name."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Final

from assay.compiler.foundry.pipelines import Budget
from assay.compiler.foundry.structs.names import HALF
from assay.foundry import WordColumns
from assay.foundry.products import MARLIN, Pipeline, Tile

FP4: Final = WordColumns("fp4", 32)
"""The note's weights: FP4 with a scale for 32, which a tile of 32 reads one of for each column."""
BITS: Final = 4


def _with(name: str, m: int, n: int, k: int) -> Pipeline:
    return replace(MARLIN[name], tile=Tile(m, n, k))


FORMS: Final[dict[str, Pipeline]] = {
    **MARLIN,
    "four_stages": replace(MARLIN["two_stages"], buffers=4),
    "decode, 1 buffer": replace(MARLIN["decode"], buffers=1),
    "decode, 2 buffers": replace(MARLIN["decode"], buffers=2),
    "three_stages 64x64x16": _with("three_stages", 64, 64, 16),
    "three_stages 48x48x32": _with("three_stages", 48, 48, 32),
    "three_stages 32x64x32": _with("three_stages", 32, 64, 32),
    "three_stages 32x32x32": _with("three_stages", 32, 32, 32),
}


@cache
def budget(form: str) -> Budget:
    """What a form takes, in bytes; tiles are of halves."""
    return Budget(pipeline=FORMS[form], element=HALF, weight_bits=BITS)
