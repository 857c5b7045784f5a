"""The model's own error by kind of kernel, which `assay time` states beside what it predicts."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

import numpy as np

from .cases import Status
from .summary import Prediction

# Kinds of `assay.hw.apple.core.kind`, and the groups of rows that tell of each.
GROUPS: Mapping[str, tuple[str, ...]] = {
    "matrix": ("gemm", "attention"),
    "memory": ("bandwidth", "reductions"),
    "arithmetic": ("instructions",),
    "shared": ("threadgroup memory and atomics", "divergence and registers", "fft"),
}
_HEAD = """\
# How far off predicted times were, by kind of kernel, over the rows that count in
# docs/how-it-works/timing-validation.md. Written by `python -m benchmarks validation --write`.

[sources]
validation = "docs/how-it-works/timing-validation.md"
"""
_ENTRY = (
    '{name} = {{ value = {value}, unit = "{unit}", source = "validation", confidence = "high" }}'
)


def errors_of(predictions: Sequence[Prediction], kind: str) -> list[float]:
    """Errors without sign of the counted rows of a kind."""
    return [
        abs(p.error)
        for p in predictions
        if p.case.group in GROUPS[kind] and p.case.status is Status.COUNTED and p.error is not None
    ]


def accuracy_text(predictions: Sequence[Prediction]) -> str:
    """The text of `hw/apple/facts/accuracy.toml`."""
    parts = [_HEAD]
    for kind in GROUPS:
        errors = errors_of(predictions, kind)
        numbers = (
            ("count", len(errors), "row"),
            ("median", round(statistics.median(errors), 4), "ratio"),
            ("p90", round(float(np.percentile(errors, 90)), 4), "ratio"),
        )
        parts.append(f"[kinds.{kind}]")
        parts += [_ENTRY.format(name=name, value=value, unit=unit) for name, value, unit in numbers]
        parts.append("")
    return "\n".join(parts).rstrip("\n") + "\n"
