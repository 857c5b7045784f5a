"""Published measurements of Apple GPUs, one row each, as their sources give them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One measurement.

    Attributes:
        ident: number of the row.
        chip: what the source calls the machine.
        workload: what was run.
        metric: what was measured.
        value: the result, in `unit`.
        confidence: "high", "medium" or "low".
        kind: "measured", "derived" or "digitised".
        note: what the source says about it.
    """

    ident: int
    chip: str
    workload: str
    metric: str
    value: float
    unit: str
    source: str
    confidence: str
    kind: str
    note: str


@cache
def published() -> tuple[Row, ...]:
    """All rows, in the order of their numbers."""
    data = json.loads((resources.files(__package__) / "published.json").read_text("utf-8"))
    sources = data["sources"]
    return tuple(
        Row(
            ident=ident,
            chip=chip,
            workload=workload,
            metric=metric,
            value=float(value),
            unit=unit,
            source=sources[source],
            confidence=confidence,
            kind=kind,
            note=note,
        )
        for ident, chip, workload, metric, value, unit, source, confidence, kind, note in data[
            "rows"
        ]
    )
