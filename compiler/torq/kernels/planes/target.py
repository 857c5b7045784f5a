"""Where the pixels of an output plane go: one behind the other, or apart into quadrants."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass

from assay.hw.torq.words.commands import Dim

from ...operators.tensors import Layout
from ...slice.kernel import SliceKernel
from ...slice.loops import Index
from ...slice.tensor import Tensor
from .windows import Band


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A band of rows of planes `y`, in a layout; `columns` of each row."""

    y: Tensor
    layout: Layout
    band: Band
    columns: int

    @property
    def is_split(self) -> bool:
        """Whether pixels go to quadrants."""
        return self.layout is Layout.QUADRANTS

    @property
    def pixels(self) -> int:
        """Pixels that are written as one plane."""
        return self.columns if self.band.by_row else self.columns * self.band.count

    @property
    def start(self) -> int:
        """Bytes from a plane's start to the band's."""
        first = self.band.first
        if not self.is_split:
            return first * self.y.strides[-2]
        return first % 2 * 2 * self.y.strides[2] + first // 2 * self.y.strides[-2]

    def rows(self, k: SliceKernel, nest: ExitStack) -> tuple[Index, Index]:
        """Loops over the rows of a band by row: (rows from the first, bytes in y)."""
        if not self.band.by_row:
            return Index(), Index({}, self.start)
        step = self.y.strides[-2]
        if not self.is_split:
            row = nest.enter_context(k.each(self.band.count))
            return row * 1, row * step + self.start
        pair, parity = (
            nest.enter_context(k.each(self.band.count // 2)),
            nest.enter_context(k.each(2)),
        )
        rows = pair * 2 + parity
        return rows, pair * step + parity * (2 * self.y.strides[2]) + self.start

    def stream(self) -> int | tuple[Dim, ...]:
        """The plane that `append` fills."""
        if not self.is_split:
            return self.pixels
        element, quadrant = self.y.element, self.y.strides[2]
        row = (
            Dim(count=element, stride=1, tag="B"),
            Dim(count=2, stride=quadrant, tag="X"),
            Dim(count=self.columns // 2, stride=element, tag="X"),
        )
        if self.band.by_row or self.band.count == 1:
            return row
        return (
            *row,
            Dim(count=2, stride=2 * quadrant, tag="Y"),
            Dim(count=self.band.count // 2, stride=self.y.strides[3], tag="Y"),
        )
