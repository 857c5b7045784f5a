"""Binary operations and copies over strided arrays of many types."""

from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest

from tests.support.metal_kernel import kernel, run

BF16 = ml_dtypes.bfloat16


def strides_of(array: np.ndarray) -> np.ndarray:
    """In elements, as kernels count them."""
    return np.array(array.strides, dtype=np.int64) // array.itemsize


def operands(dtype: type, *shape: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    if np.dtype(dtype).kind in "iub":
        low = 0 if np.dtype(dtype).kind in "ub" else -100
        high = 2 if np.dtype(dtype).kind == "b" else 100
        a, b = rng.integers(low, high, (2, *shape)).astype(dtype)
        return a, np.where(b == 0, np.ones_like(b), b)
    a, b = rng.standard_normal((2, *shape)) * 4
    if np.dtype(dtype).kind == "c":
        return (a + 1j * b).astype(dtype), (b - 1j).astype(dtype)
    return a.astype(dtype), b.astype(dtype)


def log_add_exp(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.logaddexp(a.astype(np.float64), b.astype(np.float64))


CASES = [
    ("Add", "int8", np.int8, np.add, 0),
    ("Multiply", "bfloat16", BF16, np.multiply, 0),
    ("Remainder", "int32", np.int32, np.remainder, 0),
    ("Remainder", "uint16", np.uint16, np.remainder, 0),
    ("Remainder", "float32", np.float32, np.remainder, 1e-6),
    ("Multiply", "complex64", np.complex64, np.multiply, 1e-5),
    ("LogAddExp", "float16", np.float16, log_add_exp, 2e-3),
    ("BitwiseXor", "int64", np.int64, np.bitwise_xor, 0),
    ("BitwiseXor", "bool_", np.bool_, np.bitwise_xor, 0),
]


@pytest.mark.parametrize(("op", "name", "dtype", "reference", "tolerance"), CASES)
def test_contiguous_arrays_several_elements_per_thread(
    op: str, name: str, dtype: type, reference: Callable[..., np.ndarray], tolerance: float
) -> None:
    a, b = operands(dtype, 133)
    result = np.zeros_like(a)
    per_thread = max(8 // a.itemsize, 1)

    run(
        kernel("strided", f"vv_{op}{name}"),
        a,
        b,
        result,
        np.uint32(a.size),
        threads=-(-a.size // per_thread),
        threadgroup=16,
    )

    expected = reference(a, b).astype(dtype)
    np.testing.assert_allclose(result, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(("op", "name", "dtype", "reference", "tolerance"), CASES[1:8:2])
def test_transposed_and_broadcast_arrays(
    op: str, name: str, dtype: type, reference: Callable[..., np.ndarray], tolerance: float
) -> None:
    a, b = operands(dtype, 3, 2, 5, 7)
    shape = (2, 7, 5, 3)
    turned = a.transpose(1, 3, 2, 0)
    spread = np.broadcast_to(b[:1, :, 2:3].transpose(1, 3, 2, 0), shape)
    result = np.zeros(shape, dtype=dtype)

    run(
        kernel("strided", f"g_{op}{name}"),
        a,
        b[:1, :, 2:3].copy(),
        result,
        np.array(shape, dtype=np.int32),
        strides_of(turned),
        strides_of_broadcast(b[:1, :, 2:3].copy(), shape),
        np.int32(4),
        threads=(3, 5, 14),
        threadgroup=(2, 3, 4),
    )

    expected = reference(turned, spread).astype(dtype)
    np.testing.assert_allclose(result, expected, rtol=tolerance, atol=tolerance)


def strides_of_broadcast(packed: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    return strides_of(np.broadcast_to(packed.transpose(1, 3, 2, 0), shape))


def test_a_comparison_of_complex_numbers() -> None:
    a, _ = operands(np.complex64, 40)
    b = np.where(np.arange(40) % 3 == 0, a, a + 1)
    result = np.zeros(40, dtype=np.bool_)

    run(
        kernel("strided", "vv_Equalcomplex64"),
        a,
        b,
        result,
        np.uint32(40),
        threads=40,
        threadgroup=32,
    )

    np.testing.assert_array_equal(result, a == b)


@pytest.mark.parametrize(
    ("name", "source", "target"),
    [
        ("bool_float32", np.bool_, np.float32),
        ("float32_bfloat16", np.float32, BF16),
        ("float32_complex64", np.float32, np.complex64),
    ],
)
def test_copies_between_strides_and_types(name: str, source: type, target: type) -> None:
    a, _ = operands(source, 4, 6, 5)
    turned = a[::2].transpose(2, 0, 1)
    result = np.zeros((2, 5, 6), dtype=target)

    run(
        kernel("strided", f"gg_copy{name}"),
        a,
        result,
        np.array(turned.shape, dtype=np.int32),
        strides_of(turned),
        strides_of(result.transpose(1, 0, 2)),
        np.int32(3),
        threads=turned.size,
        threadgroup=64,
    )

    np.testing.assert_array_equal(result.transpose(1, 0, 2), turned.astype(target))


def test_rows_by_negative_and_positive_indices() -> None:
    source = np.arange(50, dtype=np.int64) << 33
    indices = np.array([0, -1, 3, -25, 24], dtype=np.int32)
    result = np.zeros(5, dtype=np.int64)

    run(
        kernel("strided", "gather_lastint64"),
        source,
        indices,
        result,
        np.int64(2),
        np.uint32(25),
        threads=(1, 5),
        threadgroup=(1, 5),
    )

    np.testing.assert_array_equal(result, source[::2][indices])


def test_bytes_turned_in_three_dimensions() -> None:
    source = np.random.default_rng(1).integers(0, 256, (3, 5, 9), dtype=np.uint8)
    turned = source.transpose(1, 2, 0)
    result = np.zeros(turned.shape, dtype=np.uint8)

    run(
        kernel("strided", "copy_3duint8"),
        source,
        result,
        strides_of(turned),
        threads=(3, 9, 5),
        threadgroup=(2, 4, 4),
    )

    np.testing.assert_array_equal(result, turned)
