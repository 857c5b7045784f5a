"""Pooling over tensors whose channels are innermost: any kernel, stride and padding.

Outputs whose window is cut by an edge in the same way are one task each, so nothing outside of the
tensor is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.hw.torq.words.commands import SliceTask

from ..slice.derive import ACT_WORDS
from ..slice.errors import IllegalSliceProgram
from ..slice.formats import bypass_lanes, is_float, limits
from ..slice.kernel import SliceKernel
from ..slice.loops import FLAT
from ..slice.lram import Lram
from ..slice.scaling import Rescale, bias_pairs, channel_runs
from ..slice.tensor import Tensor

_VECTOR_BYTES = 64
_RECIPROCAL_BITS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """`count` outputs from `first` on whose windows have the cells `cell` to `cell + cells`.

    `start` is where the first cell of the first window is in the input.
    """

    first: int
    count: int
    start: int
    cells: int


def cuts(size: int, kernel: int, stride: int, before: int, outputs: int) -> list[Cut]:
    """The outputs along one axis, by how the edges cut their windows."""
    found: list[Cut] = []
    for place in range(outputs):
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


def max_pool2d(
    x: Tensor,
    output: Tensor,
    *,
    kernel: tuple[int, int],
    stride: tuple[int, int],
    padding: Sequence[int] = (0, 0),
) -> list[SliceTask]:
    """Tasks for the largest of each window of x (n, h, w, c); `padding` (top, left).

    Raises IllegalSliceProgram.
    """
    low, high = limits(x.dtype)
    return [
        _pool("max_pool2d", "MAX", x, output, rows, columns, stride, Rescale(low=low, high=high))
        for rows, columns in _windows(x, output, kernel, stride, padding)
    ]


def avg_pool2d(
    lram: Lram,
    x: Tensor,
    output: Tensor,
    *,
    kernel: tuple[int, int],
    stride: tuple[int, int],
    padding: Sequence[int] = (0, 0),
    input_zp: int = 0,
    output_zp: int = 0,
) -> list[SliceTask]:
    """Tasks for the mean of those cells of each window of x (n, h, w, c) that are inside.

    Raises IllegalSliceProgram.
    """
    low, high = limits(output.dtype)
    tasks = []
    for rows, columns in _windows(x, output, kernel, stride, padding):
        count = rows.cells * columns.cells
        multiplier, shift = reciprocal(count)
        scaling = Rescale(
            multipliers=(multiplier,), shifts=(shift,), zero_point=output_zp, low=low, high=high
        )
        (run,) = channel_runs(scaling, 1)
        pair = lram.constant(
            f"scale of {output.name}", bias_pairs([-input_zp * count], run.factors)
        )
        tasks.append(
            _pool("avg_pool2d", "ACC", x, output, rows, columns, stride, scaling, pair, run.shift)
        )
    return tasks


def reciprocal(value: int) -> tuple[int, int]:
    """TOSA's multiplier and shift that stand for 1 / value."""
    k = (value - 1).bit_length()
    return (((1 << _RECIPROCAL_BITS) + 1) << k) // value, _RECIPROCAL_BITS + k


def _windows(
    x: Tensor,
    output: Tensor,
    kernel: tuple[int, int],
    stride: tuple[int, int],
    padding: Sequence[int],
) -> list[tuple[Cut, Cut]]:
    if is_float(x.dtype):
        raise IllegalSliceProgram("formats", f"pooling: {x.dtype} is no integer")
    if x.shape[0] != output.shape[0] or x.shape[3] != output.shape[3]:
        raise IllegalSliceProgram("shapes", f"pooling: {x.shape} to {output.shape}")
    rows = cuts(x.shape[1], kernel[0], stride[0], padding[0], output.shape[1])
    columns = cuts(x.shape[2], kernel[1], stride[1], padding[1], output.shape[2])
    if any(cut.cells < 1 for cut in (*rows, *columns)):
        raise IllegalSliceProgram("shapes", "pooling: a window lies outside of the input")
    return [(row, column) for row in rows for column in columns]


def _pool(
    name: str,
    op: str,
    x: Tensor,
    output: Tensor,
    rows: Cut,
    columns: Cut,
    stride: tuple[int, int],
    scaling: Rescale,
    pair: Tensor | None = None,
    shift: int = 0,
) -> SliceTask:
    channels = x.shape[3]
    lanes = bypass_lanes(x.dtype, op)
    vector = _VECTOR_BYTES // x.element
    width = ACT_WORDS // lanes.partials
    k = SliceKernel(name)
    if pair is not None:
        k.load_bias(pair[0])
    with (
        k.each(x.shape[0]) as n,
        k.each(rows.count) as i,
        k.each(columns.count) as j,
        k.each(-(-channels // vector), FLAT) as v,
    ):
        with k.each(rows.cells) as down, k.each(columns.cells) as right:
            cell = x[n, i * stride[0] + down + rows.start, j * stride[1] + right + columns.start]
            k.load_data(cell.at(v * (vector * x.element)).with_block((vector, x.element)))
            k.combine(op)
        with k.each(vector // width, FLAT):
            k.activate_scaled(width=width, scaling=scaling, shift=shift)
            k.append(output[n, i + rows.first, j + columns.first], channels)
    return k.task()
