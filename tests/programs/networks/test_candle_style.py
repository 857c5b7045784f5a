"""Maps, selections and columns, the kernels made by macros."""

import math
from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest

from tests.support.metal_kernel import kernel, run


def sizes(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.uint64)


def strides_of(array: np.ndarray) -> np.ndarray:
    return sizes(*(s // array.itemsize for s in array.strides))


def silu(x: np.ndarray) -> np.ndarray:
    return x / (1 + np.exp(-x))


def gelu(x: np.ndarray) -> np.ndarray:
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def gelu_erf(x: np.ndarray) -> np.ndarray:
    return 0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


@pytest.mark.parametrize(
    ("name", "dtype", "reference", "tolerance"),
    [
        ("silu_f16", np.float16, silu, 2e-3),
        ("silu_bf16", ml_dtypes.bfloat16, silu, 2e-2),
        ("gelu_f32", np.float32, gelu, 1e-5),
        ("gelu_erf_f32", np.float32, gelu_erf, 2e-5),
        ("recip_f16", np.float16, np.reciprocal, 1e-3),
        ("sign_f32", np.float32, np.sign, 0),
    ],
)
def test_unary_operations(
    name: str, dtype: type, reference: Callable[[np.ndarray], np.ndarray], tolerance: float
) -> None:
    x = np.random.default_rng(1).uniform(-7, 7, (6, 25)).astype(dtype)
    packed, turned = np.zeros_like(x), np.zeros((25, 6), dtype=dtype)

    run(kernel("candle_ops", name), sizes(150), x, packed, threads=160, threadgroup=32)
    run(
        kernel("candle_ops", f"{name}_strided"),
        sizes(150),
        sizes(2),
        sizes(25, 6),
        strides_of(x.T),
        x,
        turned,
        threads=160,
        threadgroup=32,
    )

    expected = reference(x.astype(np.float64))
    for result in (packed, turned.T):
        np.testing.assert_allclose(
            result.astype(np.float64), expected, rtol=tolerance, atol=tolerance
        )


@pytest.mark.parametrize(
    ("name", "dtype", "target", "reference"),
    [
        ("bdiv_f32", np.float32, np.float32, np.divide),
        ("bmaximum_i64", np.int64, np.int64, np.maximum),
        ("le_f16", np.float16, np.uint8, np.less_equal),
        ("bsub_u8", np.uint8, np.uint8, np.subtract),
    ],
)
def test_binary_operations(
    name: str, dtype: type, target: type, reference: Callable[..., np.ndarray]
) -> None:
    rng = np.random.default_rng(2)
    left = rng.integers(0, 9, (4, 5)).astype(dtype)
    right = rng.integers(1, 9, (7, 5)).astype(dtype)
    spread = np.broadcast_to(left.T[:, None], (5, 7, 4))
    other = np.broadcast_to(right.T[..., None], (5, 7, 4))
    result = np.zeros((5, 7, 4), dtype=target)

    run(
        kernel("candle_ops", f"{name}_strided"),
        sizes(140),
        sizes(3),
        sizes(5, 7, 4),
        strides_of(spread),
        strides_of(other),
        left,
        right,
        result,
        threads=192,
        threadgroup=64,
    )

    np.testing.assert_allclose(result, reference(spread, other).astype(target), rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "ids", "dtype"),
    [("u32_f32", np.uint32, np.float32), ("u8_i64", np.uint8, np.int64)],
)
def test_a_choice_between_two_arrays(name: str, ids: type, dtype: type) -> None:
    rng = np.random.default_rng(3)
    condition = rng.integers(0, 3, (6, 7)).astype(ids)
    yes, no = rng.integers(-(2**40), 2**40, (2, 7, 6)).astype(dtype)
    result = np.zeros((6, 7), dtype=dtype)

    run(
        kernel("candle_ops", f"where_{name}"),
        sizes(42),
        sizes(2),
        sizes(6, 7),
        strides_of(condition),
        strides_of(yes.T),
        sizes(0, 0),
        condition,
        yes,
        no,
        result,
        threads=42,
        threadgroup=32,
    )

    np.testing.assert_array_equal(result, np.where(condition != 0, yes.T, no[0, 0]))


@pytest.mark.parametrize(
    ("name", "ids", "dtype"),
    [("u32_f16", np.uint32, np.float16), ("u8_i64", np.uint8, np.int64)],
)
def test_selections_along_a_middle_axis(name: str, ids: type, dtype: type) -> None:
    rng = np.random.default_rng(4)
    values = rng.integers(-1000, 1000, (3, 8, 5)).astype(dtype)
    none = np.iinfo(ids).max
    chosen = np.array([7, 0, none, 3, 3, 200], dtype=ids)  # 200 is cut to the last
    result = np.full((3, 6, 5), 9, dtype=dtype)

    run(
        kernel("candle_ops", f"is_{name}"),
        sizes(90),
        sizes(3),
        sizes(8),
        sizes(5),
        sizes(6),
        values,
        chosen,
        result,
        threads=96,
        threadgroup=96,
    )

    expected = values[:, np.minimum(chosen, 7)]
    expected[:, chosen == none] = 0
    np.testing.assert_array_equal(result, expected)


def test_sums_scattered_along_a_middle_axis() -> None:
    rng = np.random.default_rng(5)
    values = rng.integers(0, 50, (2, 9, 4)).astype(np.float32)
    places = rng.integers(0, 5, values.shape).astype(np.uint32)
    result = np.ones((2, 5, 4), dtype=np.float32)
    expected = result.copy()

    run(
        kernel("candle_ops", "sa_u32_f32"),
        sizes(8),
        sizes(9),
        sizes(4),
        sizes(5),
        values,
        places,
        result,
        threads=8,
        threadgroup=32,
    )

    outer, _, inner = np.indices(values.shape)
    np.add.at(expected, (outer, places, inner), values)
    np.testing.assert_array_equal(result, expected)


def test_columns_of_a_one_dimensional_convolution() -> None:
    rng = np.random.default_rng(6)
    x = rng.standard_normal((2, 3, 11)).astype(np.float32)
    weight = rng.standard_normal((4, 3, 3)).astype(np.float32)
    stride, padding, dilation = 2, 2, 2
    length = (11 + 2 * padding - dilation * 2 - 1) // stride + 1
    columns = np.zeros((2, length, 3, 3), dtype=np.float32)

    run(
        kernel("candle_ops", "im2col1d_f32"),
        sizes(columns.size),
        sizes(length),
        sizes(3),
        sizes(stride),
        sizes(padding),
        sizes(dilation),
        sizes(2, 3, 11),
        strides_of(x),
        x,
        columns,
        threads=columns.size,
        threadgroup=50,
    )

    padded = np.pad(x, ((0, 0), (0, 0), (padding, padding)))
    expected = np.zeros((2, 4, length))
    for out in range(length):
        window = padded[:, :, out * stride : out * stride + 2 * dilation + 1 : dilation]
        expected[:, :, out] = np.einsum("bck,ock->bo", window, weight)
    products = np.einsum("blck,ock->bol", columns, weight)
    np.testing.assert_allclose(products, expected, rtol=1e-5, atol=1e-5)
