"""Comparisons of kernels, counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .comparing import (
    EXECUTORCH,
    NEWER,
    SOURCE,
    TORCH,
    TORCH_25,
    TORCH_26,
    TORCH_NEWER,
    Row,
)

COMPARISONS = (SOURCE, NEWER, EXECUTORCH, TORCH, TORCH_25, TORCH_26, TORCH_NEWER)
_ALIKE = 0.1  # of the longer time


def is_timed_alike(row: Row) -> bool:
    """Whether the two take the same time, within a tenth."""
    return abs(row.left - row.right) <= _ALIKE * max(row.left, row.right)


def summary(rows: Sequence[Row]) -> dict[str, Any]:
    """For each kind of comparison how many are equal, and which are not."""
    return {
        against: _counts([row for row in rows if row.against == against]) for against in COMPARISONS
    }


def _counts(rows: Sequence[Row]) -> dict[str, Any]:
    done = [row for row in rows if not row.problem]
    timed = [row for row in done if row.left and row.right]
    alike = [row for row in timed if is_timed_alike(row)]
    return {
        "compared": len(done),
        "equal": sum(not row.different for row in done),
        "not_compared": len(rows) - len(done),
        "timed": len(timed),
        "timed_alike": len(alike),
        "different": sorted(row.kernel for row in done if row.different),
        "timed_apart": {
            row.kernel: [round(row.left * 1e6, 3), round(row.right * 1e6, 3)]
            for row in sorted(timed, key=lambda row: row.kernel)
            if not is_timed_alike(row)
        },
    }
