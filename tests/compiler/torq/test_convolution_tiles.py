"""Convolutions made tile by tile equal the whole, at the cost and with the memory foretold."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.compiler.torq.kernels.variants import KERNELS
from assay.compiler.torq.operators.products import Convolution, DepthwiseConvolution, Padding
from assay.compiler.torq.operators.quantisation import FloatRange, Rescale
from assay.compiler.torq.operators.tensors import Layout, TensorType

from . import tosa
from .machine import Array, numbers
from .tiles import Case, cuts_of

_LIMITS = {"int8": (-128, 127), "int16": (-(1 << 15), (1 << 15) - 1)}


@st.composite
def _operators(draw: st.DrawFn, *, depthwise: bool) -> Convolution | DepthwiseConvolution:
    """Any window, valid or padded, from any layout to any layout."""
    stride = draw(st.sampled_from([1, 1, 2]))
    kernel = draw(st.sampled_from([(1, 1), (3, 3), (3, 3), (5, 5), (7, 7), (1, 3), (3, 1), (2, 2)]))
    pads = [draw(st.integers(0, size - 1)) for size in (kernel[0], kernel[0], kernel[1], kernel[1])]
    if kernel[1] - 1 - pads[2] > 3 or pads[2] > 3:
        pads[2] = 3
    if draw(st.integers(0, 4)) == 0:
        pads[2:] = -draw(st.integers(1, 3)), 0
    inputs = [draw(st.integers(1, 12)) * stride for _ in range(2)]
    least = (kernel[0], kernel[1] - min(pads[2], 0))
    inputs = [max(n, k) + (max(n, k) % stride) for n, k in zip(inputs, least, strict=True)]
    outputs = [
        (n + pads[2 * axis] + pads[2 * axis + 1] - kernel[axis]) // stride + 1
        for axis, n in enumerate(inputs)
    ]
    outputs[1] = min(outputs[1], inputs[1] // stride)
    dtype = draw(st.sampled_from(["int8", "int8", "int8", "int16"]))
    result = draw(st.sampled_from(["int8", dtype]))
    c, o = draw(st.integers(1, 6)), draw(st.integers(1, 40))
    if depthwise:
        c = o = draw(st.integers(1, 9))
    layout = Layout.PLANES
    if draw(st.booleans()) and outputs[0] % 2 == outputs[1] % 2 == 0:
        layout = Layout.QUADRANTS
    shape = (draw(st.integers(1, 2)), o, *outputs)
    make = DepthwiseConvolution if depthwise else Convolution
    return make(
        x=TensorType(
            dtype=dtype,
            shape=(shape[0], c, *inputs),
            layout=Layout.PLANES if stride == 1 else Layout.QUADRANTS,
        ),
        weights=TensorType(dtype="int8", shape=(o, *(() if depthwise else (c,)), *kernel)),
        y=TensorType(dtype=result, shape=shape, layout=layout),
        padding=Padding(top=pads[0], bottom=pads[1], left=pads[2], right=pads[3]),
        stride=stride,
        input_zp=draw(st.integers(-128, 127)) if dtype == "int8" else 0,
        rescale=_scaling(draw, dtype, result, o),
        sum_bits=0 if dtype == "int8" else 31,
    )


def _scaling(draw: st.DrawFn, dtype: str, result: str, channels: int) -> Rescale:
    chance = np.random.default_rng(draw(st.integers(0, 99)))
    bits, usual = (30, 40) if dtype == "int8" else (14, 32)
    count = channels if draw(st.booleans()) else 1
    shifts = draw(st.lists(st.integers(usual - 2, usual + 4), min_size=1, max_size=3))
    low, high = _LIMITS[result]
    return Rescale(
        multipliers=tuple(int(m) for m in chance.integers(1 << bits, 1 << (bits + 1), count)),
        shifts=tuple(np.resize(shifts, count).tolist()),
        zero_point=5 if result == "int8" else 0,
        low=low,
        high=high,
    )


def convolved(
    op: Convolution | DepthwiseConvolution, x: Array, weights: Array, bias: Array
) -> Array:
    """TOSA's answer; it wants windows that end with the input, so what is beyond is cut off."""
    p, s = op.padding, op.stride
    kernel, outputs = op.weights.shape[-2:], op.y.shape[2:]
    pad = []
    held = x.transpose(0, 2, 3, 1)
    for axis, (before, size, out) in enumerate(zip((p.top, p.left), kernel, outputs, strict=True)):
        end = (out - 1) * s - before + size
        pad += [max(before, 0), max(end - x.shape[2 + axis], 0)]
        held = held.take(range(-min(before, 0), min(end, x.shape[2 + axis])), axis=1 + axis)
    if isinstance(op, DepthwiseConvolution):
        w = weights.transpose(1, 2, 0)[..., None]
        sums = tosa.depthwise_conv2d(held, w, bias, pad=pad, stride=(s, s), input_zp=op.input_zp)
    else:
        w = weights.transpose(0, 2, 3, 1)
        sums = tosa.conv2d(held, w, bias, pad=pad, stride=(s, s), input_zp=op.input_zp)
    r = op.rescale
    assert isinstance(r, Rescale)
    scaled = tosa.rescale(sums, r.multipliers, r.shifts, output_zp=r.zero_point, dtype=op.y.dtype)
    return scaled.transpose(0, 3, 1, 2)


