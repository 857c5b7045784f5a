"""In which order a convolution visits the taps of its kernel, and where their data are.

With stride 1 the taps are rows and columns. With stride 2 the input has been taken apart into four
planes, of its even and odd rows and columns (`segmentation`), in the order EE, EO, OE, OO: taps
of every second row and column then lie in one plane, and a tap's neighbours are its neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.hw.torq.words.commands import Dim

from ...slice.kernel import COLUMNS_PER_WORD, SliceKernel, Window
from ...slice.loops import KERNEL_COLUMN, KERNEL_ROW, Index, Loop


@dataclass(frozen=True, slots=True, kw_only=True)
class Tap:
    """The tap of the current step: subscripts of the weights, bytes from the plane's start."""

    weights: tuple[Loop, ...]
    place: Index
    every: int = 1


class Rows:
    """Stride 1: row after row."""

    def __init__(self, window: Window, element: int) -> None:
        self.rows = window.top + 1 + window.bottom
        self.columns = window.left + 1 + window.right
        self._row = window.width * element
        self._element = element

    @property
    def shape(self) -> tuple[int, ...]:
        """Dimensions of the weights of a channel."""
        return self.rows, self.columns

    def ordered(self, weights: NDArray[np.generic]) -> NDArray[np.generic]:
        """Weights (..., kh, kw) with the taps as they are visited."""
        return weights

    @contextmanager
    def each(self, k: SliceKernel) -> Iterator[Tap]:
        """Loops over the taps."""
        with k.each(self.rows, KERNEL_ROW) as j, k.each(self.columns, KERNEL_COLUMN) as i:
            yield Tap(
                weights=(j, i),
                place=j * self._row + i * self._element,
                every=min(COLUMNS_PER_WORD, self.columns),
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Half:
    """Every second tap along an axis: how many, from which plane, how far before the output."""

    taps: int
    plane: int
    border: int


def halves(border: int, size: int) -> tuple[Half, Half]:
    """The even and the odd taps of a kernel of `size` that starts `border` before the output."""
    odd_start = border & 1
    return (
        Half(taps=(size + 1) // 2, plane=odd_start, border=(border + 1) // 2),
        Half(taps=size // 2, plane=1 - odd_start, border=border // 2),
    )


class Quadrants:
    """Stride 2: for each row of the even half the taps EE, EO, OE, OO."""

    def __init__(self, window: Window, element: int, quadrant: int) -> None:
        """`quadrant`: bytes from one of the four planes to the next."""
        self.rows = halves(window.top, window.top + 1 + window.bottom)
        self.columns = halves(window.left, window.left + 1 + window.right)
        self._row = window.width * element
        self._element = element
        self._quadrant = quadrant

    @property
    def shape(self) -> tuple[int, ...]:
        """Dimensions of the weights of a channel."""
        rows, columns = self.rows, self.columns
        return ((rows[0].taps + rows[1].taps) * (columns[0].taps + columns[1].taps),)

    @property
    def first_plane(self) -> int:
        """Bytes to the plane of the first tap."""
        return (2 * self.rows[0].plane + self.columns[0].plane) * self._quadrant

    def ordered(self, weights: NDArray[np.generic]) -> NDArray[np.generic]:
        """Weights (..., kh, kw) as (..., taps) in the order in which they are visited."""
        taps = [
            weights[..., 2 * row + down, 2 * column + right]
            for row in range(self.rows[0].taps)
            for down in range(2)
            if row < self.rows[down].taps
            for right in range(2)
            for column in range(self.columns[right].taps)
        ]
        return np.stack(taps, axis=-1)

    @contextmanager
    def each(self, k: SliceKernel) -> Iterator[Tap]:
        """One loop over the taps, which is four of the data agent."""
        rows, columns = self.rows, self.columns
        words = sum(-(-half.taps // COLUMNS_PER_WORD) for half in columns)
        dims = (
            Dim(
                count=-(-columns[0].taps // COLUMNS_PER_WORD),
                stride=COLUMNS_PER_WORD * self._element,
                tag=KERNEL_COLUMN,
            ),
            Dim(
                count=2 if columns[1].taps else 1,
                stride=self._between(columns, 1, self._element),
                tag=KERNEL_COLUMN,
            ),
            Dim(
                count=2 if rows[1].taps else 1,
                stride=self._between(rows, 2, self._row),
                tag=KERNEL_ROW,
            ),
            Dim(count=rows[0].taps, stride=self._row, tag=KERNEL_ROW),
        )
        visits = (rows[0].taps + rows[1].taps) * words
        with k.each(self.shape[0], data=dims, transfers=visits) as tap:
            yield Tap(weights=(tap,), place=Index({}, self.first_plane))

    def _between(self, both: tuple[Half, Half], planes: int, step: int) -> int:
        """Bytes from an even tap to the odd one of the same number."""
        even, odd = both
        return (odd.plane - even.plane) * planes * self._quadrant + (
            even.border - odd.border
        ) * step
