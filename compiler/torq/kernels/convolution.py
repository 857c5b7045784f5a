"""Convolutions over planes: channels first, strides 1 and 2, padding as the kernel needs it.

The nest is that of the hardware's data path: a word of neighbouring pixels stays in IRAM for up to
three kernel columns while every tap multiplies it with the weights of several output channels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.hw.torq.words.commands import SliceTask

from ..slice.derive import ACT_WORDS
from ..slice.errors import IllegalSliceProgram
from ..slice.formats import product_lanes
from ..slice.kernel import SliceKernel, Window
from ..slice.loops import FLAT, Loop
from ..slice.lram import Lram
from ..slice.scaling import ChannelRun, FloatRange, Rescale, bias_pairs, channel_runs, sum_bits
from ..slice.tensor import Tensor
from .taps import Quadrants, Rows

GROUP = 4
"""Output channels (depthwise: channels) that one pass over the data makes."""
_VECTOR_BYTES = 64
LARGEST_REACH = 3
LARGEST_KERNEL = 7
Weights = NDArray[np.int8]
"""Of a float convolution, bfloat16 (ml_dtypes)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Padding:
    """Rows and columns of padding on each side of a plane."""

    top: int = 0
    bottom: int = 0
    left: int = 0
    right: int = 0


def conv2d(
    lram: Lram,
    x: Tensor,
    weights: Weights,
    bias: NDArray[np.int32] | NDArray[np.float32],
    output: Tensor,
    *,
    padding: Padding,
    rescale: Rescale | FloatRange,
    input_zp: int = 0,
    stride: int = 1,
) -> list[SliceTask]:
    """Tasks that convolve x (n, c, h, w) with weights (o, c, kh, kw) into output (n, o, h, w).

    With stride 2, x is (n, c, 4, h, w): what `segmentation` made of a plane of twice the size.
    Of bfloat16, sums are float32, rounded after each product, and so is the bias.

    Raises IllegalSliceProgram.
    """
    window = _window("conv2d", x, output, weights.shape[2:], padding, input_zp, stride)
    convolution = _Convolution(lram, x, output, window, rescale)
    if isinstance(rescale, FloatRange):
        return convolution.floating(weights, bias)
    folded = bias.astype(np.int64) - input_zp * weights.astype(np.int64).sum(axis=(1, 2, 3))
    tasks = []
    bits = sum_bits(weights, folded, x.dtype)
    for part in _parts(channel_runs(rescale, len(weights), bits)):
        chosen = slice(part.first, part.first + part.count)
        convolution.place_biases(folded[chosen], part)
        tasks.append(convolution.full(weights[chosen], part))
    return tasks


def depthwise_conv2d(
    lram: Lram,
    x: Tensor,
    weights: Weights,
    bias: NDArray[np.int32],
    output: Tensor,
    *,
    padding: Padding,
    rescale: Rescale,
    input_zp: int = 0,
    stride: int = 1,
) -> list[SliceTask]:
    """Tasks that convolve each channel of x (n, c, h, w) with its kernel of weights (c, kh, kw).

    With stride 2, x is (n, c, 4, h, w). Raises IllegalSliceProgram.
    """
    window = _window("depthwise_conv2d", x, output, weights.shape[1:], padding, input_zp, stride)
    folded = bias.astype(np.int64) - input_zp * weights.astype(np.int64).sum(axis=(1, 2))
    convolution = _Convolution(lram, x, output, window, rescale)
    tasks = []
    bits = sum_bits(weights, folded, x.dtype)
    for part in _parts(channel_runs(rescale, len(weights), bits)):
        chosen = slice(part.first, part.first + part.count)
        convolution.place_biases(folded[chosen], part)
        tasks.append(convolution.depthwise(weights[chosen], part))
    return tasks


def _parts(runs: list[ChannelRun]) -> list[ChannelRun]:
    """Each run as whole groups, and what is left of it."""
    parts = []
    for run in runs:
        whole = run.count // GROUP * GROUP
        for start, end in ((0, whole), (whole, run.count)):
            if start < end:
                parts.append(
                    ChannelRun(
                        first=run.first + start, factors=run.factors[start:end], shift=run.shift
                    )
                )
    return parts


