"""Convolutions over planes: any window of the output, any range of its channels.

The nest is that of the hardware's data path: a word of neighbouring pixels stays in IRAM for up to
three kernel columns while every tap multiplies it with the weights of several output channels. How
many pixels and channels that is, is the kernel's shape: 64 by 4, 32 by 8 or 16 by 16 bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

import numpy as np
from numpy.typing import NDArray

from ...operators.products import Convolution
from ...operators.tensors import Layout, Region
from ...slice.formats import is_float
from ...slice.kernel import SliceKernel, Sums
from ...slice.loops import FLAT
from ...slice.tensor import dense
from ..kernel import ConstantSpec, InputRegion, Kernel, Places, TileDim, Values
from ..scales import bits_of_sums, packed_scales, scale_shape, scaling_refusal
from .sums import LANE_BYTES, Block, Part, finish, lanes_of, parts_of
from .sweeps import plane_tiles, rows_read, sweep_of, sweep_refusal, taps_of
from .target import Target
from .windows import Band

GROUPS = (4, 8, 16)
_FLOAT_GROUPS = (4, 8)


class ConvolutionKernel(Kernel[Convolution]):
    """Convolutions of stride 1 from planes, of stride 2 from quadrants.

    With `channels` (first, count) it sums over some of x's channels only: see `over_terms`.
    """

    def __init__(self, group: int, channels: tuple[int, int] | None = None) -> None:
        self.group = group
        self.some_terms = channels
        self.name = self.stem
        if channels is not None:
            self.name += f", {channels[1]} channels from {channels[0]} on"

    @property
    def stem(self) -> str:
        """The kernel's name, whatever terms it sums."""
        return f"convolution {LANE_BYTES // self.group}x{self.group}"

    def terms(self, op: Convolution) -> tuple[int, int]:
        """The channels of x, each as many steps as there are taps."""
        _, channels, kh, kw = op.weights.shape
        return channels, kh * kw

    def over_terms(
        self, op: Convolution, out: Region, first: int, count: int
    ) -> ConvolutionKernel | None:
        """Of as many pixels and channels as the shape says, without gaps between them."""
        parts = self._parts(op, out)
        bands = sweep_of(op).bands(out.starts[2], out.sizes[2])
        if out.sizes[0] > 1 or len(parts) > 1 or parts[0].groups > 1 or len(bands) > 1:
            return None
        pixels = _vector(op, parts[0].group)
        if bands[0].count * out.sizes[3] > pixels or bands[0].by_row:
            return None
        return ConvolutionKernel(self.group, (first, min(count, op.x.shape[1] - first)))

    def vector(self, op: Convolution) -> int:
        """Neighbouring pixels that are made at a time."""
        return _vector(op, self.group)

    def _channels(self, op: Convolution) -> tuple[int, int]:
        return self.some_terms or (0, op.x.shape[1])

    def accepts(self, op: Convolution) -> str | None:
        """None, or why it cannot run the operator."""
        if len(op.weights.shape) != 4:
            return f"weights of {op.weights.shape}; (o, c, kh, kw) are needed"
        o, c, _, _ = op.weights.shape
        if op.x.shape[0] != op.y.shape[0] or op.x.shape[1] != c or op.y.shape[1] != o:
            return f"{op.x.shape} with weights of {op.weights.shape} to {op.y.shape}"
        if is_float(op.x.dtype) and self.group not in _FLOAT_GROUPS:
            return f"{self.group} channels at a time of {op.x.dtype}"
        return sweep_refusal(op) or scaling_refusal(
            op.rescale, o, bits_of_sums(op.x.dtype, op.sum_bits)
        )

    def tile_dims(self, op: Convolution) -> tuple[TileDim, ...]:
        """Batches, channels, rows."""
        return plane_tiles(op, self.group)

    def input_regions(self, op: Convolution, out: Region) -> tuple[InputRegion, ...]:
        """The rows that the window covers of all channels that are summed."""
        return (rows_read(op, out, self._channels(op)),)

    def constants(self, op: Convolution, out: Region) -> tuple[ConstantSpec, ...]:
        """Weights (o / group)IHW(group), and a bias with its factor per channel."""
        last = self._parts(op, out)[-1]
        count = last.weights + last.groups * last.group * self._each(op)
        return (
            ConstantSpec(name="weights", dtype=op.weights.dtype, shape=(count,)),
            scale_shape(op.rescale, out.sizes[1]),
        )

    def pack(self, op: Convolution, out: Region, values: Values) -> dict[str, NDArray[np.generic]]:
        """From "weights" (o, c, kh, kw) and "bias" (o,) of all channels."""
        chosen = slice(out.starts[1], out.stops[1])
        weights, bias = values["weights"][chosen], values["bias"][chosen]
        band = sweep_of(op).bands(out.starts[2], out.sizes[2])[0]
        taps = taps_of(band.window, self.unplaced(op, out)["x"])
        parts = self._parts(op, out)
        first, count = self._channels(op)
        own = weights[:, first : first + count]
        packed = [np.moveaxis(taps.ordered(_grouped(own, part)), 1, -1).ravel() for part in parts]
        found = [part.run for part in parts]
        return {
            "weights": np.concatenate(packed),
            "scales": packed_scales(op.rescale, bias, weights, op.input_zp, found),
        }

    def nests(self, op: Convolution, out: Region, places: Places) -> Sequence[SliceKernel]:
        """For each band of rows, the parts of the channels."""
        pairs = op.y.layout is Layout.QUADRANTS
        bands = sweep_of(op).bands(out.starts[2], out.sizes[2], pairs=pairs)
        first, count = self._channels(op)
        sums = Sums(added=first > 0, kept=first + count < op.x.shape[1])
        return [
            _nest(op, out, places, band, part, sums)
            for band in bands
            for part in self._parts(op, out)
        ]

    def _parts(self, op: Convolution, out: Region) -> list[Part]:
        rests = _FLOAT_GROUPS if is_float(op.x.dtype) else GROUPS
        return parts_of(op, out, self.group, rests, self._each(op))

    def _each(self, op: Convolution) -> int:
        """Weights of an output channel."""
        _, _, kh, kw = op.weights.shape
        return self._channels(op)[1] * kh * kw


