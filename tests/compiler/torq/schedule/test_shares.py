"""How tiles are shared between the slices."""

from __future__ import annotations

import pytest

from assay.compiler.torq.kernels.planes.convolution import ConvolutionKernel
from assay.compiler.torq.operators.products import Convolution, Padding
from assay.compiler.torq.operators.quantisation import Rescale
from assay.compiler.torq.operators.tensors import Layout, Region, TensorType
from assay.compiler.torq.schedule.options import USUAL
from assay.compiler.torq.schedule.tiling.shares import Balance, Splits, scales_differ
from assay.compiler.torq.schedule.tiling.tiler import Tiler

_KERNEL = ConvolutionKernel(4)


def _convolution(shifts: tuple[int, ...], rows: int = 8, columns: int = 16) -> Convolution:
    """A convolution of one channel per shift; shifts above 31 that round twice stay what they
    are.
    """
    channels = len(shifts)
    planes = {"dtype": "int8", "layout": Layout.PLANES}
    return Convolution(
        x=TensorType(shape=(1, 16, rows, columns), **planes),
        y=TensorType(shape=(1, channels, rows, columns), **planes),
        weights=TensorType(dtype="int8", shape=(channels, 16, 3, 3)),
        padding=Padding(top=1, bottom=1, left=1, right=1),
        rescale=Rescale(multipliers=(1 << 30,) * channels, shifts=shifts, double_round=True),
    )


def test_channels_are_cut_where_those_of_another_scale_begin() -> None:
    op = _convolution((40,) * 6 + (41,) * 8)
    assert scales_differ(op)
    split = Splits().split(op, _KERNEL, Region.whole(op.y.shape))
    assert split.channels == 6
    whole = _KERNEL.cost(op, Region.whole(op.y.shape))
    assert max(split.costs) < 0.55 * whole


def test_what_is_chosen_for_channels_does_not_depend_on_what_was_asked_before() -> None:
    op = _convolution((40,) * 6 + (41,) * 26)
    tiles = [Region.whole(op.y.shape).along(1, start, 8) for start in range(0, 32, 8)]
    asked, alone = Splits(), [Splits() for _ in tiles]
    backwards = [asked.split(op, _KERNEL, tile) for tile in reversed(tiles)]
    found = [each.split(op, _KERNEL, tile) for each, tile in zip(alone, tiles, strict=True)]
    assert backwards[::-1] == found


def test_a_tile_can_be_cut_like_another_one_of_the_same_channels() -> None:
    op = _convolution((40,) * 32)
    tile, splits = Region.whole(op.y.shape), Splits()
    assert splits.split(op, _KERNEL, tile, 12).channels == 12
    rows = splits.split(op, _KERNEL, tile, 0)
    assert rows.channels == 0 and len(rows.parts(tile)) == 2


@pytest.mark.parametrize("costs", [[(9000, 5000)] * 4, [(5000,)] * 4, [(100, 4000), (4000, 100)]])
def test_both_slices_work_about_as_long(costs: list[tuple[int, ...]]) -> None:
    balance = Balance(slices=2)
    for each in costs:
        assert sorted(balance.shared(each)) in ([0, 1], [0], [1])
    assert abs(balance.work[0] - balance.work[1]) <= 4000
    assert sum(balance.work) == sum(map(sum, costs))


def test_one_slice_gets_everything_if_there_is_one() -> None:
    balance = Balance(slices=1)
    assert [balance.shared((5000,)) for _ in range(3)] == [[0]] * 3


def test_rows_of_narrow_planes_stay_together_where_a_kernel_makes_few_pixels_at_a_time() -> None:
    """14 x 14 pixels are 12.25 vectors of 16, and 4 rows of them 3.5."""
    op = _convolution((40,) * 128, rows=14, columns=14)
    tiling = Tiler(USUAL).tiling(op, 200 << 10, frozenset({"x", "y"}))
    assert tiling is not None and tiling.kernel.name == "convolution 16x16"
    assert tiling.sizes[2] == 14
