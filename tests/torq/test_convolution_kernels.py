"""Convolutions on the emulated slice, bit for bit against the reference of TOSA."""

from __future__ import annotations

from dataclasses import dataclass

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.compiler.torq.kernels.convolution import Padding, conv2d, depthwise_conv2d
from assay.compiler.torq.slice.errors import IllegalSliceProgram
from assay.compiler.torq.slice.scaling import FloatRange, Rescale

from . import tosa
from .machine import Array, Machine, numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One convolution; `height` and `width` are those of the output."""

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
    zero_point: int = -3
    depthwise: bool = False
    shifts: tuple[int, ...] = ()
    seed: int = 0

    @property
    def padding(self) -> Padding:
        return Padding(
            top=self.top,
            left=self.left,
            bottom=self.kernel[0] - self.stride - self.top,
            right=self.kernel[1] - self.stride - self.left,
        )


def _quantisation(case: Case, outputs: int) -> Rescale:
    chance = np.random.default_rng(case.seed)
    multipliers = tuple(int(m) for m in chance.integers(1 << 30, 1 << 31, outputs))
    usual = (40 if case.dtype == "int8" else 48,)
    shifts = tuple(np.resize(case.shifts or usual, outputs).tolist())
    return Rescale(multipliers=multipliers, shifts=shifts, zero_point=5)


def _quadrants(x: Array) -> Array:
    return np.stack([x[:, :, i::2, j::2] for i in (0, 1) for j in (0, 1)], axis=2)


def _both(case: Case) -> tuple[Array, Array, Machine]:
    """(result of the emulated slice, result of the reference, the slice)."""
    s = case.stride
    outputs = case.channels if case.depthwise else case.outputs
    x = numbers(case.seed, (case.batch, case.channels, case.height * s, case.width * s), case.dtype)
    inner = () if case.depthwise else (case.channels,)
    weights = numbers(case.seed + 1, (outputs, *inner, *case.kernel), "int8")
    bias = numbers(case.seed + 2, (outputs,), "int32", bound=10_000)
    zero_point = case.zero_point if case.dtype == "int8" else 0
    rescale = _quantisation(case, outputs)
    machine = Machine()
    given_x = machine.give("x", x if s == 1 else _quadrants(x), planes=True)
    output = machine.room("y", "int8", (case.batch, outputs, case.height, case.width), planes=True)
    kernel = depthwise_conv2d if case.depthwise else conv2d
    machine.run(
        kernel(
            machine.layout,
            given_x,
            weights,
            bias,
            output,
            padding=case.padding,
            rescale=rescale,
            input_zp=zero_point,
            stride=s,
        )
    )
    p = case.padding
    pad = (p.top, p.bottom, p.left, p.right)
    nhwc = x.transpose(0, 2, 3, 1)
    if case.depthwise:
        sums = tosa.depthwise_conv2d(
            nhwc,
            weights.transpose(1, 2, 0)[..., None],
            bias,
            pad=pad,
            stride=(s, s),
            input_zp=zero_point,
        )
    else:
        ohwi = weights.transpose(0, 2, 3, 1)
        sums = tosa.conv2d(nhwc, ohwi, bias, pad=pad, stride=(s, s), input_zp=zero_point)
    expected = tosa.rescale(sums, rescale.multipliers, rescale.shifts, output_zp=5)
    return machine.take(output), expected.transpose(0, 3, 1, 2), machine


FIXED = {
    "one group, one vector": Case(channels=2, outputs=4, height=8, width=8),
    "odd sizes and channels": Case(),
    "batch": Case(batch=3, height=5, width=5),
    "1x1": Case(kernel=(1, 1), top=0, left=0, batch=2, outputs=6),
    "2x2, one-sided": Case(kernel=(2, 2)),
    "1x3": Case(kernel=(1, 3), top=0),
    "5x5": Case(kernel=(5, 5), top=2, left=2, height=11),
    "7x7": Case(kernel=(7, 7), top=3, left=3, height=11),
    "many vectors": Case(height=20, width=21, channels=2, outputs=4),
    "narrow plane": Case(height=9, width=1, kernel=(3, 1), left=0),
    "int16": Case(dtype="int16"),
    "shifts differ between channels": Case(outputs=9, shifts=(38, 39, 40)),
    "stride 2": Case(stride=2, top=0, left=1),
    "stride 2, 7x7": Case(stride=2, kernel=(7, 7), top=2, left=3),
    "stride 2, 4x4": Case(stride=2, kernel=(4, 4)),
    "stride 2, int16": Case(stride=2, dtype="int16"),
    "depthwise": Case(depthwise=True, channels=8),
    "depthwise, odd channels": Case(depthwise=True, channels=5, batch=2),
    "depthwise 5x5": Case(depthwise=True, channels=4, kernel=(5, 5), top=2, left=2),
    "depthwise 1x1, planes of one word": Case(
        depthwise=True, channels=4, kernel=(1, 1), top=0, left=0, height=4, width=4
    ),
    "depthwise, stride 2": Case(depthwise=True, channels=6, stride=2),
}


@pytest.mark.parametrize("name", FIXED)
def test_convolutions_equal_the_reference(name: str) -> None:
    found, expected, _ = _both(FIXED[name])
    np.testing.assert_array_equal(found, expected)


@st.composite
def _cases(draw: st.DrawFn) -> Case:
    stride = draw(st.sampled_from([1, 1, 2]))
    kernel = (draw(st.integers(stride, 7)), draw(st.integers(stride, 7)))
    spare = (kernel[0] - stride, kernel[1] - stride)
    lefts = [n for n in range(spare[1] + 1) if n <= 3 and kernel[1] - 1 - n <= 3]
    return Case(
        batch=draw(st.integers(1, 2)),
        channels=draw(st.integers(1, 6)),
        outputs=draw(st.integers(1, 9)),
        height=draw(st.integers(4, 12)),
        width=draw(st.integers(4, 12)),
        kernel=kernel,
        top=draw(st.integers(0, spare[0])),
        left=draw(st.sampled_from(lefts)),
        stride=stride,
        dtype=draw(st.sampled_from(["int8", "int8", "int16"])),
        zero_point=draw(st.integers(-128, 127)),
        depthwise=draw(st.booleans()),
        seed=draw(st.integers(0, 1000)),
    )


@given(case=_cases().filter(lambda case: case.stride == 1 or _halves_hold_centre(case)))
@settings(max_examples=40, deadline=None)
def test_any_convolution_equals_the_reference(case: Case) -> None:
    found, expected, _ = _both(case)
    np.testing.assert_array_equal(found, expected)


def _halves_hold_centre(case: Case) -> bool:
    """With stride 2 the even and the odd half of a kernel must each contain its centre."""
    for border, size in ((case.top, case.kernel[0]), (case.left, case.kernel[1])):
        if (border + 1) // 2 >= (size + 1) // 2 or border // 2 >= size // 2:
            return False
    return True


def test_cycles_of_a_convolution_follow_from_its_nest() -> None:
    case = Case(batch=2, channels=3, outputs=8, height=12, width=12)
    *_, machine = _both(case)
    (counts,) = machine.counts
    vectors = -(-12 * 12 // 64)
    summing, activating = 2 * 2 * vectors * 3 * 9, 2 * 8 * vectors * 64 // 16
    assert (counts.alu_cycles, counts.vectors) == (summing, activating)
    # The activation of the last block comes behind the sums of all of them.
    (cycles,) = machine.cycles
    assert cycles.total == summing + activating // counts.blocks


@pytest.mark.parametrize("kernel", [3, 5])
def test_cycles_of_a_depthwise_convolution_follow_from_its_nest(kernel: int) -> None:
    case = Case(
        depthwise=True,
        channels=8,
        height=12,
        width=12,
        kernel=(kernel, kernel),
        top=kernel // 2,
        left=kernel // 2,
    )
    *_, machine = _both(case)
    (counts,), (cycles,) = machine.counts, machine.cycles
    blocks = 2 * -(-12 * 12 // 64)
    words, vectors = blocks * kernel * -(-kernel // 3) * 4, blocks * 16
    assert counts.blocks == blocks
    assert counts.alu_cycles == blocks * kernel * kernel
    assert (counts.transfers["DEDR"], counts.vectors) == (words, vectors)
    # Four words of data for every three columns: reading is slower than multiplying.
    assert words > counts.alu_cycles
    if kernel == 3:  # and writing is slower still
        assert cycles.total == vectors + words // blocks
    else:
        assert cycles.total == words + vectors // blocks and cycles.slowest == "DEDR"


@pytest.mark.parametrize("stride", [1, 2])
def test_bfloat16_rounds_after_each_product(stride: int) -> None:
    x = numbers(0, (1, 3, 6 * stride, 7 * stride), "bfloat16")
    weights = numbers(1, (5, 3, 3, 3), "bfloat16")
    bias = np.random.default_rng(2).standard_normal(5).astype(np.float32)
    machine = Machine()
    given_x = machine.give("x", x if stride == 1 else _quadrants(x), planes=True)
    output = machine.room("y", "bfloat16", (1, 5, 6, 7), planes=True)
    padding = Padding(top=1, left=1, bottom=2 - stride, right=2 - stride)
    machine.run(
        conv2d(
            machine.layout,
            given_x,
            weights,
            bias,
            output,
            padding=padding,
            rescale=FloatRange(),
            stride=stride,
        )
    )
    expected = _float_sums(x, weights, stride) + bias[None, :, None, None]
    np.testing.assert_array_equal(
        machine.take(output).view(np.uint16), expected.astype(ml_dtypes.bfloat16).view(np.uint16)
    )


def _float_sums(x: Array, weights: Array, stride: int) -> Array:
    """Sums in the order of the taps: rows and columns; of stride 2 first the even ones."""
    wide = np.pad(x.astype(np.float32), ((0, 0), (0, 0), (1, 1), (1, 1)))
    height, width = x.shape[2] // stride, x.shape[3] // stride
    taps = [(j, i) for j in range(3) for i in range(3)]
    if stride == 2:
        halves = [(r, d) for r in range(2) for d in (0, 1) if 2 * r + d < 3]
        columns = [(c, d) for d in (0, 1) for c in range(2) if 2 * c + d < 3]
        taps = [(2 * r + d, 2 * c + e) for r, d in halves for c, e in columns]
    total = np.zeros((1, len(weights), height, width), np.float32)
    for channel in range(x.shape[1]):
        for j, i in taps:
            cells = wide[:, channel, j : j + height * stride : stride]
            cells = cells[:, :, i : i + width * stride : stride]
            factors = weights[:, channel, j, i].astype(np.float32)
            total = total + cells[:, None] * factors[None, :, None, None]
    return total


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        (Case(kernel=(3, 3), top=0, left=0), "does not make a plane"),
        (Case(kernel=(9, 1), top=4, left=0), "up to 7 rows"),
    ],
)
def test_what_the_hardware_cannot_do_is_refused_by_rule(case: Case, reason: str) -> None:
    machine = Machine()
    x = machine.room("x", "int8", (1, 3, 7, 9), planes=True)
    weights = numbers(0, (5, 3, *case.kernel), "int8")
    bias = numbers(0, (5,), "int32")
    output = machine.room("y", "int8", (1, 5, 7, 9), planes=True)
    with pytest.raises(IllegalSliceProgram, match=reason):
        conv2d(
            machine.layout,
            x,
            weights,
            bias,
            output,
            padding=case.padding if case.top else Padding(),
            rescale=Rescale(multipliers=(1 << 30,), shifts=(40,)),
        )


def test_a_program_larger_than_the_memory_is_refused_with_what_it_needs() -> None:
    machine = Machine()
    with pytest.raises(IllegalSliceProgram, match="LRAM budget: 'x' needs 655360 bytes"):
        machine.room("x", "int8", (10, 256, 256))
