"""Sums and maxima of rows, and weights as numbers."""

from __future__ import annotations

from typing import Any, Final

from ..formats import Format, check_columns
from ..kernels import Compound, PolicyStage, TemplateStage, custom, derived, output, per_row, tensor
from ..structs.names import uint
from .base import Listed, Ready, last_of, scalar_of, standalone, text_of
from .kernels import GemvParams


def row_sum(element: Any = float) -> Ready:
    """`y = sum(x)` along the last dimension; in float."""
    return _reduction("row_sum", element)


def row_max(element: Any = float) -> Ready:
    """`y = max(x)` along the last dimension."""
    return _reduction("row_max", element)


def dequantise(weights: Format, rows: int, columns: int, element: Any = float) -> Ready:
    """What packed weights [rows, columns] stand for."""
    scalar = scalar_of(element)
    check_columns(weights, columns)
    arguments = {
        "y": output(scalar, (rows, columns)),
        "params": derived(GemvParams, lambda given: GemvParams(rows=rows, columns=columns)),
    }
    main = TemplateStage(text_of("dequantise", scalar), "dequantise", arguments)
    fused = Compound(f"dequantise_{weights.name}", prologue=[PolicyStage(weights)], main=main)
    groups = -(-columns // 256)
    return fused, custom(lambda given: (groups, rows), (32,))


def _reduction(function: str, element: Any) -> Ready:
    scalar = scalar_of(element)
    arguments = {
        "x": tensor(scalar),
        "y": output(scalar, lambda given: given["x"].shape[:-1]),
        "columns": derived(uint, last_of),
    }
    return standalone("reduce", function, scalar, arguments), per_row("x")


LISTED: Final = {
    "row_sum": Listed(row_sum),
    "row_max": Listed(row_max),
    "dequantise": Listed(dequantise, reads_weights=True, sizes={"rows": 1, "columns": 256}),
}