class _Convolution:
    """What the tasks of one convolution share."""

    def __init__(
        self,
        lram: Lram,
        x: Tensor,
        output: Tensor,
        window: Window,
        rescale: Rescale | FloatRange,
    ) -> None:
        self.lram = lram
        self.x = x
        self.output = output
        self.window = window
        self.rescale = rescale
        self.batches, self.channels = x.shape[:2]
        self.vector = _VECTOR_BYTES // x.element
        self.plane = window.height * window.width
        self.vectors = -(-self.plane // self.vector)
        self.step = self.vector * x.element
        self.word = self.vector + window.extra
        self.taps: Rows | Quadrants = Rows(window, x.element)
        if window.stride == 2:
            self.taps = Quadrants(window, x.element, x.strides[2])

    def place_biases(self, bias: NDArray[np.int64], part: ChannelRun) -> None:
        """Constants of a part's bias and scale."""
        pairs = bias_pairs([int(b) for b in bias], part.factors)
        self.biases = self.lram.constant(f"scales of {self.output.name}", pairs)

    def floating(self, weights: Weights, bias: NDArray[np.generic]) -> list[SliceTask]:
        """All tasks of a float convolution."""
        every = ChannelRun(first=0, factors=(1,) * len(weights), shift=0)
        tasks = []
        for part in _parts([every]):
            chosen = slice(part.first, part.first + part.count)
            self.biases = self.lram.constant(f"biases of {self.output.name}", bias[chosen])
            tasks.append(self.full(weights[chosen], part))
        return tasks

    def full(self, weights: Weights, part: ChannelRun) -> SliceTask:
        """Every output channel sums over all input channels."""
        groups = -(-part.count // GROUP)
        packed = self._packed(_grouped(weights, groups))
        k = SliceKernel("conv2d", self.window)
        with k.each(self.batches) as n, k.each(groups) as og, k.each(self.vectors, FLAT) as v:
            with k.each(self.channels) as c, self.taps.each(k) as tap:
                k.load_weights(packed[(og, c, *tap.weights)])
                data = self.x[n, c].at(v * self.step + tap.place)
                k.load_data(data.with_block((self.word, self.x.element)), every=tap.every)
                k.multiply()
            self._finish(k, part, n, og)
        return k.task()

    def depthwise(self, weights: Weights, part: ChannelRun) -> SliceTask:
        """Every channel has a kernel of its own; a group of channels is in IRAM at a time."""
        group = GROUP if part.count % GROUP == 0 else 1
        groups = part.count // group
        packed = self._packed(weights.reshape(groups, group, *weights.shape[1:]))
        plane = self.x.strides[1]
        k = SliceKernel("depthwise_conv2d", self.window)
        with k.each(self.batches) as n, k.each(groups) as cg, k.each(self.vectors, FLAT) as v:
            with self.taps.each(k) as tap:
                k.load_weights(packed[(cg, *tap.weights)])
                data = self.x[n, cg * group + part.first].at(v * self.step + tap.place)
                block = ((group, plane), (self.word, self.x.element))
                k.load_data(data.with_block(*block), every=tap.every)
                k.multiply()
            self._finish(k, part, n, cg, group)
        return k.task()

    def _packed(self, weights: Weights) -> Tensor:
        """Weights (groups, group, ..., kh, kw) with the taps in order and the group innermost."""
        ordered = np.moveaxis(self.taps.ordered(weights), 1, -1)
        return self.lram.constant(f"weights of {self.output.name}", ordered)

    def _finish(
        self, k: SliceKernel, part: ChannelRun, n: Loop, og: Loop, group: int = GROUP
    ) -> None:
        """Scale the sums of a group of output channels and write them behind the last ones."""
        is_float = isinstance(self.rescale, FloatRange)
        lanes = product_lanes(self.x.dtype, self.x.dtype if is_float else "int8")
        if lanes is None:
            raise IllegalSliceProgram("formats", f"{k.name}: no product of {self.x.dtype} and int8")
        width = ACT_WORDS // lanes.partials
        with k.each(min(group, part.count)) as o:
            channel = og * group + o
            k.load_bias(self.biases[channel])
            with k.each(self.vector // width, FLAT):
                self._activate(k, width, part)
                k.append(self.output[n, channel + part.first], self.plane)

    def _activate(self, k: SliceKernel, width: int, part: ChannelRun) -> None:
        if isinstance(self.rescale, FloatRange):
            k.activate_float(width=width, limits=self.rescale)
            return
        k.activate_scaled(width=width, scaling=self.rescale, shift=part.shift)


def _grouped(weights: Weights, groups: int) -> Weights:
    """(o, c, kh, kw) as (groups, GROUP, c, kh, kw), with zeros behind the last channel."""
    padded = np.zeros((groups * GROUP, *weights.shape[1:]), weights.dtype)
    padded[: len(weights)] = weights
    return padded.reshape(groups, GROUP, *weights.shape[1:])


def _window(
    name: str,
    x: Tensor,
    output: Tensor,
    kernel: tuple[int, ...],
    padding: Padding,
    pad_value: int,
    stride: int,
) -> Window:
    """The kernel's window over the output's plane. Raises IllegalSliceProgram."""
    height, width = output.shape[2:]
    if x.shape[2:] != ((height, width) if stride == 1 else (4, height, width)):
        raise IllegalSliceProgram(
            "plane", f"{name}: {x.shape} to {output.shape} with stride {stride}"
        )
    bottom, right = kernel[0] - 1 - padding.top, kernel[1] - 1 - padding.left
    if max(padding.left, right) > LARGEST_REACH or max(kernel) > LARGEST_KERNEL:
        raise IllegalSliceProgram(
            "kernel size",
            f"{name}: a kernel has up to {LARGEST_KERNEL} rows and columns, "
            f"{LARGEST_REACH} to each side",
        )
    # A window takes `size - stride` pixels more than there are, so as much is padding.
    needed = tuple(size - stride for size in kernel)
    if (padding.top + padding.bottom, padding.left + padding.right) != needed:
        raise IllegalSliceProgram(
            "plane",
            f"{name}: a {kernel[0]}x{kernel[1]} kernel with stride {stride} and {padding} does not "
            f"make a plane of {height}x{width}",
        )
    return Window(
        height=height,
        width=width,
        left=padding.left,
        right=right,
        top=padding.top,
        bottom=bottom,
        pad_left=padding.left > 0,
        pad_right=padding.right > 0,
        pad_top=padding.top > 0,
        pad_bottom=padding.bottom > 0,
        pad_value=pad_value,
        stride=stride,
    )