def _vector(op: Convolution, group: int) -> int:
    return lanes_of(op.x.dtype, op.weights.dtype).vector(group)


def _nest(
    op: Convolution, out: Region, places: Places, band: Band, part: Part, sums: Sums
) -> SliceKernel:
    """Every output channel sums over all input channels."""
    x, weights = places["x"], places["weights"]
    taps = taps_of(band.window, x)
    vector = _vector(op, part.group)
    packed = dense(
        weights.name,
        weights.address + part.weights * weights.element,
        weights.dtype,
        (part.groups, x.shape[1], *taps.shape, part.group),
    )
    target = Target(y=places["y"], layout=op.y.layout, band=band, columns=out.sizes[3])
    pitch = band.window.width * x.element
    k = SliceKernel("conv2d", band.window, sums)
    with ExitStack() as nest:
        n, og = nest.enter_context(k.each(out.sizes[0])), nest.enter_context(k.each(part.groups))
        rows, there = target.rows(k, nest)
        v = nest.enter_context(k.each(-(-target.pixels // vector), FLAT))
        pixel = v * (vector * x.element) + rows * pitch + band.start(x.element)
        with k.each(x.shape[1]) as c, taps.each(k) as tap:
            k.load_weights(packed[(og, c, *tap.weights)])
            word = (vector + band.window.extra, x.element)
            k.load_data(x[n, c].at(pixel + tap.place).with_block(word), every=tap.every)
            k.multiply()
        finish(k, op, part, places, target, Block(n=n, group=og, there=there, pixels=vector))
    return k


def _grouped(weights: NDArray[np.generic], part: Part) -> NDArray[np.generic]:
    """Weights of a part (o, c, kh, kw) as (groups, group, c, kh, kw), zeros behind the last one."""
    chosen = weights[part.run.first : part.run.first + part.run.count]
    padded = np.zeros((part.groups * part.group, *weights.shape[1:]), weights.dtype)
    padded[: len(chosen)] = chosen
    return padded.reshape(part.groups, part.group, *weights.shape[1:])
