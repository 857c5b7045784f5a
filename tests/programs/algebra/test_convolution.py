"""Convolutions, pooling and resizing of images."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from tests.support.metal_kernel import kernel, run

NAMES = (
    "batch",
    "in_channels",
    "in_height",
    "in_width",
    "out_channels",
    "out_height",
    "out_width",
    "kernel_h",
    "kernel_w",
    "stride",
    "padding",
    "dilation",
    "groups",
)
RESIZE = np.dtype(
    {
        "names": ["from", "to", "channels", "align_corners"],
        "formats": ["2u4", "2u4", "u4", "?"],
        "offsets": [0, 8, 16, 20],
        "itemsize": 24,
    }
)


def params(**values: int) -> bytes:
    defaults = {"stride": 1, "padding": 0, "dilation": 1, "groups": 1}
    return np.array([{**defaults, **values}.get(n, 0) for n in NAMES], dtype=np.int32).tobytes()


def windows(
    x: np.ndarray, size: tuple[int, int], stride: int, padding: int, dilation: int
) -> np.ndarray:
    """(..., out height, out width, kh, kw) of (..., height, width)."""
    edge = [(0, 0)] * (x.ndim - 2) + [(padding, padding)] * 2
    span = tuple(dilation * (s - 1) + 1 for s in size)
    view = sliding_window_view(np.pad(x.astype(np.float64), edge), span, axis=(-2, -1))
    return view[..., ::stride, ::stride, ::dilation, ::dilation]


@pytest.mark.parametrize(
    ("name", "dtype", "groups", "stride", "padding", "dilation"),
    [("float", np.float32, 1, 2, 1, 1), ("half", np.float16, 2, 1, 2, 2)],
)
def test_a_direct_convolution(
    name: str, dtype: type, groups: int, stride: int, padding: int, dilation: int
) -> None:
    rng = np.random.default_rng(groups)
    x = rng.standard_normal((2, 4, 9, 11)).astype(dtype)
    w = rng.standard_normal((6, 4 // groups, 3, 2)).astype(dtype)
    bias = rng.standard_normal(6).astype(dtype)
    view = windows(x, (3, 2), stride, padding, dilation)
    height, width = view.shape[2:4]
    y = np.zeros((2, 6, height, width), dtype=dtype)

    run(
        kernel("convolution", f"conv2d_{name}"),
        x,
        w,
        bias,
        y,
        params(
            **{"in_channels": 4, "in_height": 9, "in_width": 11, "out_channels": 6},
            **{"out_height": height, "out_width": width, "kernel_h": 3, "kernel_w": 2},
            **{"stride": stride, "padding": padding, "dilation": dilation, "groups": groups},
        ),
        threadgroups=(-(-width // 8), -(-height // 4), 12),
        threadgroup=(8, 4),
    )

    grouped = view.reshape(2, groups, 4 // groups, *view.shape[2:])
    taps = w.astype(np.float64).reshape(groups, 6 // groups, *w.shape[1:])
    expected = np.einsum("ngchwij,gocij->ngohw", grouped, taps).reshape(y.shape)
    expected += bias.astype(np.float64)[:, None, None]
    tolerance = 1e-5 if dtype is np.float32 else 2e-3
    np.testing.assert_allclose(y, expected, rtol=tolerance, atol=10 * tolerance)


def test_a_depthwise_convolution_by_tiles() -> None:
    rng = np.random.default_rng(3)
    height, width, channels = 13, 19, 8
    x = rng.standard_normal((height, width, channels)).astype(np.float16)
    w = rng.standard_normal((3, 3, channels)).astype(np.float16)
    y = np.zeros_like(x)

    run(
        kernel("convolution", "depthwise3x3"),
        x,
        w,
        y,
        params(in_channels=channels, in_height=height, in_width=width),
        threadgroups=(3, 2, channels // 4),
        threadgroup=(8, 8),
    )

    view = windows(x.transpose(2, 0, 1), (3, 3), 1, 1, 1)
    expected = np.einsum("chwij,ijc->hwc", view, w.astype(np.float64)).clip(0, 6)
    np.testing.assert_allclose(y, expected, rtol=2e-3, atol=2e-3)


def test_winograds_convolution() -> None:
    rng = np.random.default_rng(4)
    x = rng.standard_normal((3, 9, 12)).astype(np.float32)
    w = rng.standard_normal((5, 3, 3, 3)).astype(np.float32)
    transformed = np.zeros((5, 3, 4, 4), dtype=np.float32)
    y = np.full((5, 9, 12), np.nan, dtype=np.float32)

    run(
        kernel("convolution", "winograd_weights"),
        w,
        transformed,
        threads=15,
        threadgroup=32,
    )
    run(
        kernel("convolution", "winograd"),
        x,
        transformed,
        y,
        params(in_channels=3, in_height=9, in_width=12, out_height=9, out_width=12, padding=1),
        threads=(6, 5, 5),
        threadgroup=(6, 5, 1),
    )

    expected = np.einsum("chwij,ocij->ohw", windows(x, (3, 3), 1, 1, 1), w.astype(np.float64))
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-4)


def test_a_transposed_convolution() -> None:
    rng = np.random.default_rng(5)
    x = rng.standard_normal((3, 5, 4)).astype(np.float32)
    w = rng.standard_normal((3, 2, 3, 3)).astype(np.float32)
    height, width = (5 - 1) * 2 - 2 + 3, (4 - 1) * 2 - 2 + 3
    y = np.zeros((2, height, width), dtype=np.float32)

    run(
        kernel("convolution", "conv_transpose2d"),
        x,
        w,
        y,
        params(
            **{"in_channels": 3, "in_height": 5, "in_width": 4, "out_channels": 2, "stride": 2},
            **{"out_height": height, "out_width": width, "kernel_h": 3, "kernel_w": 3},
            padding=1,
        ),
        threads=(width, height, 2),
        threadgroup=(4, 4, 2),
    )

    full = np.zeros((2, height + 2, width + 2))
    for i, j in np.ndindex(5, 4):
        full[:, 2 * i : 2 * i + 3, 2 * j : 2 * j + 3] += np.einsum("c,coij->oij", x[:, i, j], w)
    np.testing.assert_allclose(y, full[:, 1:-1, 1:-1], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("kind", "reduce"), [(0, np.nanmax), (1, np.nanmean)])
def test_pooling(kind: int, reduce: Callable[..., np.ndarray]) -> None:
    x = np.random.default_rng(6).standard_normal((3, 10, 7)).astype(np.float32)
    y = np.zeros((3, 5, 4), dtype=np.float32)

    run(
        kernel("convolution", "pool2d", {0: np.int32(kind)}),
        x,
        y,
        params(
            in_height=10,
            in_width=7,
            out_height=5,
            out_width=4,
            kernel_h=3,
            kernel_w=3,
            stride=2,
            padding=1,
        ),
        threads=(4, 5, 3),
        threadgroup=(4, 4, 1),
    )

    padded = np.pad(x, ((0, 0), (1, 1), (1, 1)), constant_values=np.nan)
    view = sliding_window_view(padded, (3, 3), axis=(1, 2))[:, ::2, ::2]
    np.testing.assert_allclose(y, reduce(view, axis=(-2, -1)), rtol=1e-6)


def resize_params(source: tuple[int, int], target: tuple[int, int], align: bool = False) -> bytes:
    return np.array((source, target, 1, align), dtype=RESIZE).tobytes()


def cubic(x: np.ndarray) -> np.ndarray:
    """Keys' kernel with a = -0.75."""
    x, a = np.abs(x), -0.75
    near = (a + 2) * x**3 - (a + 3) * x**2 + 1
    far = a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a
    return np.where(x <= 1, near, np.where(x < 2, far, 0))


