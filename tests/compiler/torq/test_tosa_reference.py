"""The NumPy reference of TOSA against IREE's CPU backend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from . import iree_tosa, tosa

pytest.importorskip("iree.compiler", reason="the second opinion needs IREE's compiler")
pytest.importorskip("iree.runtime", reason="the second opinion needs IREE's runtime")

_ROUNDING = "#tosa.rounding_mode<{}>"


def _random(seed: int, shape: Sequence[int], dtype: str) -> tosa.Array:
    info = np.iinfo(dtype)
    low, high = max(info.min, -40_000), min(info.max, 40_000)
    return (
        np.random.default_rng(seed).integers(low, high, tuple(shape), endpoint=True).astype(dtype)
    )


def _same(
    expected: tosa.Array,
    op: str,
    inputs: Sequence[tosa.Array],
    dtype: str,
    constants: Sequence[tosa.Array] = (),
    attributes: Mapping[str, str] | None = None,
) -> None:
    result = (expected.shape, dtype)
    found = iree_tosa.run(op, inputs, result, constants=constants, attributes=attributes)
    np.testing.assert_array_equal(expected.astype(dtype), found)


def _window(pad: Sequence[int], stride: Sequence[int], dilation: Sequence[int]) -> dict[str, str]:
    return {
        "acc_type": "i32",
        "pad": iree_tosa.array(pad),
        "stride": iree_tosa.array(stride),
        "dilation": iree_tosa.array(dilation),
    }


def _zero_points(first: int, second: int, dtype: str = "int8") -> list[tosa.Array]:
    return [np.array([first], dtype), np.array([second], dtype)]


@pytest.mark.parametrize(
    ("shape", "kernel", "pad", "stride", "dilation"),
    [
        ((1, 7, 6, 3), (4, 3, 3), (1, 1, 1, 1), (1, 1), (1, 1)),
        ((2, 9, 9, 2), (5, 5, 3), (2, 2, 1, 1), (2, 2), (1, 1)),
        ((1, 9, 8, 2), (3, 3, 2), (0, 0, 0, 0), (1, 1), (2, 3)),
    ],
)
def test_conv2d_agrees(
    shape: tuple[int, ...],
    kernel: tuple[int, int, int],
    pad: tuple[int, ...],
    stride: tuple[int, int],
    dilation: tuple[int, int],
) -> None:
    x = _random(0, shape, "int8")
    weights = _random(1, (*kernel, shape[3]), "int8")
    bias = _random(2, kernel[:1], "int32")
    expected = tosa.conv2d(x, weights, bias, pad=pad, stride=stride, dilation=dilation, input_zp=-3)
    attributes = _window(pad, stride, dilation)
    _same(expected, "conv2d", [x, weights, bias], "int32", _zero_points(-3, 0), attributes)


def test_depthwise_conv2d_agrees() -> None:
    x, weights = _random(3, (1, 6, 8, 3), "int8"), _random(4, (3, 3, 3, 2), "int8")
    bias = _random(5, (6,), "int32")
    expected = tosa.depthwise_conv2d(x, weights, bias, pad=(1, 0, 1, 0), stride=(1, 2), input_zp=7)
    attributes = _window((1, 0, 1, 0), (1, 2), (1, 1))
    _same(expected, "depthwise_conv2d", [x, weights, bias], "int32", _zero_points(7, 0), attributes)


def test_matmul_agrees() -> None:
    a, b = _random(6, (2, 3, 5), "int8"), _random(7, (2, 5, 4), "int8")
    expected = tosa.matmul(a, b, a_zp=2, b_zp=-1)
    _same(expected, "matmul", [a, b], "int32", _zero_points(2, -1))


@pytest.mark.parametrize("double", [False, True])
@pytest.mark.parametrize("shifts", [[30, 31, 32, 33], [38, 38, 39, 40]])
def test_rescale_agrees(double: bool, shifts: list[int]) -> None:
    x = _random(8, (1, 4, 2, 4), "int32")
    multipliers = [1073741825, 1173741825, 1273741825, 2073741825]
    expected = tosa.rescale(x, multipliers, shifts, output_zp=5, double_round=double)
    constants = [
        np.array(multipliers, np.int32),
        np.array(shifts, np.int8),
        np.array([0], np.int32),
        np.array([5], np.int8),
    ]
    attributes = {
        "scale32": "true",
        "rounding_mode": _ROUNDING.format("DOUBLE_ROUND" if double else "SINGLE_ROUND"),
        "per_channel": "true",
        "input_unsigned": "false",
        "output_unsigned": "false",
    }
    _same(expected, "rescale", [x], "int8", constants, attributes)


def test_max_pool2d_agrees() -> None:
    x = _random(9, (1, 7, 8, 3), "int8")
    expected = tosa.max_pool2d(x, kernel=(3, 2), stride=(2, 2), pad=(1, 1, 0, 0))
    attributes = {
        "kernel": iree_tosa.array((3, 2)),
        "stride": iree_tosa.array((2, 2)),
        "pad": iree_tosa.array((1, 1, 0, 0)),
    }
    _same(expected, "max_pool2d", [x], "int8", (), attributes)


@pytest.mark.parametrize("pad", [(0, 0, 0, 0), (1, 1, 1, 1)])
def test_avg_pool2d_agrees(pad: tuple[int, ...]) -> None:
    x = _random(10, (1, 6, 6, 3), "int8")
    expected = tosa.avg_pool2d(x, kernel=(2, 2), stride=(2, 2), pad=pad, input_zp=-4, output_zp=3)
    attributes = {
        "kernel": iree_tosa.array((2, 2)),
        "stride": iree_tosa.array((2, 2)),
        "pad": iree_tosa.array(pad),
        "acc_type": "i32",
    }
    _same(expected, "avg_pool2d", [x], "int8", _zero_points(-4, 3), attributes)


@pytest.mark.parametrize("op", ["add", "sub"])
def test_sums_agree(op: str) -> None:
    a, b = _random(11, (3, 1, 4), "int32"), _random(12, (3, 5, 4), "int32")
    expected = {"add": tosa.add, "sub": tosa.sub}[op](a, b)
    _same(expected, op, [a, b], "int32")


@pytest.mark.parametrize("shift", [0, 7])
def test_mul_agrees(shift: int) -> None:
    a, b = _random(13, (6, 5), "int32"), _random(14, (6, 5), "int32")
    _same(tosa.mul(a, b, shift=shift), "mul", [a, b], "int32", [np.array([shift], np.int8)])


def test_table_agrees() -> None:
    x, entries = _random(15, (5, 7), "int8"), _random(16, (256,), "int8")
    _same(tosa.table(x, entries), "table", [x], "int8", [entries])
    wide, long = _random(17, (5, 7), "int16"), _random(18, (513,), "int16")
    _same(tosa.table(wide, long), "table", [wide], "int32", [long])


@pytest.mark.parametrize("rounding", [False, True])
def test_arithmetic_right_shift_agrees(rounding: bool) -> None:
    a = _random(19, (40,), "int32")
    b = np.random.default_rng(20).integers(0, 32, 40).astype(np.int32)
    expected = tosa.arithmetic_right_shift(a, b, rounding=rounding)
    attributes = {"round": "true" if rounding else "false"}
    _same(expected, "arithmetic_right_shift", [a, b], "int32", (), attributes)


def test_unary_operators_agree() -> None:
    x = _random(21, (33,), "int32")
    _same(tosa.absolute(x), "abs", [x], "int32")
    _same(tosa.clz(x), "clz", [x], "int32")
    narrow = _random(22, (33,), "int8")
    expected = tosa.negate(narrow, input_zp=3, output_zp=-2)
    _same(expected, "negate", [narrow], "int8", _zero_points(3, -2))
    attributes = {"min_val": "-7 : i8", "max_val": "90 : i8"}
    _same(tosa.clamp(narrow, -7, 90), "clamp", [narrow], "int8", (), attributes)


def test_reductions_agree() -> None:
    x = _random(23, (3, 4, 5), "int32")
    _same(tosa.reduce_sum(x, 1), "reduce_sum", [x], "int32", (), {"axis": "1 : i32"})
    narrow = _random(24, (3, 4, 5), "int8")
    _same(tosa.argmax(narrow, 2), "argmax", [narrow], "int32", (), {"axis": "2 : i32"})


def test_gather_agrees() -> None:
    values = _random(25, (2, 6, 3), "int8")
    indices = np.random.default_rng(26).integers(0, 6, (2, 4)).astype(np.int32)
    _same(tosa.gather(values, indices), "gather", [values, indices], "int8")


def test_what_the_specification_leaves_open_is_refused() -> None:
    with pytest.raises(tosa.Unpredictable, match="exceeds 32 bits"):
        tosa.add(np.array([1 << 30], np.int32), np.array([1 << 30], np.int32))
    with pytest.raises(tosa.Unpredictable, match="shift 1"):
        tosa.rescale(np.array([1], np.int32), [1 << 30], [1])
