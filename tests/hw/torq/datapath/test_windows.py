"""Kernel windows: convolutions of all sizes, padding, stride 2, depthwise; fast paths."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from assay.hw.torq.words.commands import Ndl, SliceTask
from tests.support.torq_run import bfloat, results, run, unbfloat
from tests.support.torq_tasks import (
    conv,
    depthwise,
    dim,
    element,
    halving_conv,
    halving_taps,
    replaced,
    streaming,
    weight_words,
)

SOURCE, WEIGHTS, BIAS, TARGET = 0x2000, 0x20000, 0x30000, 0x40000
QUICK = settings(max_examples=20, deadline=None)
Array = NDArray[np.generic]


def correlate(x: Array, w: Array, pad_value: int, stride: int = 1) -> NDArray[np.int64]:
    """[channels][h][w] with [outputs][channels][size][size], same padding, exact."""
    size = w.shape[-1]
    border = size // 2
    wide = np.pad(
        x.astype(np.int64), ((0, 0), (border, border), (border, border)), constant_values=pad_value
    )
    h, width = x.shape[1] // stride, x.shape[2] // stride
    total = np.zeros((w.shape[0], h, width), np.int64)
    for row in range(size):
        for column in range(size):
            piece = wide[
                :, row : row + stride * h : stride, column : column + stride * width : stride
            ]
            total += np.einsum("oc,chw->ohw", w[:, :, row, column].astype(np.int64), piece)
    return total


def rescaled(total: NDArray[np.int64], pairs: NDArray[np.int32], shift: int) -> Array:
    bias, scale = (pairs[:, k, None, None].astype(np.int64) for k in (0, 1))
    return np.clip(((total + bias) * scale + (1 << shift >> 1)) >> shift, -128, 127).astype(np.int8)


def numbers(rng: np.random.Generator, *shape: int) -> NDArray[np.int8]:
    return rng.integers(-128, 128, shape).astype(np.int8)


def pairs_of(rng: np.random.Generator, outputs: int) -> NDArray[np.int32]:
    bias = rng.integers(-10_000, 10_000, outputs)
    return np.stack([bias, rng.integers(1000, 30_000, outputs)], 1).astype(np.int32)


def by_four(w: NDArray[np.int8]) -> NDArray[np.int8]:
    """[outputs][channels][h][w] as [outputs/4][channels][h][w][4]."""
    o, c, h, k = w.shape
    return np.ascontiguousarray(w.reshape(o // 4, 4, c, h, k).transpose(0, 2, 3, 4, 1))


def same_result(task: SliceTask, data: dict[int, Array], expected: Array) -> None:
    """The task gives `expected`, by its fast path and without."""
    for fast in (True, False):
        lram, _ = run(task, data, fast=fast)
        found = results(lram, TARGET, expected.size, np.int8).reshape(expected.shape)
        assert found.tolist() == expected.tolist()


SHAPES = st.tuples(
    st.sampled_from([1, 3, 5, 7]),
    st.integers(1, 3),
    st.sampled_from([4, 8]),
    st.integers(1, 14),
    st.integers(4, 14),
    st.integers(-128, 127),
    st.integers(0, 1000),
)


@QUICK
@given(SHAPES)
def test_convolutions_with_same_padding_are_exact(shape: tuple[int, ...]) -> None:
    size, channels, outputs, height, width, pad_value, seed = shape
    rng = np.random.default_rng(seed)
    x, w = numbers(rng, channels, height, width), numbers(rng, outputs, channels, size, size)
    pairs = pairs_of(rng, outputs)
    task = conv(
        channels=channels,
        outputs=outputs,
        height=height,
        width=width,
        size=size,
        source=SOURCE,
        weights=WEIGHTS,
        bias=BIAS,
        target=TARGET,
        pad_value=pad_value,
    )
    expected = rescaled(correlate(x, w, pad_value), pairs, 20)
    same_result(task, {SOURCE: x, WEIGHTS: by_four(w), BIAS: pairs}, expected)


@QUICK
@given(SHAPES)
def test_depthwise_convolutions_are_exact(shape: tuple[int, ...]) -> None:
    size, _, channels, height, width, pad_value, seed = shape
    rng = np.random.default_rng(seed)
    x, w = numbers(rng, channels, height, width), numbers(rng, channels, size, size)
    pairs = pairs_of(rng, channels)
    task = depthwise(
        channels=channels,
        height=height,
        width=width,
        size=size,
        source=SOURCE,
        weights=WEIGHTS,
        bias=BIAS,
        target=TARGET,
        pad_value=pad_value,
    )
    every = [correlate(x[c : c + 1], w[c : c + 1, None], pad_value)[0] for c in range(channels)]
    expected = rescaled(np.stack(every), pairs, 20)
    packed = np.ascontiguousarray(w.reshape(channels // 4, 4, size, size).transpose(0, 2, 3, 1))
    same_result(task, {SOURCE: x, WEIGHTS: packed, BIAS: pairs}, expected)


def segmented(x: NDArray[np.int8]) -> NDArray[np.int8]:
    """Per channel: even rows' even columns, their odd ones, odd rows' even and odd columns."""
    return np.stack([x[:, r::2, c::2] for r in (0, 1) for c in (0, 1)], 1)


@QUICK
@given(SHAPES.filter(lambda shape: shape[0] > 1))
def test_convolutions_of_stride_2_are_exact(shape: tuple[int, ...]) -> None:
    size, channels, outputs, height, width, pad_value, seed = shape
    rng = np.random.default_rng(seed)
    x = numbers(rng, channels, 2 * height, 2 * width)
    w = numbers(rng, outputs, channels, size, size)
    pairs = pairs_of(rng, outputs)
    task = halving_conv(
        channels=channels,
        outputs=outputs,
        height=height,
        width=width,
        size=size,
        source=SOURCE,
        weights=WEIGHTS,
        bias=BIAS,
        target=TARGET,
        pad_value=pad_value,
    )
    expected = rescaled(correlate(x, w, pad_value, 2), pairs, 20)
    rows, columns = zip(*halving_taps(size), strict=True)
    ordered = w[:, :, list(rows), list(columns)]
    packed = np.ascontiguousarray(
        ordered.reshape(outputs // 4, 4, channels, size * size).transpose(0, 2, 3, 1)
    )
    same_result(task, {SOURCE: segmented(x), WEIGHTS: packed, BIAS: pairs}, expected)


@pytest.mark.parametrize("size", [3, 5])
def test_without_padding_the_inner_pixels_are_those_of_a_valid_convolution(size: int) -> None:
    rng = np.random.default_rng(0)
    border, height, width = size // 2, 9, 11
    x, w, pairs = numbers(rng, 2, height, width), numbers(rng, 4, 2, size, size), pairs_of(rng, 4)
    task = conv(
        channels=2,
        outputs=4,
        height=height,
        width=width,
        size=size,
        source=SOURCE,
        weights=WEIGHTS,
        bias=BIAS,
        target=TARGET,
        pad_left=0,
        pad_right=0,
        pad_top=0,
        pad_bottom=0,
    )
    lram, _ = run(task, {SOURCE: x, WEIGHTS: by_four(w), BIAS: pairs})
    found = results(lram, TARGET, 4 * height * width, np.int8).reshape(4, height, width)
    inner = slice(border, -border)
    expected = rescaled(correlate(x, w, 0), pairs, 20)[:, inner, inner]
    assert found[:, inner, inner].tolist() == expected.tolist()


def test_a_tensor_may_touch_both_ends_of_lram() -> None:
    rng = np.random.default_rng(0)
    x, w, pairs = numbers(rng, 1, 8, 8), numbers(rng, 4, 1, 3, 3), pairs_of(rng, 4)
    expected = rescaled(correlate(x, w, 5), pairs, 20)
    for source in (0, 0x80000 - 64):
        task = conv(
            channels=1,
            outputs=4,
            height=8,
            width=8,
            source=source,
            weights=WEIGHTS,
            bias=BIAS,
            target=TARGET,
            pad_value=5,
        )
        same_result(task, {source: x, WEIGHTS: by_four(w), BIAS: pairs}, expected)


@pytest.mark.parametrize("taps", [1, 7])
@pytest.mark.parametrize("groups", [1, 4])
def test_runs_of_bfloats_add_up_like_single_lanes(taps: int, groups: int) -> None:
    rng = np.random.default_rng(taps)
    x, w = (bfloat(rng.normal(size=(taps, n))) for n in (32, groups))
    task = streaming(
        source=SOURCE,
        target=TARGET,
        size=2,
        count=32,
        words=1,
        result=4,
        operands=taps,
        apart=64,
        partials=2,
        weights=weight_words(WEIGHTS, 2, groups, taps),
        weight_step=dim("D", 1, 0),
        alu_format="BF",
        act_format="BF",
        act_sum_bits=32,
        act_clip_min=-0x800000,
        act_clip_max=0x7F800000,
    )
    task = replaced(
        task,
        CEWR=Ndl(
            agent="CEWR", low=(element(2), dim("D", 1), dim("G", groups, 2)), high=(dim("T", 1),)
        ),
        ACPR=Ndl(agent="ACPR", low=(element(4), dim("D", 16, 4)), high=(dim("S", 4 * groups, 64),)),
        DEQW=Ndl(
            agent="DEQW",
            low=(element(4), dim("D", 8, 4)),
            high=(dim("O", 4 * groups, 32),),
            base_address=TARGET,
        ),
    )
    total = np.zeros((groups, 32), np.float32)
    for k in range(taps):
        total = total + unbfloat(w[k])[:, None] * unbfloat(x[k])[None, :]
    for fast in (True, False):
        lram, _ = run(task, {SOURCE: x, WEIGHTS: w}, fast=fast)
        found = results(lram, TARGET, 32 * groups, np.uint32)
        assert found.tolist() == total.ravel().view(np.uint32).tolist()
