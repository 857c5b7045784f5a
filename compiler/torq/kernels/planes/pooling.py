"""The largest or the mean of each window over planes: four channels are in IRAM at a time."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

import numpy as np
from numpy.typing import NDArray

from ...operators.products import NO_PADDING
from ...operators.reductions import Pool
from ...operators.tensors import Layout, Region
from ...slice.derive import ACT_WORDS
from ...slice.formats import LIMITS, bypass_lanes
from ...slice.kernel import SliceKernel
from ...slice.loops import FLAT
from ..alike import SCALE, VECTOR_BYTES, packed_scale, single_scale
from ..kernel import ConstantSpec, InputRegion, Kernel, Places, TileDim, Values
from ..means import OPERATIONS, window_scale
from .sweeps import taps_of
from .target import Target
from .windows import Band, Sweep

GROUP = 4
_QUADRANT_BYTES = 2


class PlanesPoolKernel(Kernel[Pool]):
    """Integers in planes; with stride 2, in quadrants. Of means, windows have no padding."""

    name = "pool of planes"

    def accepts(self, op: Pool) -> str | None:
        """None, or why it cannot run the operator."""
        if op.kind not in OPERATIONS or op.x.dtype not in LIMITS or op.x.dtype != op.y.dtype:
            return f"{op.kind} of {op.x.dtype} to {op.y.dtype}"
        if op.kind == "mean" and op.padding != NO_PADDING:
            return f"means of windows with {op.padding}"
        if op.x.element > _QUADRANT_BYTES:
            return f"{op.x.dtype} has more than {_QUADRANT_BYTES} bytes"
        if op.stride not in ((1, 1), (2, 2)):
            return f"strides {op.stride}; (1, 1) and (2, 2) are possible"
        wanted = Layout.PLANES if op.stride == (1, 1) else Layout.QUADRANTS
        if op.x.layout is not wanted or op.y.layout is Layout.ROWS:
            return f"{op.x.layout.value} to {op.y.layout.value} with stride {op.stride[0]}"
        if op.x.shape[:2] != op.y.shape[:2]:
            return f"{op.x.shape} to {op.y.shape}"
        return _sweep(op).refusal()

    def tile_dims(self, op: Pool) -> tuple[TileDim, ...]:
        """Batches, channels, rows."""
        rows = 2 if op.y.layout is Layout.QUADRANTS else 1
        return (
            TileDim(axis=0),
            TileDim(axis=1, best=GROUP),
            TileDim(axis=2, granularity=rows),
        )

    def input_regions(self, op: Pool, out: Region) -> tuple[InputRegion, ...]:
        """The same channels, and the rows that the window covers."""
        low, high, before, behind = _sweep(op).rows(out.starts[2], out.sizes[2])
        region = out.along(2, low, high - low).along(3, 0, op.x.shape[3])
        return (
            InputRegion(
                operand="x",
                region=region,
                before=(0, 0, before, op.padding.left),
                after=(0, 0, behind, op.padding.right),
            ),
        )

    def constants(self, op: Pool, out: Region) -> tuple[ConstantSpec, ...]:
        """Of means, a bias and a factor."""
        return () if op.kind == "max" else (SCALE,)

    def pack(self, op: Pool, out: Region, values: Values) -> dict[str, NDArray[np.generic]]:
        """From the operator itself."""
        if op.kind == "max":
            return {}
        cells = op.kernel[0] * op.kernel[1]
        return {"scales": packed_scale(window_scale(op, cells), -op.input_zp * cells)}

    def nests(self, op: Pool, out: Region, places: Places) -> Sequence[SliceKernel]:
        """For each band of rows, channels in fours, then those that are left one by one."""
        pairs = op.y.layout is Layout.QUADRANTS
        channels = out.sizes[1]
        whole = channels // GROUP * GROUP
        found = []
        for band in _sweep(op).bands(out.starts[2], out.sizes[2], pairs=pairs):
            for first, count, group in ((0, whole, GROUP), (whole, channels - whole, 1)):
                if count:
                    found.append(_nest(op, out, places, band, (first, count // group, group)))
        return found


def _sweep(op: Pool) -> Sweep:
    return Sweep(
        kernel=op.kernel,
        stride=op.stride[0],
        padding=op.padding,
        inputs=(op.x.shape[2], op.x.shape[3]),
        outputs=(op.y.shape[2], op.y.shape[3]),
        pad_value=LIMITS[op.x.dtype][0],
    )


def _nest(
    op: Pool, out: Region, places: Places, band: Band, channels: tuple[int, int, int]
) -> SliceKernel:
    """`channels`: the first, how many groups, of how many."""
    x = places["x"]
    first, groups, group = channels
    taps = taps_of(band.window, x)
    vector = VECTOR_BYTES // x.element
    operation = OPERATIONS[op.kind]
    width = ACT_WORDS // bypass_lanes(x.dtype, operation).partials
    scaling = window_scale(op, op.kernel[0] * op.kernel[1])
    target = Target(y=places["y"], layout=op.y.layout, band=band, columns=out.sizes[3])
    pitch = band.window.width * x.element
    k = SliceKernel(f"{op.kind}_pool2d", band.window)
    if op.kind == "mean":
        k.load_bias(places["scales"][0])
    with ExitStack() as nest:
        n, cg = nest.enter_context(k.each(out.sizes[0])), nest.enter_context(k.each(groups))
        rows, there = target.rows(k, nest)
        v = nest.enter_context(k.each(-(-target.pixels // vector), FLAT))
        pixel = v * (vector * x.element) + rows * pitch + band.start(x.element)
        with taps.each(k) as tap:
            data = x[n, cg * group + first].at(pixel + tap.place)
            word = (vector + band.window.extra, x.element)
            k.load_data(data.with_block((group, x.strides[1]), word), every=tap.every)
            k.combine(operation)
        with k.each(group) as c, k.each(vector // width, FLAT):
            k.activate_scaled(width=width, scaling=scaling, shift=single_scale(scaling).shift)
            k.append(target.y[n, cg * group + c + first].at(there), target.stream())
    return k
