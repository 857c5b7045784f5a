"""No kernel needs more cycles than the vendor's nest: its slowest agent, counted by hand."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from assay.compiler.torq.kernels.kernel import Kernel
from assay.compiler.torq.kernels.variants import kernel_of, variants
from assay.compiler.torq.operators.elementwise import Table
from assay.compiler.torq.operators.moves import Transpose
from assay.compiler.torq.operators.operator import Operator
from assay.compiler.torq.operators.products import (
    Convolution,
    DepthwiseConvolution,
    FullyConnected,
    Padding,
)
from assay.compiler.torq.operators.quantisation import Rescale
from assay.compiler.torq.operators.reductions import Pool
from assay.compiler.torq.operators.tensors import Layout, Region, TensorType
from assay.compiler.torq.slice.counts import agents
from assay.compiler.torq.slice.kernel import SliceKernel

_SCALE = Rescale(multipliers=(1 << 30,), shifts=(40,))
_AROUND = Padding(top=1, bottom=1, left=1, right=1)


def _planes(*shape: int, split: bool = False) -> TensorType:
    layout = Layout.QUADRANTS if split else Layout.PLANES
    return TensorType(dtype="int8", shape=shape, layout=layout)


def _rows(*shape: int, dtype: str = "int8") -> TensorType:
    return TensorType(dtype=dtype, shape=shape)


def _convolution(c: int, o: int, side: int, kernel: int, stride: int = 1) -> Convolution:
    return Convolution(
        x=_planes(1, c, side * stride, side * stride, split=stride == 2),
        weights=_rows(o, c, kernel, kernel),
        y=_planes(1, o, side, side),
        padding=_AROUND if kernel == 3 else Padding(),
        stride=stride,
        rescale=_SCALE,
    )


def _fully_connected(i: int, o: int) -> FullyConnected:
    return FullyConnected(x=_rows(1, i), weights=_rows(o, i), y=_rows(1, o), rescale=_SCALE)


@dataclass(frozen=True)
class Line:
    op: Operator
    vendor: int
    """Cycles of the slowest agent."""


LINES = {
    "conv 3x3 16->16, 40x40": Line(_convolution(16, 16, 40, 3), 14_400),
    "conv 3x3 64->64, 10x10": Line(_convolution(64, 64, 10, 3), 18_432),
    "conv 1x1 64->64, 20x20": Line(_convolution(64, 64, 20, 1), 7_168),
    "conv 3x3 stride 2 16->32, to 40x40": Line(_convolution(16, 32, 40, 3, 2), 28_800),
    "depthwise 3x3, 32 channels 40x40": Line(
        DepthwiseConvolution(
            x=_planes(1, 32, 40, 40),
            weights=_rows(32, 3, 3),
            y=_planes(1, 32, 40, 40),
            padding=_AROUND,
            rescale=_SCALE,
        ),
        3_200,
    ),
    "fully connected 256->1000": Line(_fully_connected(256, 1000), 4_096),
    "fully connected 1024->10": Line(_fully_connected(1024, 10), 2_048),
    "max pool 2x2 stride 2, 32x32x16": Line(
        Pool(
            kind="max",
            x=_planes(1, 16, 32, 32, split=True),
            y=_planes(1, 16, 16, 16),
            kernel=(2, 2),
            stride=(2, 2),
        ),
        256,
    ),
    "max pool 5x5 stride 1, 10x10x128": Line(
        Pool(
            kind="max",
            x=_planes(1, 128, 10, 10),
            y=_planes(1, 128, 10, 10),
            kernel=(5, 5),
            padding=Padding(top=2, bottom=2, left=2, right=2),
        ),
        6_400,
    ),
    "table of int16, 16,384 elements": Line(
        Table(
            x=_rows(16_384, dtype="int16"),
            y=_rows(16_384, dtype="int16"),
            entries=tuple(range(513)),
        ),
        8_192,
    ),
    "transpose 64x96": Line(Transpose(x=_rows(64, 96), y=_rows(96, 64), order=(1, 0)), 96),
    "transpose 40x40x16 to planes": Line(
        Transpose(
            x=_rows(1, 40, 40, 16),
            y=_planes(1, 16, 40, 40),
            order=(0, 3, 1, 2),
        ),
        12_800,
    ),
}


def _slowest(op: Operator) -> int:
    kernel: Kernel[Operator] = kernel_of(op)
    whole = Region.whole(op.y.shape)
    nests = kernel.nests(op, whole, kernel.unplaced(op, whole))
    return sum(max(agents(nest).values()) for nest in nests if isinstance(nest, SliceKernel))


@pytest.mark.parametrize("name", LINES)
def test_no_kernel_needs_more_cycles_than_the_vendors(name: str) -> None:
    line = LINES[name]
    slowest, cost = (
        _slowest(line.op),
        kernel_of(line.op).cost(line.op, Region.whole(line.op.y.shape)),
    )
    print(f"{name}: {cost} cycles, slowest agent {slowest}, vendor {line.vendor}")
    assert slowest <= line.vendor
    # The first block is summed while nothing is activated, or the last activated alone.
    assert cost - slowest <= 16


def test_wider_groups_help_where_a_plane_does_not_fill_vectors() -> None:
    costs = {
        kernel.name: kernel.cost(op, Region.whole(op.y.shape))
        for op in [LINES["conv 1x1 64->64, 20x20"].op]
        for kernel in variants(op)
    }
    assert costs["convolution 16x16"] < costs["convolution 32x8"] < costs["convolution 64x4"]


def test_small_outputs_are_not_padded_to_a_whole_vector() -> None:
    op = _fully_connected(1024, 10)
    footprint = kernel_of(op).footprint(op, Region.whole(op.y.shape))
    assert footprint["weights"] == 1024 * 16
