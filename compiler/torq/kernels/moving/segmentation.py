"""Planes taken apart into even and odd rows and columns."""

from __future__ import annotations

from collections.abc import Sequence

from assay.hw.torq.words.commands import Dim

from ...operators.moves import Segment
from ...operators.tensors import Layout, Region
from ...slice.derive import ACT_WORDS
from ...slice.formats import limits
from ...slice.kernel import SliceKernel
from ...slice.loops import FLAT
from ..alike import VECTOR_BYTES
from ..kernel import InputRegion, Kernel, Places, TileDim

_MOST_BYTES = 2


class SegmentKernel(Kernel[Segment]):
    """Of elements of one or two bytes; rows of a tile come in pairs."""

    name = "segmentation"

    def accepts(self, op: Segment) -> str | None:
        """None, or why it cannot run the operator."""
        if (op.x.layout, op.y.layout) != (Layout.PLANES, Layout.QUADRANTS):
            return f"{op.x.layout.value} to {op.y.layout.value}"
        if op.x.shape != op.y.shape or op.x.dtype != op.y.dtype or op.x.element > _MOST_BYTES:
            return f"{op.x.shape} of {op.x.dtype} to {op.y.shape} of {op.y.dtype}"
        return None

    def tile_dims(self, op: Segment) -> tuple[TileDim, ...]:
        """Batches, channels, pairs of rows."""
        return (TileDim(axis=0), TileDim(axis=1), TileDim(axis=2, granularity=2))

    def input_regions(self, op: Segment, out: Region) -> tuple[InputRegion, ...]:
        """The same elements."""
        return (InputRegion(operand="x", region=out),)

    def nests(self, op: Segment, out: Region, places: Places) -> Sequence[SliceKernel]:
        """Planes are read as they are and written apart."""
        x, y = places["x"].bits, places["y"].bits
        n, c, h, w = out.sizes
        element, quadrant = x.element, y.strides[2]
        vector = VECTOR_BYTES // element
        low, high = limits(x.dtype)
        stream = (
            Dim(count=element, stride=1, tag="B"),
            Dim(count=2, stride=quadrant, tag="X"),
            Dim(count=w // 2, stride=element, tag="X"),
            Dim(count=2, stride=2 * quadrant, tag="Y"),
            Dim(count=h // 2, stride=y.strides[3], tag="Y"),
        )
        k = SliceKernel("segmentation")
        with k.each(n) as i, k.each(c) as j, k.each(-(-h * w // vector), FLAT) as v:
            k.load_data(x[i, j].at(v * (vector * element)).with_block((vector, element)))
            k.combine("BOR")
            with k.each(vector // ACT_WORDS, FLAT):
                k.activate(width=ACT_WORDS, low=low, high=high)
                k.append(y[i, j], stream)
        return [k]
