"""How many bytes are on their way to a core, over time."""

from __future__ import annotations

from math import ceil

import numpy as np
from numpy.typing import NDArray

_MOST = 4096
"""Points of the counter: more than a screen has, and few beside the slices."""


def mean_in_flight(
    flights: NDArray[np.float64], end: float
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """(cycle, mean number of bytes from there on until the next cycle), up to `end`; then 0.

    `flights` are rows of begin, end and bytes; what is still under way at `end` counts until then.
    """
    if not len(flights) or end <= 0:
        return np.zeros(0, np.int64), np.zeros(0)
    step = max(1, ceil(end / _MOST))
    edges = np.append(np.arange(0, ceil(end), step, dtype=np.int64), ceil(end))
    carried = _carried(flights[:, 0], flights[:, 2], edges)
    carried -= _carried(flights[:, 1], flights[:, 2], edges)
    means = np.round(np.diff(carried) / np.diff(edges), 1)
    values = np.append(np.maximum(means, 0.0), 0.0)
    changes = np.append(True, values[1:] != values[:-1])
    return edges[changes], values[changes]


def _carried(
    since: NDArray[np.float64], weight: NDArray[np.float64], edges: NDArray[np.int64]
) -> NDArray[np.float64]:
    """At each edge the sum of `weight` times how long ago `since` was."""
    order = np.argsort(since)
    before = np.searchsorted(since[order], edges)
    weights = np.append(0.0, np.cumsum(weight[order]))[before]
    moments = np.append(0.0, np.cumsum(weight[order] * since[order]))[before]
    found: NDArray[np.float64] = weights * edges - moments
    return found
