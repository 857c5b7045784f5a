"""Small spaces for tests."""

from __future__ import annotations

from typing import Any

from assay.sweeps.declaration import space
from assay.sweeps.points import Space


def small(**entries: Any) -> Space:
    """Twelve points of two kernels; four have no time."""
    return space(
        {
            "name": "small",
            "axes": {"chip": ["m1", "m4-max"], "m": 1, "n": [64, 256], "k": 128},
            "variants": {"gemv_columns": {"rows_per_lane": [2, 3]}, "gemv": {}},
            **entries,
        }
    )
