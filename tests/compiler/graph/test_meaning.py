"""The compiler's fast meanings of operators against the slow reference of the specification."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from assay.compiler.graph.meaning import arithmetic, moves, pooling, products
from tests.compiler.torq import tosa

Array = np.ndarray


def _random(seed: int, shape: Sequence[int], dtype: str = "int8") -> Array:
    info = np.iinfo(dtype)
    random = np.random.default_rng(seed)
    return random.integers(info.min, info.max, tuple(shape), endpoint=True).astype(dtype)


@pytest.mark.parametrize("double_round", [False, True])
@pytest.mark.parametrize("shift", [2, 30, 31, 32, 37, 50, 62])
def test_scaling_rounds_as_specified(shift: int, double_round: bool) -> None:
    x = np.concatenate([_random(1, (500,), "int32") // 64, np.arange(-40, 40, dtype=np.int32)])
    multiplier = 1 << 28 if shift < 31 else 1_288_490_189
    if shift < 30:
        multiplier = 3
        x = x // 16
    expected = tosa.rescale(
        x, [multiplier], [shift], input_zp=3, output_zp=-7, dtype="int16", double_round=double_round
    )
    found = arithmetic.scaled(
        x, multiplier, shift, input_zp=3, output_zp=-7, dtype="int16", double_round=double_round
    )
    np.testing.assert_array_equal(expected, found)


@pytest.mark.parametrize(
    ("pad", "stride", "dilation"),
    [
        ((1, 1, 1, 1), (1, 1), (1, 1)),
        ((0, 2, 1, 0), (2, 2), (1, 1)),
        ((2, 2, 2, 2), (1, 1), (2, 2)),
    ],
)
def test_convolutions_are_as_specified(
    pad: tuple[int, ...], stride: tuple[int, int], dilation: tuple[int, int]
) -> None:
    x, bias = _random(1, (2, 7, 8, 3)), _random(3, (4,), "int32") // 65536
    more = {"stride": stride, "dilation": dilation, "input_zp": 5, "weight_zp": -3}
    pads = {"pad": pad, **more}
    if (7 + pad[0] + pad[1] - 2 * dilation[0] - 1) % stride[0]:
        pads["pad"] = (pad[0] + 1, *pad[1:])
    if (8 + pads["pad"][2] + pads["pad"][3] - 2 * dilation[1] - 1) % stride[1]:
        pads["pad"] = (*pads["pad"][:3], pads["pad"][3] + 1)
    w = _random(2, (4, 3, 3, 3))
    expected = tosa.conv2d(x, w, bias, **pads)
    found = products.convolved(x, w, bias, pads=pads["pad"], **more)
    np.testing.assert_array_equal(expected, found)
    w = _random(2, (3, 3, 3, 2))
    bias = _random(3, (6,), "int32") // 65536
    expected = tosa.depthwise_conv2d(x, w, bias, **pads)
    found = products.convolved_by_channel(x, w, bias, pads=pads["pad"], **more)
    np.testing.assert_array_equal(expected, found)


def test_products_of_matrices_are_as_specified() -> None:
    a, b = _random(1, (2, 3, 70)), _random(2, (2, 70, 5))
    expected = tosa.matmul(a, b, a_zp=3, b_zp=-9)
    np.testing.assert_array_equal(expected, products.matrix_product(a, b, a_zp=3, b_zp=-9))


@pytest.mark.parametrize("dtype", ["int8", "int16"])
def test_pooling_is_as_specified(dtype: str) -> None:
    x = _random(1, (1, 9, 9, 3), dtype)
    pad, kernel, stride = (1, 1, 1, 1), (3, 3), (2, 2)
    expected = tosa.max_pool2d(x, kernel=kernel, stride=stride, pad=pad)
    found = pooling.largest(x, dtype, kernel=kernel, stride=stride, pads=pad)
    np.testing.assert_array_equal(expected, found)
    zeros = {"input_zp": 4, "output_zp": -2} if dtype == "int8" else {}
    expected = tosa.avg_pool2d(x, kernel=kernel, stride=stride, pad=pad, **zeros)
    found = pooling.mean(x, dtype, kernel=kernel, stride=stride, pads=pad, **zeros)
    np.testing.assert_array_equal(expected, found)


def test_tables_shifts_and_zeros_are_as_specified() -> None:
    x = _random(1, (1000,), "int16")
    entries = _random(2, (513,), "int16")
    np.testing.assert_array_equal(tosa.table(x, entries), arithmetic.looked_up(x, entries))
    x8, entries8 = _random(1, (1000,)), _random(2, (256,))
    np.testing.assert_array_equal(tosa.table(x8, entries8), arithmetic.looked_up(x8, entries8))
    wide = np.concatenate([_random(3, (1000,), "int32"), np.arange(-9, 9, dtype=np.int32)])
    np.testing.assert_array_equal(tosa.clz(wide), arithmetic.leading_zeros(wide, 32))
    by = np.abs(_random(4, wide.shape, "int32")) % 31
    for rounding in (False, True):
        expected = tosa.arithmetic_right_shift(wide, by, rounding=rounding)
        found = arithmetic.shifted_right(wide, by, rounding=rounding)
        np.testing.assert_array_equal(expected, found)


def test_resizing_is_as_specified() -> None:
    x = _random(1, (1, 4, 5, 3))
    scale, offset = (4, 2, 4, 2), (-1, -1)
    expected = tosa.resize_nearest(x, scale=scale, offset=offset, border=(1, 1))
    found = moves.resized_nearest(x, expected.shape[1:3], scale, offset)
    np.testing.assert_array_equal(expected, found)
