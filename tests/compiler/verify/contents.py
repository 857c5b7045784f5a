"""What memory holds while a random kernel runs: the near part in arrays, the rest by place."""

from __future__ import annotations

from typing import Any

import numpy as np

from .random_kernels import ARRAYS, BUFFERS, Memory

_NEAR = 1 << 16  # bytes that have their place at once
_FAR = 1 << 15  # places for others
Array = Any


class Contents:
    """Bytes of threadgroup arrays, and of buffers.

    Args:
        group, launch: each thread's, from 0.
    """

    def __init__(self, group: Array, launch: Array) -> None:
        self._group, self._launch = group, launch
        self._groups = int(group[-1]) + 1
        count = self._groups * ARRAYS + (int(launch[-1]) + 1) * len(BUFFERS)
        self._bytes = np.zeros((count, _NEAR + _FAR), np.uint8)
        self._written = np.zeros((count, _NEAR + _FAR), bool)
        self._far: dict[int, int] = {}

    def write(self, memory: Memory, threads: Array, starts: Array, values: Array) -> None:
        """Store bytes, of each thread some."""
        row, at = self._row(memory, threads), self._at(starts, values.shape[1])
        self._bytes[row, at] = values
        self._written[row, at] = True

    def read(
        self, memory: Memory, threads: Array, starts: Array, length: int
    ) -> tuple[Array, Array]:
        """Bytes, and which of them were written; others are small numbers of any kind."""
        row, at = self._row(memory, threads), self._at(starts, length)
        known = self._written[row, at]
        fresh = np.where(at % 4 == 0, (at // 4 * 13 + 5) % 64, 0).astype(np.uint8)
        return np.where(known, self._bytes[row, at], fresh), known

    def _row(self, memory: Memory, threads: Array) -> Array:
        if isinstance(memory, int):
            return (self._group[threads] * ARRAYS + memory)[:, None]
        before = self._groups * ARRAYS + BUFFERS.index(memory)
        return (self._launch[threads] * len(BUFFERS) + before)[:, None]

    def _at(self, starts: Array, length: int) -> Array:
        at = starts[:, None] + np.arange(length)
        far = at >= _NEAR
        if far.any():
            places, which = np.unique(at[far], return_inverse=True)
            slots = [self._far.setdefault(each, len(self._far)) for each in places.tolist()]
            at[far] = _NEAR + np.asarray(slots)[which] % _FAR
        return at
