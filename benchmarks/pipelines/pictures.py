"""The pictures of the page: both pipelines on the same cycles."""

from __future__ import annotations

from typing import Final

import numpy as np

from assay.foundry.library import gemm
from assay.foundry.types import half

from .forms import FORMS, FP4

PICTURES: Final = {
    "pipeline-two-stages.svg": "two_stages",
    "pipeline-three-stages-divergent.svg": "three_stages_divergent",
}
"""Forms by file."""
_CYCLES: Final = (0.0, 30000.0)
_CHIP: Final = "m4-max"


def picture(name: str) -> str:
    """SVG."""
    kernel = gemm(FP4, 4096, half, pipeline=FORMS[PICTURES[name]])
    packed = FP4.pack(np.ones((4096, 512), np.float32))
    given = {"matrix": packed.matrix, "scales": packed.scales}
    x = np.ones((512, 512), np.float16)
    drawn = kernel.plot(chip=_CHIP, warm=False, cycles=_CYCLES, x=x, **given)
    return drawn.svg + "\n"
