"""What memory holds while a random kernel runs: the near part in arrays, the rest by place."""

from __future__ import annotations

from typing import Any

import numpy as np

from .random_kernels import ARRAYS, BUFFERS, Memory, RandomKernel

_NEAR = 1 << 16  # bytes that have their place at once
_FAR = 1 << 13  # places for others
Array = Any


class Contents:
    """Bytes of threadgroup arrays, by threadgroup, and of buffers."""

    def __init__(self, kernel: RandomKernel, groups: int) -> None:
        count = groups * ARRAYS + len(BUFFERS)
        self._groups = groups
        self._bytes = np.zeros((count, _NEAR + _FAR), np.uint8)
        self._written = np.zeros((count, _NEAR + _FAR), bool)
        self._far: dict[int, int] = {}

    def write(self, memory: Memory, groups: Array, starts: Array, values: Array) -> None:
        """Store bytes, of each thread some."""
        row, at = self._row(memory, groups), self._at(starts, values.shape[1])
        self._bytes[row, at] = values
        self._written[row, at] = True

    def read(
        self, memory: Memory, groups: Array, starts: Array, length: int
    ) -> tuple[Array, Array]:
        """Bytes, and which of them were written; others are small numbers of any kind."""
        row, at = self._row(memory, groups), self._at(starts, length)
        known = self._written[row, at]
        fresh = np.where(at % 4 == 0, (at // 4 * 13 + 5) % 64, 0).astype(np.uint8)
        return np.where(known, self._bytes[row, at], fresh), known

    def _row(self, memory: Memory, groups: Array) -> Array:
        if isinstance(memory, int):
            return (groups * ARRAYS + memory)[:, None]
        return np.full((len(groups), 1), self._groups * ARRAYS + BUFFERS.index(memory))

    def _at(self, starts: Array, length: int) -> Array:
        at = starts[:, None] + np.arange(length)
        far = at >= _NEAR
        if far.any():
            at[far] = [
                _NEAR + self._far.setdefault(each, len(self._far)) % _FAR for each in at[far]
            ]
        return at