def _case(op: Convolution | DepthwiseConvolution, number: int, seed: int) -> Case:
    x = numbers(seed, op.x.shape, op.x.dtype)
    weights = numbers(seed + 1, op.weights.shape, "int8")
    bias = numbers(seed + 2, (op.y.shape[1],), "int32", bound=10_000)
    kernels = KERNELS[type(op)]
    return Case(
        op=op,
        kernel=kernels[number % len(kernels)],
        operands={"x": x},
        constants={"weights": weights, "bias": bias},
        expected=convolved(op, x, weights, bias),
    )


@pytest.mark.parametrize("depthwise", [False, True], ids=["full", "depthwise"])
@given(data=st.data())
@settings(max_examples=20, deadline=None)
def test_tiles_of_any_convolution_make_the_whole(depthwise: bool, data: st.DataObject) -> None:
    op = data.draw(
        _operators(depthwise=depthwise).filter(lambda op: KERNELS[type(op)][0].accepts(op) is None)
    )
    case = _case(op, data.draw(st.integers(0, 2)), data.draw(st.integers(0, 99)))
    case.check(data.draw(cuts_of(op, case.kernel)))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("number", [0, 1, "depthwise"])
@given(data=st.data())
@settings(max_examples=12, deadline=None)
def test_tiles_of_bfloat16_make_the_whole(
    stride: int, number: int | str, data: st.DataObject
) -> None:
    """Whole numbers, whose sums are exact in any order."""
    depthwise = number == "depthwise"
    h, w, c = (data.draw(st.integers(1, most)) for most in (9, 9, 7))
    o = c if depthwise else data.draw(st.integers(1, 20))
    chance = np.random.default_rng(data.draw(st.integers(0, 99)))
    x = chance.integers(-9, 10, (1, c, h * stride, w * stride)).astype(ml_dtypes.bfloat16)
    inner = () if depthwise else (c,)
    weights = chance.integers(-3, 4, (o, *inner, 3, 3)).astype(ml_dtypes.bfloat16)
    bias = chance.integers(-9, 10, o).astype(np.float32)
    make = DepthwiseConvolution if depthwise else Convolution
    op = make(
        x=TensorType(
            dtype="bfloat16",
            shape=x.shape,
            layout=Layout.PLANES if stride == 1 else Layout.QUADRANTS,
        ),
        weights=TensorType(dtype="bfloat16", shape=weights.shape),
        y=TensorType(dtype="bfloat16", shape=(1, o, h, w), layout=Layout.PLANES),
        padding=Padding(top=1, bottom=1, left=1, right=1),
        stride=stride,
        rescale=FloatRange(-100, 100),
    )
    kernel = KERNELS[make][0 if depthwise else int(number)]
    wide = weights.astype(np.float32)
    if depthwise:
        wide = np.einsum("oij,oc->ocij", wide, np.eye(c, dtype=np.float32))
    padded = np.pad(x.astype(np.float32), ((0, 0), (0, 0), (1, 1), (1, 1)))
    sums = bias[:, None, None] + sum(
        np.einsum(
            "oc,nchw->nohw",
            wide[:, :, j, i],
            padded[:, :, j : j + h * stride : stride, i : i + w * stride : stride],
        )
        for j in range(3)
        for i in range(3)
    )
    case = Case(
        op=op,
        kernel=kernel,
        operands={"x": x},
        constants={"weights": weights, "bias": bias},
        expected=np.clip(sums, -100, 100).astype(ml_dtypes.bfloat16),
    )
    case.check(data.draw(cuts_of(op, kernel)))
