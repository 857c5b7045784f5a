"""Depthwise convolutions over planes: four channels are in IRAM at a time, each with its kernel."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

import numpy as np
from numpy.typing import NDArray

from ...operators.products import DepthwiseConvolution
from ...operators.tensors import Layout, Region
from ...slice.kernel import SliceKernel
from ...slice.loops import FLAT
from ...slice.tensor import dense
from ..kernel import ConstantSpec, InputRegion, Kernel, Places, TileDim, Values
from ..scales import bits_of_sums, packed_scales, scale_shape, scaling_refusal
from .sums import Block, Part, finish, lanes_of, parts_of
from .sweeps import plane_tiles, rows_read, sweep_of, sweep_refusal, taps_of
from .target import Target
from .windows import Band

GROUP = 4
_RESTS = (1,)


class DepthwiseKernel(Kernel[DepthwiseConvolution]):
    """Depthwise convolutions of stride 1 from planes, of stride 2 from quadrants."""

    name = "depthwise convolution"

    def accepts(self, op: DepthwiseConvolution) -> str | None:
        """None, or why it cannot run the operator."""
        if len(op.weights.shape) != 3:
            return f"weights of {op.weights.shape}; (c, kh, kw) are needed"
        channels = op.weights.shape[0]
        if op.x.shape[:2] != op.y.shape[:2] or op.x.shape[1] != channels:
            return f"{op.x.shape} with weights of {op.weights.shape} to {op.y.shape}"
        return sweep_refusal(op) or scaling_refusal(
            op.rescale, channels, bits_of_sums(op.x.dtype, op.sum_bits)
        )

    def tile_dims(self, op: DepthwiseConvolution) -> tuple[TileDim, ...]:
        """Batches, channels, rows."""
        return plane_tiles(op, GROUP)

    def input_regions(self, op: DepthwiseConvolution, out: Region) -> tuple[InputRegion, ...]:
        """The same channels, and the rows that the window covers."""
        return (rows_read(op, out, (out.starts[1], out.sizes[1])),)

    def constants(self, op: DepthwiseConvolution, out: Region) -> tuple[ConstantSpec, ...]:
        """Weights (c / 4)HW4, and a bias with its factor per channel."""
        _, kh, kw = op.weights.shape
        count = out.sizes[1] * kh * kw
        return (
            ConstantSpec(name="weights", dtype=op.weights.dtype, shape=(count,)),
            scale_shape(op.rescale, out.sizes[1]),
        )

    def pack(
        self, op: DepthwiseConvolution, out: Region, values: Values
    ) -> dict[str, NDArray[np.generic]]:
        """From "weights" (c, kh, kw) and "bias" (c,) of all channels."""
        chosen = slice(out.starts[1], out.stops[1])
        weights, bias = values["weights"][chosen], values["bias"][chosen]
        band = sweep_of(op).bands(out.starts[2], out.sizes[2])[0]
        taps = taps_of(band.window, self.unplaced(op, out)["x"])
        parts = _parts(op, out)
        packed = []
        for part in parts:
            own = weights[part.run.first : part.run.first + part.run.count]
            grouped = own.reshape(part.groups, part.group, *weights.shape[1:])
            packed.append(np.moveaxis(taps.ordered(grouped), 1, -1).ravel())
        found = [part.run for part in parts]
        return {
            "weights": np.concatenate(packed),
            "scales": packed_scales(op.rescale, bias, weights, op.input_zp, found),
        }

    def nests(self, op: DepthwiseConvolution, out: Region, places: Places) -> Sequence[SliceKernel]:
        """For each band of rows, the parts of the channels."""
        pairs = op.y.layout is Layout.QUADRANTS
        bands = sweep_of(op).bands(out.starts[2], out.sizes[2], pairs=pairs)
        return [_nest(op, out, places, band, part) for band in bands for part in _parts(op, out)]


def _parts(op: DepthwiseConvolution, out: Region) -> list[Part]:
    _, kh, kw = op.weights.shape
    return parts_of(op, out, GROUP, _RESTS, kh * kw)


def _nest(
    op: DepthwiseConvolution, out: Region, places: Places, band: Band, part: Part
) -> SliceKernel:
    """Every channel has a kernel of its own; a group of channels is in IRAM at a time."""
    x, weights = places["x"], places["weights"]
    taps = taps_of(band.window, x)
    vector = lanes_of(op.x.dtype, op.weights.dtype).vector(GROUP)
    packed = dense(
        weights.name,
        weights.address + part.weights * weights.element,
        weights.dtype,
        (part.groups, *taps.shape, part.group),
    )
    target = Target(y=places["y"], layout=op.y.layout, band=band, columns=out.sizes[3])
    pitch = band.window.width * x.element
    k = SliceKernel("depthwise_conv2d", band.window)
    with ExitStack() as nest:
        n, cg = nest.enter_context(k.each(out.sizes[0])), nest.enter_context(k.each(part.groups))
        rows, there = target.rows(k, nest)
        v = nest.enter_context(k.each(-(-target.pixels // vector), FLAT))
        pixel = v * (vector * x.element) + rows * pitch + band.start(x.element)
        with taps.each(k) as tap:
            k.load_weights(packed[(cg, *tap.weights)])
            data = x[n, cg * part.group + part.run.first].at(pixel + tap.place)
            word = (vector + band.window.extra, x.element)
            k.load_data(data.with_block((part.group, x.strides[1]), word), every=tap.every)
            k.multiply()
        finish(k, op, part, places, target, Block(n=n, group=cg, there=there, pixels=vector))
    return k