def matrix(source: int, target: int, kind: str, align: bool) -> np.ndarray:
    """(target, source): how much each source element counts."""
    at = np.arange(target, dtype=np.float64)
    at = at * (source - 1) / (target - 1) if align else (at + 0.5) * source / target - 0.5
    if kind == "bilinear":
        at = at.clip(0, source - 1)
    taps = np.floor(at)[:, None] + np.arange(-1, 3)
    distance = at[:, None] - taps
    weights = cubic(distance) if kind == "bicubic" else np.maximum(1 - np.abs(distance), 0)
    result = np.zeros((target, source))
    for row in range(target):
        np.add.at(result[row], taps[row].clip(0, source - 1).astype(int), weights[row])
    return result


@pytest.mark.parametrize(
    ("name", "dtype", "size", "align"),
    [
        ("bilinear", np.float32, (23, 7), False),
        ("bilinear", np.float32, (5, 30), True),
        ("bicubic_float", np.float32, (21, 17), False),
        ("bicubic_half", np.float16, (6, 25), True),
    ],
)
def test_resizing(name: str, dtype: type, size: tuple[int, int], align: bool) -> None:
    x = np.random.default_rng(7).uniform(0, 4, (2, 12, 10)).astype(dtype)
    width, height = size
    y = np.zeros((2, height, width), dtype=dtype)

    run(
        kernel("resize", name),
        x,
        y,
        resize_params((10, 12), size, align),
        threads=(width, height, 2),
        threadgroup=(8, 4, 1),
    )

    kind = name.split("_")[0]
    down, across = matrix(12, height, kind, align), matrix(10, width, kind, align)
    expected = down @ x.astype(np.float64) @ across.T
    tolerance = 1e-4 if dtype is np.float32 else 5e-3
    np.testing.assert_allclose(y, expected, rtol=tolerance, atol=tolerance)


def test_the_nearest_pixel_with_colours_turned() -> None:
    x = np.random.default_rng(8).integers(0, 256, (6, 5, 4), dtype=np.uint8)
    y = np.zeros((15, 8, 4), dtype=np.uint8)

    run(
        kernel("resize", "nearest"),
        x,
        y,
        resize_params((5, 6), (8, 15)),
        threads=(8, 15),
        threadgroup=(8, 8),
    )

    rows, columns = np.arange(15) * 6 // 15, np.arange(8) * 5 // 8
    np.testing.assert_array_equal(y, x[rows][:, columns][..., [2, 1, 0, 3]])


def test_luma_and_chroma_to_packed_colours() -> None:
    rng = np.random.default_rng(9)
    luma = rng.integers(0, 256, (6, 8), dtype=np.uint8)
    chroma = rng.integers(0, 256, (3, 4, 2), dtype=np.uint8)
    rgb = np.zeros((6, 8, 3), dtype=np.uint8)
    turn = np.array([[1, 0, 1.402], [1, -0.344136, -0.714136], [1, 1.772, 0]])
    columns = np.zeros((3, 4), dtype=np.float32)
    columns[:, :3] = turn.T

    run(
        kernel("resize", "yuv_to_rgb"),
        luma,
        chroma,
        rgb,
        columns,
        np.array([8, 6], dtype=np.uint32),
        threads=(8, 6),
        threadgroup=(4, 4),
    )

    wide = np.concatenate([luma[..., None] / 255, chroma.repeat(2, 0).repeat(2, 1) / 255 - 0.5], -1)
    expected = (wide @ turn.T).clip(0, 1) * 255
    np.testing.assert_allclose(rgb, expected, atol=0.5001)
