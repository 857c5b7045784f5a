"""Convolutions: sums and their scaling, which TOSA has as two operators."""

from __future__ import annotations

from dataclasses import dataclass

import ml_dtypes
import numpy as np

from assay.compiler.torq.operators.products import Padding
from assay.compiler.torq.operators.quantisation import FloatRange, Rescale
from tests.compiler.torq import tosa
from tests.compiler.torq import tosa_operators as op
from tests.compiler.torq.by_hand import conv2d
from tests.compiler.torq.iree_tosa import Function, Value
from tests.compiler.torq.machine import Array, Machine, numbers

from .trial import Trial

_LIMITS = {"int8": (-128, 127), "int16": (-(1 << 15), (1 << 15) - 1)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One convolution; `height` and `width` are those of the output.

    Sums of int16 have 48 bits in TOSA, and are scaled with 16 bits: so are they here.
    """

    batch: int = 1
    channels: int = 3
    outputs: int = 5
    height: int = 7
    width: int = 9
    kernel: tuple[int, int] = (3, 3)
    top: int = 1
    left: int = 1
    stride: int = 1
    dtype: str = "int8"
    result: str = "int8"
    zero_point: int = -3
    depthwise: bool = False
    shifts: tuple[int, ...] = ()
    per_channel: bool = True
    extreme: bool = False
    """Only the largest numbers, so that sums are as large as can be."""
    seed: int = 0

    @property
    def padding(self) -> Padding:
        return Padding(
            top=self.top,
            left=self.left,
            bottom=self.kernel[0] - self.stride - self.top,
            right=self.kernel[1] - self.stride - self.left,
        )

    @property
    def pad(self) -> tuple[int, int, int, int]:
        """As TOSA has it."""
        p = self.padding
        return p.top, p.bottom, p.left, p.right

    @property
    def filters(self) -> int:
        """Output channels."""
        return self.channels if self.depthwise else self.outputs

    @property
    def input_zp(self) -> int:
        """TOSA has zero points of int8 only."""
        return self.zero_point if self.dtype == "int8" else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Data:
    """x (n, c, h, w), weights (o, c, kh, kw) or (c, kh, kw), bias (o,)."""

    x: Array
    weights: Array
    bias: Array


def convolution(case: Case) -> Trial:
    """A convolution with its scaling."""
    data, rescale = _data(case), _quantisation(case)
    machine = Machine()
    x = data.x if case.stride == 1 else quadrants(data.x)
    given_x = machine.give("x", x, planes=True)
    shape = (case.batch, case.filters, case.height, case.width)
    output = machine.room("y", case.result, shape, planes=True)
    machine.run(
        conv2d(
            machine.layout,
            given_x,
            data.weights,
            data.bias,
            output,
            padding=case.padding,
            rescale=rescale,
            input_zp=case.input_zp,
            stride=case.stride,
        )
    )
    return Trial.of(machine, output, _expected(case, data, rescale), _iree(case, data, rescale))


def quadrants(x: Array) -> Array:
    """Planes (n, c, h, w) taken apart into even and odd rows and columns."""
    return np.stack([x[:, :, i::2, j::2] for i in (0, 1) for j in (0, 1)], axis=2)


def _data(case: Case) -> _Data:
    s = case.stride
    inner = () if case.depthwise else (case.channels,)
    x = numbers(case.seed, (case.batch, case.channels, case.height * s, case.width * s), case.dtype)
    weights = numbers(case.seed + 1, (case.filters, *inner, *case.kernel), "int8")
    bias = numbers(case.seed + 2, (case.filters,), "int32", bound=10_000)
    if case.extreme:
        x, weights = np.full_like(x, np.iinfo(case.dtype).min), np.full_like(weights, -128)
    return _Data(x=x, weights=weights, bias=bias)


def _quantisation(case: Case) -> Rescale:
    chance = np.random.default_rng(case.seed)
    bits, usual = (30, 40) if case.dtype == "int8" else (14, 32)
    count = case.filters if case.per_channel else 1
    multipliers = tuple(int(m) for m in chance.integers(1 << bits, 1 << (bits + 1), count))
    shifts = tuple(np.resize(case.shifts or (usual,), count).tolist())
    low, high = _LIMITS[case.result]
    zero_point = 5 if case.result == "int8" else 0
    return Rescale(
        multipliers=multipliers, shifts=shifts, zero_point=zero_point, low=low, high=high
    )


def _expected(case: Case, data: _Data, rescale: Rescale) -> Array:
    x = data.x.transpose(0, 2, 3, 1)
    how = {"pad": case.pad, "stride": (case.stride,) * 2, "input_zp": case.input_zp}
    if case.depthwise:
        weights = data.weights.transpose(1, 2, 0)[..., None]
        sums = tosa.depthwise_conv2d(x, weights, data.bias, **how)  # type: ignore[arg-type]
    else:
        weights = data.weights.transpose(0, 2, 3, 1)
        sums = tosa.conv2d(x, weights, data.bias, **how)  # type: ignore[arg-type]
    zero_point = rescale.zero_point
    scaled = tosa.rescale(
        sums, rescale.multipliers, rescale.shifts, output_zp=zero_point, dtype=case.result
    )
    return scaled.transpose(0, 3, 1, 2)


def _iree(case: Case, data: _Data, rescale: Rescale) -> Value:
    f = Function()
    weights = data.weights.transpose(0, 2, 3, 1) if not case.depthwise else data.weights
    if case.depthwise:
        weights = data.weights.transpose(1, 2, 0)[..., None]
    sums = op.convolution(
        "depthwise_conv2d" if case.depthwise else "conv2d",
        f.argument(data.x.transpose(0, 2, 3, 1)),
        f.argument(weights),
        f.argument(data.bias),
        (case.height, case.width, case.filters),
        pad=case.pad,
        stride=(case.stride,) * 2,
        input_zp=case.input_zp,
    )
    scaled = op.rescale(
        sums,
        rescale.multipliers,
        rescale.shifts,
        output_zp=rescale.zero_point,
        dtype=case.result,
    )
    return op.transpose(scaled, (0, 3, 1, 2))


def floating(case: Case, *, whole: bool = False) -> Trial:
    """A bfloat16 convolution: sums are float32, rounded after each product, and so is the bias.

    The slice goes over a channel's rows and columns before the next channel, with stride 2 over
    even ones before odd ones; IREE over rows, columns, channels. So they are equal to the bit for
    one channel or one pixel and stride 1, and for `whole` numbers, whose sums are exact in any
    order. Products are exact in float32 in any case.
    """
    s, filters = case.stride, case.outputs
    chance = np.random.default_rng(case.seed)

    def draw(*shape: int) -> Array:
        drawn = chance.integers(-9, 10, shape) if whole else chance.standard_normal(shape)
        return drawn.astype(ml_dtypes.bfloat16)

    x = draw(case.batch, case.channels, case.height * s, case.width * s)
    weights, bias = draw(filters, case.channels, *case.kernel), draw(filters).astype(np.float32)
    machine = Machine()
    given_x = machine.give("x", x if s == 1 else quadrants(x), planes=True)
    shape = (case.batch, filters, case.height, case.width)
    output = machine.room("y", "bfloat16", shape, planes=True)
    machine.run(
        conv2d(
            machine.layout,
            given_x,
            weights,
            bias,
            output,
            padding=case.padding,
            rescale=FloatRange(),
            stride=s,
        )
    )
    sums = _float_sums(case, x, weights) + bias[:, None, None]
    f = Function()
    result = op.convolution(
        "conv2d",
        op.cast(f.argument(x.transpose(0, 2, 3, 1)), "float32"),
        op.cast(f.argument(weights.transpose(0, 2, 3, 1)), "float32"),
        f.argument(bias),
        (case.height, case.width, filters),
        pad=case.pad,
        stride=(s, s),
    )
    narrow = op.cast(op.transpose(result, (0, 3, 1, 2)), "bfloat16")
    return Trial.of(machine, output, sums.astype(ml_dtypes.bfloat16), narrow)


def _float_sums(case: Case, x: Array, weights: Array) -> Array:
    """Sums in the order of the taps: rows and columns; of stride 2 first the even ones."""
    s, (rows, columns) = case.stride, case.kernel
    top, bottom, left, right = case.pad
    wide = np.pad(x.astype(np.float32), ((0, 0), (0, 0), (top, bottom), (left, right)))
    taps = [(j, i) for j in range(rows) for i in range(columns)]
    if s == 2:
        across = [*range(0, columns, 2), *range(1, columns, 2)]
        taps = [(j, i) for j in range(rows) for i in across]
    total = np.zeros((len(x), len(weights), case.height, case.width), np.float32)
    for channel in range(case.channels):
        for j, i in taps:
            cells = wide[:, channel, j : j + case.height * s : s, i : i + case.width * s : s]
            factors = weights[:, channel, j, i].astype(np.float32)
            total = total + cells[:, None] * factors[None, :, None, None]
    return total
