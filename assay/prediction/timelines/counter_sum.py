"""A counter to which several things at once add their part."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_DIGITS = 6
"""Behind the point: what is less comes from adding and taking away again."""


class CounterSum:
    """Takes changes of a value in any order; gives the value over time."""

    def __init__(self) -> None:
        self._times: list[NDArray[np.int64]] = []
        self._changes: list[NDArray[np.float64]] = []

    def add(self, times: NDArray[np.int64], changes: NDArray[np.float64]) -> None:
        """The value changes by `changes` at `times`."""
        self._times.append(times)
        self._changes.append(changes)

    def add_spans(self, begin: NDArray[np.int64], end: NDArray[np.int64]) -> None:
        """The value is one more from each begin until its end."""
        ones = np.ones(len(begin))
        self.add(begin, ones)
        self.add(end, -ones)

    def points(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Times in order, each once, and the value from there on."""
        if not self._times:
            return np.zeros(0, np.int64), np.zeros(0)
        times = np.concatenate(self._times)
        at, inverse = np.unique(times, return_inverse=True)
        changes = np.bincount(inverse, np.concatenate(self._changes), minlength=len(at))
        # The sum of what goes up and down again is not always quite zero.
        values: NDArray[np.float64] = np.cumsum(changes)
        return at, values.round(_DIGITS)
