"""tinygrad's operators on the device ASSAY equal NumPy's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("tinygrad", reason='needs tinygrad: pip install "assay-emulator[tinygrad]"')

from tinygrad import Context, Tensor, dtypes

import assay.tinygrad

assay.tinygrad.register()

Array = NDArray[Any]
BFLOAT = np.dtype(ml_dtypes.bfloat16)
# Sizes of matrices that are multiples of 8, as simdgroup matrices need them, and others.
WITH_TENSOR_CORES, WITHOUT_TENSOR_CORES = 64, 45


@pytest.fixture(autouse=True)
def on_the_device() -> Iterator[None]:
    """Tensors are made on ASSAY; kernels are compiled in this process."""
    with Context(DEV="ASSAY", PARALLEL=0):
        yield


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """`tiny` of tensors equals `numpy` of the same arrays."""

    name: str
    inputs: tuple[Array, ...]
    tiny: Callable[..., Tensor]
    numpy: Callable[..., Array]
    rtol: float = 1e-5
    atol: float = 1e-6


def floats(*shape: int, seed: int = 0, dtype: Any = np.float32) -> Array:
    return np.random.default_rng(seed).uniform(-2, 2, shape).astype(dtype)


def integers(*shape: int, dtype: Any = np.int32, low: int = -100, high: int = 100) -> Array:
    return np.random.default_rng(7).integers(low, high, shape).astype(dtype)


def elementwise() -> list[Case]:
    x, y = floats(45, 65), floats(45, 65, seed=1)
    positive = np.abs(x) + 0.1
    n, m = integers(3, 43), integers(3, 43, low=1)
    return [
        Case(name="add-broadcast", inputs=(x, y[:1]), tiny=Tensor.add, numpy=np.add),
        Case(name="exp", inputs=(x,), tiny=Tensor.exp, numpy=np.exp),
        Case(name="log", inputs=(positive,), tiny=Tensor.log, numpy=np.log),
        Case(name="sin", inputs=(100 * x,), tiny=Tensor.sin, numpy=np.sin),
        Case(name="sqrt", inputs=(positive,), tiny=Tensor.sqrt, numpy=np.sqrt),
        Case(name="pow", inputs=(positive, y), tiny=Tensor.pow, numpy=np.power, rtol=1e-4),
        Case(name="divide", inputs=(x, positive), tiny=Tensor.div, numpy=np.divide),
        Case(name="maximum", inputs=(x, y), tiny=Tensor.maximum, numpy=np.maximum),
        Case(
            name="where",
            inputs=(x, y),
            tiny=lambda a, b: (a < b).where(a * 2, b - 1),
            numpy=lambda a, b: np.where(a < b, a * 2, b - 1),
        ),
        Case(name="round-half-even", inputs=(x * 3,), tiny=Tensor.round, numpy=np.round),
        Case(
            name="integer-division-truncates",
            inputs=(n, m),
            tiny=lambda a, b: a.div(b, rounding_mode="trunc"),
            numpy=lambda a, b: np.trunc(a / b).astype(np.int32),
        ),
        Case(
            name="shifts-and-masks",
            inputs=(integers(99, dtype=np.uint32, low=0),),
            tiny=lambda a: ((a << 3) ^ (a >> 1)) & 0xFF,
            numpy=lambda a: ((a << 3) ^ (a >> 1)) & np.uint32(0xFF),
        ),
        Case(
            name="int64-keeps-high-bits",
            inputs=(integers(33, dtype=np.int64), integers(33, dtype=np.int64) + (1 << 40)),
            tiny=lambda a, b: a * b + (1 << 35),
            numpy=lambda a, b: a * b + (1 << 35),
        ),
        Case(
            name="int8-wraps",
            inputs=(integers(64, dtype=np.int8),),
            tiny=lambda a: a * 3,
            numpy=lambda a: (a * np.int8(3)).astype(np.int8),
        ),
        Case(
            name="bool",
            inputs=(x > 0, y > 0),
            tiny=lambda a, b: (a & b) ^ a.logical_not(),
            numpy=lambda a, b: (a & b) ^ ~a,
        ),
        Case(
            name="bitcast",
            inputs=(x,),
            tiny=lambda a: a.bitcast(dtypes.int32),
            numpy=lambda a: a.view(np.int32),
        ),
        Case(
            name="bitcast-to-bytes",
            inputs=(x,),
            tiny=lambda a: a.bitcast(dtypes.uint8),
            numpy=lambda a: a.view(np.uint8),
        ),
        Case(
            # One expression, which Metal's compiler fuses without fast math, too.
            name="half-arithmetic-rounds-once-to-half",
            inputs=(floats(257, dtype=np.float16), floats(257, seed=1, dtype=np.float16)),
            tiny=lambda a, b: a * b + a,
            numpy=lambda a, b: (a.astype(np.float64) * b + a).astype(np.float16),
            rtol=0,
            atol=0,
        ),
        Case(
            name="cast-float-to-integer",
            inputs=(50 * x,),
            tiny=lambda a: a.cast(dtypes.int16),
            numpy=lambda a: a.astype(np.int16),
        ),
    ]


def reductions() -> list[Case]:
    x = floats(33, 7, 65)
    square = floats(20, 20)
    return [
        Case(name="sum", inputs=(x,), tiny=Tensor.sum, numpy=np.sum, rtol=1e-4, atol=1e-3),
        Case(
            name="sum-of-many",
            inputs=(np.ones(1 << 18, np.float32),),
            tiny=Tensor.sum,
            numpy=np.sum,
            rtol=0,
        ),
        Case(
            name="max-of-an-axis",
            inputs=(x,),
            tiny=lambda a: a.max(axis=1),
            numpy=lambda a: a.max(axis=1),
        ),
        Case(
            name="argmax",
            inputs=(x,),
            tiny=lambda a: a.argmax(axis=2),
            numpy=lambda a: a.argmax(axis=2).astype(np.int32),
        ),
        Case(
            name="standard-deviation",
            inputs=(x,),
            tiny=lambda a: a.std(axis=(0, 2)),
            numpy=lambda a: a.std(axis=(0, 2), ddof=1),
        ),
        Case(
            name="softmax",
            inputs=(x,),
            tiny=lambda a: a.softmax(axis=2),
            numpy=lambda a: softmax(a),
        ),
        Case(
            name="any-all",
            inputs=(x > 1.9,),
            tiny=lambda a: a.any(axis=0) & ~a.all(axis=0),
            numpy=lambda a: a.any(axis=0) & ~a.all(axis=0),
        ),
        Case(
            name="cumulative-sum",
            inputs=(floats(3, 600),),
            tiny=lambda a: a.cumsum(axis=1),
            numpy=lambda a: a.cumsum(axis=1),
            atol=1e-4,
        ),
        Case(
            name="sort",
            inputs=(floats(2, 50),),
            tiny=lambda a: a.sort(dim=1)[0],
            numpy=lambda a: np.sort(a, axis=1),
        ),
        Case(
            name="triangle",
            inputs=(square,),
            tiny=lambda a: a.triu(1) + a.tril(-2),
            numpy=lambda a: np.triu(a, 1) + np.tril(a, -2),
        ),
    ]


def movement() -> list[Case]:
    x = floats(6, 10, 4)
    rows = integers(5, low=0, high=6)
    return [
        Case(
            name="permute-flip-pad",
            inputs=(x,),
            tiny=lambda a: a.permute(2, 0, 1).flip(1).pad(((1, 0), (0, 0), (2, 3))),
            numpy=lambda a: np.pad(a.transpose(2, 0, 1)[:, ::-1], ((1, 0), (0, 0), (2, 3))),
        ),
        Case(
            name="strided-slices",
            inputs=(x,),
            tiny=lambda a: a[::2, 1:9:3, ::-1],
            numpy=lambda a: a[::2, 1:9:3, ::-1],
        ),
        Case(
            name="gather-rows",
            inputs=(x, rows),
            tiny=lambda a, i: a[i],
            numpy=lambda a, i: a[i],
        ),
        Case(
            name="concatenate",
            inputs=(x, x[:2] * 2),
            tiny=lambda a, b: Tensor.cat(a, b, a),
            numpy=lambda a, b: np.concatenate([a, b, a]),
        ),
    ]


def products() -> list[Case]:
    image, filters = floats(2, 3, 11, 9), floats(8, 3, 3, 3, seed=1)
    cases = [
        Case(
            name=f"matmul-{np.dtype(dtype).name}-{size}",
            inputs=(floats(size, size, dtype=dtype), floats(size, size, seed=1, dtype=dtype)),
            tiny=lambda a, b: a.dot(b, dtype=dtypes.float32),
            numpy=product,
            rtol=1e-4,
            atol=1e-4,
        )
        for dtype in (np.float32, np.float16, BFLOAT)
        for size in (WITH_TENSOR_CORES, WITHOUT_TENSOR_CORES)
    ]
    return [
        *cases,
        Case(
            name="convolution",
            inputs=(image, filters),
            tiny=lambda a, b: a.conv2d(b, padding=1, stride=2),
            numpy=convolution,
            rtol=1e-4,
            atol=1e-4,
        ),
        Case(
            name="max-pool",
            inputs=(image,),
            tiny=lambda a: a[:, :, :8, :8].max_pool2d(2),
            numpy=lambda a: a[:, :, :8, :8].reshape(2, 3, 4, 2, 4, 2).max(axis=(3, 5)),
        ),
        Case(
            name="attention",
            inputs=(floats(2, 16, 8), floats(2, 16, 8, seed=1), floats(2, 16, 8, seed=2)),
            tiny=lambda q, k, v: q.scaled_dot_product_attention(k, v),
            numpy=lambda q, k, v: softmax(q @ k.transpose(0, 2, 1) / np.sqrt(np.float32(8))) @ v,
            rtol=1e-4,
        ),
    ]


def softmax(x: Array) -> Array:
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    result: Array = powers / powers.sum(axis=-1, keepdims=True)
    return result


def product(a: Array, b: Array) -> Array:
    """Tensor cores multiply exactly; without them tinygrad rounds products to the inputs' type."""
    if len(a) == WITH_TENSOR_CORES:
        a, b = a.astype(np.float32), b.astype(np.float32)
    result: Array = (a[:, :, None] * b).astype(np.float32).sum(axis=1)
    return result


def convolution(x: Array, w: Array) -> Array:
    """Padding 1, stride 2, filters of 3 x 3."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))[:, :, ::2, ::2]
    return np.einsum("bchwij,ocij->bohw", windows, w)


def tensor(array: Array) -> Tensor:
    if array.dtype == BFLOAT:
        return Tensor(array.view(np.uint16)).bitcast(dtypes.bfloat16)
    return Tensor(array)


CASES = [*elementwise(), *reductions(), *movement(), *products()]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_operators_equal_numpy(case: Case) -> None:
    got = case.tiny(*(tensor(array) for array in case.inputs)).numpy()
    expected = np.asarray(case.numpy(*case.inputs))
    assert got.shape == expected.shape
    assert got.dtype == expected.dtype
    np.testing.assert_allclose(got, expected, rtol=case.rtol, atol=case.atol)
