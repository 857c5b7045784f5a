"""Errors of predictions, by group and against the bars."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from .cases import Case, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """A case and what came out; `value` is None where there is none, `problem` says why."""

    case: Case
    value: float | None
    problem: str = ""

    @property
    def error(self) -> float | None:
        """Predicted over published, less 1; of a quantity that is a time or a rate alike."""
        if self.value is None or self.case.row.value == 0:
            return None
        return self.value / self.case.row.value - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """What a group's errors may be at most: the median and the 90th percentile."""

    median: float
    p90: float | None = None


INSTRUCTION_BAR = Bar(median=0.10)
KERNEL_BAR = Bar(median=0.20, p90=0.45)
RANK_BAR = 0.9
BARS = {
    "instructions": INSTRUCTION_BAR,
    "gemm": KERNEL_BAR,
    "bandwidth": KERNEL_BAR,
    "reductions": KERNEL_BAR,
    "llm": KERNEL_BAR,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Errors of the rows of one group with one status."""

    group: str
    status: Status
    count: int
    median: float
    p90: float
    bias: float  # median of the signed errors

    @property
    def passed(self) -> bool | None:
        """Whether the bar holds; None where there is none."""
        bar = BARS.get(self.group)
        if bar is None or self.status is not Status.COUNTED:
            return None
        return self.median <= bar.median and (bar.p90 is None or self.p90 <= bar.p90)


def summarise(predictions: Iterable[Prediction]) -> list[Summary]:
    """One for each group and status that has rows, in the order of the groups."""
    errors: dict[tuple[str, Status], list[float]] = {}
    for prediction in predictions:
        error = prediction.error
        if error is not None:
            key = (prediction.case.group, prediction.case.status)
            errors.setdefault(key, []).append(error)
    order = [*BARS, *sorted({group for group, _ in errors} - BARS.keys())]
    statuses = list(Status)
    found = []
    for group, status in sorted(
        errors, key=lambda key: (order.index(key[0]), statuses.index(key[1]))
    ):
        signed = errors[group, status]
        absolute = [abs(error) for error in signed]
        found.append(
            Summary(
                group=group,
                status=status,
                count=len(signed),
                median=statistics.median(absolute),
                p90=float(np.percentile(absolute, 90)),
                bias=statistics.median(signed),
            )
        )
    return found
