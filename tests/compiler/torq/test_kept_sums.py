"""Sums over some of the inputs stay in PRAM until the last task activates them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.compiler.torq.kernels.fully_connected import FullyConnectedKernel
from assay.compiler.torq.kernels.kernel import Kernel
from assay.compiler.torq.kernels.planes.convolution import ConvolutionKernel
from assay.compiler.torq.operators.operator import Operator
from assay.compiler.torq.operators.products import Convolution, FullyConnected, Padding
from assay.compiler.torq.operators.quantisation import FloatRange, Rescale
from assay.compiler.torq.operators.tensors import Layout, Region, TensorType

from . import tosa
from .machine import Array, Machine, numbers
from .test_convolution_tiles import convolved

_SCALE = Rescale(multipliers=(1_400_000_000,), shifts=(41,), zero_point=3)


def _layer(i: int, o: int, dtype: str = "int8") -> FullyConnected:
    floating = dtype == "bfloat16"
    return FullyConnected(
        x=TensorType(dtype=dtype, shape=(1, i)),
        weights=TensorType(dtype="bfloat16" if floating else "int8", shape=(o, i)),
        y=TensorType(dtype="bfloat16" if floating else "int8", shape=(1, o)),
        rescale=FloatRange() if floating else _SCALE,
        sum_bits=31 if dtype == "int16" else 0,
    )


def _chain(kernel: Kernel[Any], op: Operator, count: int) -> list[Kernel[Any]]:
    """Kernels that sum over `count` terms each and make the whole result."""
    terms, _ = kernel.terms(op)
    out = Region.whole(op.y.shape)
    found = (kernel.over_terms(op, out, first, count) for first in range(0, terms, count))
    return [part for part in found if part is not None]


def _made(
    op: Operator, kernels: Sequence[Kernel[Any]], x: Array, weights: Array, bias: Array
) -> Array:
    """The result by kernels one after the other, each with what it needs alone."""
    out = Region.whole(op.y.shape)
    planes = op.y.layout is Layout.PLANES
    machine = Machine(noise=True)
    places = {"y": machine.room("y", op.y.dtype, op.y.shape, planes=planes)}
    tasks, costs = [], 0
    for number, kernel in enumerate(kernels):
        (need,) = kernel.input_regions(op, out)
        bounds = zip(need.region.starts, need.region.stops, strict=True)
        values = x[tuple(slice(a, b) for a, b in bounds)].copy()
        own = {**places, "x": machine.give(f"x{number}", values, planes=planes)}
        packed = kernel.pack(op, out, {"weights": weights, "bias": bias})
        for constant in kernel.constants(op, out):
            assert packed[constant.name].shape == constant.shape
            data = packed[constant.name]
            own[constant.name] = machine.layout.constant(f"{constant.name}{number}", data)
        tasks += kernel.emit(op, out, own)
        costs += kernel.cost(op, out)
    machine.run(tasks)
    assert costs == sum(cycles.total for cycles in machine.cycles)
    return machine.take(places["y"])


@given(
    i=st.integers(2, 90),
    o=st.integers(1, 64),
    count=st.integers(1, 60),
    dtype=st.sampled_from(["int8", "int16"]),
)
@settings(max_examples=30, deadline=None)
def test_tiles_of_a_reduction_make_the_whole(i: int, o: int, count: int, dtype: str) -> None:
    o = min(o, 32) if dtype == "int16" else o
    op = _layer(i, o, dtype)
    x, weights = numbers(1, (1, i), dtype, bound=3000), numbers(2, (o, i), "int8")
    bias = numbers(3, (o,), "int32", bound=9999)
    sums = tosa.fully_connected(x, weights, bias)
    kernels = _chain(FullyConnectedKernel(), op, count)
    assert len(kernels) == -(-i // count)
    expected = np.clip(((sums * 1_400_000_000 + (1 << 40)) >> 41) + 3, -128, 127)
    np.testing.assert_array_equal(_made(op, kernels, x, weights, bias), expected)


def test_float_sums_are_kept_to_the_bit() -> None:
    op = _layer(24, 32, "bfloat16")
    x, weights = numbers(1, (1, 24), "bfloat16"), numbers(2, (32, 24), "bfloat16")
    bias = numbers(3, (32,), "bfloat16").astype(np.float32)
    total = np.zeros(32, np.float32)
    for k in range(24):
        total = total + x[0, k].astype(np.float32) * weights[:, k].astype(np.float32)
    expected = (total + bias).astype(ml_dtypes.bfloat16)
    for count in (24, 7):
        kernels = _chain(FullyConnectedKernel(), op, count)
        found = _made(op, kernels, x, weights, bias)
        assert found[0].tobytes() == expected.tobytes()


@given(
    c=st.integers(2, 20),
    count=st.integers(1, 12),
    shape=st.sampled_from([(4, 8, 8), (8, 4, 7), (16, 4, 4), (16, 2, 5)]),
)
@settings(max_examples=25, deadline=None)
def test_channels_of_a_convolution_are_summed_part_by_part(
    c: int, count: int, shape: tuple[int, int, int]
) -> None:
    group, h, w = shape
    op = Convolution(
        x=TensorType(dtype="int8", shape=(1, c, h, w), layout=Layout.PLANES),
        weights=TensorType(dtype="int8", shape=(group, c, 3, 3)),
        y=TensorType(dtype="int8", shape=(1, group, h, w), layout=Layout.PLANES),
        padding=Padding(top=1, bottom=1, left=1, right=1),
        rescale=_SCALE,
        input_zp=-5,
    )
    x, weights = numbers(1, op.x.shape, "int8"), numbers(2, op.weights.shape, "int8")
    bias = numbers(3, (group,), "int32", bound=9999)
    kernels = _chain(ConvolutionKernel(group), op, count)
    assert len(kernels) == -(-c // count)
    found = _made(op, kernels, x, weights, bias)
    np.testing.assert_array_equal(found, convolved(op, x, weights, bias))


def test_more_pixels_than_a_block_has_are_not_kept() -> None:
    plane = TensorType(dtype="int8", shape=(1, 4, 9, 9), layout=Layout.PLANES)
    weights = TensorType(dtype="int8", shape=(4, 4, 1, 1))
    op = Convolution(x=plane, weights=weights, y=plane, rescale=_SCALE)
    assert ConvolutionKernel(4).over_terms(op, Region.whole(plane.shape), 0, 2) is None


@pytest.mark.parametrize("op", [_layer(9, 65), _layer(9, 100)])
def test_more_than_a_block_is_not_kept(op: FullyConnected) -> None:
    assert FullyConnectedKernel().over_terms(op, Region.whole(op.y.shape), 0, 4) is None
