"""Pooling over rows, whose channels are innermost: any kernel, stride and padding.

Outputs whose window is cut by an edge in the same way are one task each, so nothing outside of the
tensor is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..operators.reductions import Mean, Pool
from ..operators.tensors import Layout, Region
from ..slice.counts import steps_refusal
from ..slice.derive import ACT_WORDS
from ..slice.formats import bypass_lanes, is_float
from ..slice.kernel import SliceKernel
from ..slice.loops import FLAT
from ..slice.scaling import bias_pairs
from .alike import SCALE, VECTOR_BYTES, packed_scale, scale_refusal, single_scale
from .kernel import ConstantSpec, InputRegion, Kernel, Places, TileDim, Values
from .means import OPERATIONS, window_scale
from .strided import start


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """`count` outputs from `first` on whose windows have `cells` cells.

    `start` is where the first cell of the first window is in the input.
    """

    first: int
    count: int
    start: int
    cells: int


def cuts(size: int, kernel: int, stride: int, before: int, outputs: range) -> list[Cut]:
    """Some of the outputs along one axis, by how the edges cut their windows."""
    found: list[Cut] = []
    for place in outputs:
        origin = place * stride - before
        start, end = max(origin, 0), min(origin + kernel, size)
        whole = start == origin and end == origin + kernel
        last = found[-1] if found else None
        if whole and last is not None and last.cells == kernel:
            grown = Cut(first=last.first, count=last.count + 1, start=last.start, cells=kernel)
            found[-1] = grown
        else:
            found.append(Cut(first=place, count=1, start=start, cells=end - start))
    return found


class RowsPoolKernel(Kernel[Pool]):
    """Integers in rows (n, h, w, c)."""

    name = "pool of rows"

    def accepts(self, op: Pool) -> str | None:
        """None, or why it cannot run the operator."""
        if op.x.layout is not Layout.ROWS or op.y.layout is not Layout.ROWS:
            return f"{op.x.layout.value} to {op.y.layout.value}; rows are needed"
        if is_float(op.x.dtype) or op.kind not in OPERATIONS:
            return f"{op.kind} of {op.x.dtype}"
        shapes = op.x.shape, op.y.shape
        if {len(shape) for shape in shapes} != {4} or shapes[0][::3] != shapes[1][::3]:
            return f"{op.x.shape} to {op.y.shape}"
        rows, columns = _cuts(op, Region.whole(op.y.shape))
        if any(cut.cells < 1 for cut in (*rows, *columns)):
            return "a window lies outside of the input"
        return None

    def tile_dims(self, op: Pool) -> tuple[TileDim, ...]:
        """Any axis."""
        vector = VECTOR_BYTES // op.x.element
        return (*(TileDim(axis=axis) for axis in range(3)), TileDim(axis=3, best=vector))

    def input_regions(self, op: Pool, out: Region) -> tuple[InputRegion, ...]:
        """What all windows cover."""
        starts, sizes = [out.starts[0]], [out.sizes[0]]
        for found in _cuts(op, out):
            low = min(cut.start for cut in found)
            starts.append(low)
            sizes.append(_end(op, found, len(starts) - 2) - low)
        region = Region(starts=(*starts, out.starts[3]), sizes=(*sizes, out.sizes[3]))
        return (InputRegion(operand="x", region=region),)

    def constants(self, op: Pool, out: Region) -> tuple[ConstantSpec, ...]:
        """Of means, a bias and factor for each number of cells."""
        if op.kind == "max":
            return ()
        return (ConstantSpec(name="scales", dtype="int32", shape=(len(_counts(op, out)), 2)),)

    def pack(self, op: Pool, out: Region, values: Values) -> dict[str, NDArray[np.generic]]:
        """From the operator itself."""
        if op.kind == "max":
            return {}
        pairs = [
            bias_pairs([-op.input_zp * count], single_scale(window_scale(op, count)).factors)
            for count in _counts(op, out)
        ]
        return {"scales": np.concatenate(pairs)}

    def nests(self, op: Pool, out: Region, places: Places) -> Sequence[SliceKernel]:
        """One for each way in which windows are cut."""
        rows, columns = _cuts(op, out)
        return [_pool(op, out, places, row, column) for row in rows for column in columns]


def _cuts(op: Pool, out: Region) -> tuple[list[Cut], list[Cut]]:
    rows, columns = (
        cuts(
            op.x.shape[1 + axis],
            op.kernel[axis],
            op.stride[axis],
            (op.padding.top, op.padding.left)[axis],
            range(out.starts[1 + axis], out.stops[1 + axis]),
        )
        for axis in (0, 1)
    )
    return rows, columns


def _end(op: Pool, found: list[Cut], axis: int) -> int:
    return max(cut.start + (cut.count - 1) * op.stride[axis] + cut.cells for cut in found)


def _counts(op: Pool, out: Region) -> list[int]:
    """The numbers of cells that windows have, each once."""
    rows, columns = _cuts(op, out)
    return sorted({row.cells * column.cells for row in rows for column in columns})


def _pool(op: Pool, out: Region, places: Places, rows: Cut, columns: Cut) -> SliceKernel:
    x, y = places["x"], places["y"]
    count = rows.cells * columns.cells
    scaling = window_scale(op, count)
    all_rows, all_columns = _cuts(op, out)
    top, left = (min(cut.start for cut in found) for found in (all_rows, all_columns))
    operation = OPERATIONS[op.kind]
    vector = VECTOR_BYTES // x.element
    width = ACT_WORDS // bypass_lanes(x.dtype, operation).partials
    channels = out.sizes[3]
    k = SliceKernel(f"{op.kind}_pool2d")
    if op.kind == "mean":
        k.load_bias(places["scales"][_counts(op, out).index(count)])
    with (
        k.each(out.sizes[0]) as n,
        k.each(rows.count) as i,
        k.each(columns.count) as j,
        k.each(-(-channels // vector), FLAT) as v,
    ):
        with k.each(rows.cells) as down, k.each(columns.cells) as right:
            row = i * op.stride[0] + down + (rows.start - top)
            column = j * op.stride[1] + right + (columns.start - left)
            cell = x[n, row, column].at(v * (vector * x.element))
            k.load_data(cell.with_block((vector, x.element)))
            k.combine(operation)
        with k.each(vector // width, FLAT):
            k.activate_scaled(width=width, scaling=scaling, shift=single_scale(scaling).shift)
            row, column = i + (rows.first - out.starts[1]), j + (columns.first - out.starts[2])
            k.append(y[n, row, column], channels)
    return k


class MeanKernel(Kernel[Mean]):
    """Means over rows and columns of (n, h, w, c)."""

    name = "mean of rows"

    def accepts(self, op: Mean) -> str | None:
        """None, or why it cannot run the operator."""
        if op.x.layout is not Layout.ROWS or op.y.layout is not Layout.ROWS:
            return f"{op.x.layout.value} to {op.y.layout.value}; rows are needed"
        if len(op.x.shape) != 4 or op.y.shape != (op.x.shape[0], op.x.shape[3]):
            return f"{op.x.shape} to {op.y.shape}"
        if is_float(op.x.dtype) or is_float(op.y.dtype):
            return f"{op.x.dtype} to {op.y.dtype}"
        pixels = op.x.shape[1] * op.x.shape[2]
        return steps_refusal(pixels) or scale_refusal(op.rescale)

    def tile_dims(self, op: Mean) -> tuple[TileDim, ...]:
        """Batches, channels."""
        return (TileDim(axis=0), TileDim(axis=1, best=VECTOR_BYTES // op.x.element))

    def input_regions(self, op: Mean, out: Region) -> tuple[InputRegion, ...]:
        """All rows and columns."""
        (n, c), (batches, channels) = out.starts, out.sizes
        h, w = op.x.shape[1:3]
        region = Region(starts=(n, 0, 0, c), sizes=(batches, h, w, channels))
        return (InputRegion(operand="x", region=region),)

    def constants(self, op: Mean, out: Region) -> tuple[ConstantSpec, ...]:
        """Bias and factor."""
        return (SCALE,)

    def pack(self, op: Mean, out: Region, values: Values) -> dict[str, NDArray[np.generic]]:
        """From the operator itself."""
        h, w = op.x.shape[1:3]
        return {"scales": packed_scale(op.rescale, -op.input_zp * h * w)}

    def nests(self, op: Mean, out: Region, places: Places) -> Sequence[SliceKernel]:
        """A vector of channels sums over all pixels."""
        x, y = places["x"], places["y"]
        vector = VECTOR_BYTES // x.element
        width = ACT_WORDS // bypass_lanes(x.dtype, "ACC").partials
        batches, channels = out.sizes
        k = SliceKernel("mean")
        k.load_bias(places["scales"][0])
        with k.each(batches) as n, k.each(-(-channels // vector), FLAT) as v:
            with k.each(x.shape[1]) as row, k.each(x.shape[2]) as column:
                pixel = x[n, row, column].at(v * (vector * x.element))
                k.load_data(pixel.with_block((vector, x.element)))
                k.combine("ACC")
            with k.each(vector // width, FLAT):
                shift = single_scale(op.rescale).shift
                k.activate_scaled(width=width, scaling=op.rescale, shift=shift)
                k.append(start(y, n * y.strides[0]), channels)
        return [k]
