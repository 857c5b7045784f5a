"""Rows gathered and scattered, and float32 by its bits: exact on the NPU."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from assay.compiler.graph.mlir import read_module
from assay.compiler.graph.tosa.evaluate import evaluated
from assay.compiler.torq.hl.dialect import hl_context
from tests.compiler.graph import models
from tests.compiler.torq.schedule.running import assert_exact_and_clean, lowered, results

from .test_operators import constant, function

pytestmark = pytest.mark.skipif(not models.IMPORTABLE, reason="IREE is missing")
Arrays = list[NDArray[Any]]
_PROPAGATE = "nan_mode = #tosa.nan_mode<PROPAGATE>"


def _assert_exact(text: str, inputs: Arrays) -> None:
    module = read_module(text.encode(), "text", hl_context())
    expected = evaluated(models.main(module), inputs)
    assert_exact_and_clean(lowered(module), inputs, expected)


@pytest.mark.parametrize(
    ("rows", "columns"),
    [(10, 99), (10, 6000), (40_000, 1)],
    ids=["columns that are cut", "rows in parts", "blocks of rows"],
)
def test_a_gather_reaches_all_of_a_tensor(rows: int, columns: int) -> None:
    random = np.random.default_rng(0)
    x, y = f"tensor<1x{rows}x{columns}xi8>", f"tensor<1x5x{columns}xi8>"
    line = f'%y = "tosa.gather"(%x, %i) : ({x}, tensor<1x5xi32>) -> {y}'
    values = random.integers(-128, 128, (1, rows, columns)).astype(np.int8)
    indices = np.array([[rows - 1, 0, rows // 2, 3, rows - 2]], np.int32)
    _assert_exact(function(f"%x: {x}, %i: tensor<1x5xi32>", y, line), [values, indices])


@pytest.mark.parametrize("element", ["i8", "i16", "i32", "f32"])
def test_a_scatter_replaces_the_rows_that_are_named(element: str) -> None:
    random = np.random.default_rng(1)
    dtype = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "f32": np.float32}[element]
    x, i, r = f"tensor<2x9x5x{element}>", "tensor<2x4xi32>", f"tensor<2x4x5x{element}>"
    line = f'%y = "tosa.scatter"(%x, %i, %r) : ({x}, {i}, {r}) -> {x}'
    bits = f"int{np.dtype(dtype).itemsize * 8}"
    limits = np.iinfo(bits)
    values, rows = (
        random.integers(limits.min, limits.max, shape, bits).view(dtype)
        for shape in ((2, 9, 5), (2, 4, 5))
    )
    if element == "f32":
        values, rows = (random.normal(0, 9, v.shape).astype(np.float32) for v in (values, rows))
    indices = np.stack([random.permutation(9)[:4] for _ in range(2)]).astype(np.int32)
    _assert_exact(function(f"%x: {x}, %i: {i}, %r: {r}", x, line), [values, indices, rows])


@pytest.mark.parametrize(
    ("operator", "operands", "fields"),
    [
        ("abs", 1, ""),
        ("clamp", 1, f"<{{min_val = -1.5 : f32, max_val = 2.0 : f32, {_PROPAGATE}}}>"),
        ("maximum", 2, f"<{{{_PROPAGATE}}}>"),
        ("minimum", 2, f"<{{{_PROPAGATE}}}>"),
    ],
)
def test_what_bits_of_float32_tell_is_exact(operator: str, operands: int, fields: str) -> None:
    random = np.random.default_rng(2)
    kind = "tensor<4x33xf32>"
    names = ["%x", "%z"][:operands]
    types = ", ".join([kind] * operands)
    line = f'%y = "tosa.{operator}"({", ".join(names)}) {fields} : ({types}) -> {kind}'
    values = [random.normal(0, 3, (4, 33)).astype(np.float32) for _ in names]
    arguments = ", ".join(f"{name}: {kind}" for name in names)
    _assert_exact(function(arguments, kind, line), values)


_SLOW = pytest.mark.slow
_BITS = (
    "0 1 7FFFFF 800000 33800000 3EFFFFFF 3F000000 3F800000 3FC00000 4B000001 4B800001 4EFFFFFF "
    "4F000000 7F7FFFFF 7F800000 7FC00000"
)
_EDGES = np.array([int(each, 16) for each in _BITS.split(" ")], np.uint32)
"""Bits of numbers where something changes: subnormal, whole, too large, infinite, none."""


def _numbers(seed: int) -> NDArray[Any]:
    """Those of edges with both signs, and others of all exponents and of few."""
    random = np.random.default_rng(seed)
    anywhere = random.integers(0, 1 << 32, 320, np.uint32).view(np.float32)
    near = random.normal(0, 3, 160).astype(np.float32)
    signed = np.concatenate([_EDGES, _EDGES | np.uint32(1 << 31)]).view(np.float32)
    return np.concatenate([random.permutation(signed), anywhere, near])


@pytest.mark.parametrize(
    "operator",
    ["add", "greater"]
    + [pytest.param(name, marks=_SLOW) for name in ("sub", "mul", "greater_equal", "equal")],
)
def test_arithmetic_of_float32_is_exact(operator: str) -> None:
    pairs = [a.reshape(-1) for a in np.meshgrid(_numbers(4)[:32], _numbers(5)[:32])]
    x, z = (np.concatenate([a, _numbers(n)[32:]])[None] for n, a in enumerate(pairs))
    kind = f"tensor<1x{x.size}xf32>"
    y = kind if operator in ("add", "sub", "mul") else kind.replace("f32", "i1")
    more = ("", "") if operator != "mul" else (", %s", ", tensor<1xi8>")
    zero = '%s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>'
    line = f'%y = "tosa.{operator}"(%x, %z{more[0]}) : ({kind}, {kind}{more[1]}) -> {y}'
    with np.errstate(all="ignore"):
        _assert_exact(function(f"%x: {kind}, %z: {kind}", y, zero, line), [x, z])


@pytest.mark.parametrize(
    "operator",
    ["floor", "i8"] + [pytest.param(name, marks=_SLOW) for name in ("ceil", "i16", "i32")],
)
def test_float32_is_rounded_exactly(operator: str) -> None:
    x = np.concatenate([_numbers(6), np.arange(-6, 6, 0.25, np.float32)])[None]
    kind = f"tensor<1x{x.size}xf32>"
    name, y = (operator, kind) if operator[0] != "i" else ("cast", kind.replace("f32", operator))
    line = f'%y = "tosa.{name}"(%x) : ({kind}) -> {y}'
    with np.errstate(all="ignore"):
        _assert_exact(function(f"%x: {kind}", y, line), [x])


@pytest.mark.parametrize("kind", ["max", "min"])
def test_extremes_of_rows_of_float32_are_exact(kind: str) -> None:
    x = np.random.default_rng(7).normal(0, 3, (4, 33)).astype(np.float32)
    fields = f"<{{axis = 1 : i32, {_PROPAGATE}}}>"
    line = f'%y = "tosa.reduce_{kind}"(%x) {fields} : (tensor<4x33xf32>) -> tensor<4x1xf32>'
    _assert_exact(function("%x: tensor<4x33xf32>", "tensor<4x1xf32>", line), [x])


def test_float32_is_selected_and_cast_to_bfloat16() -> None:
    random = np.random.default_rng(3)
    kind, short = "tensor<4x33xf32>", "tensor<4x33xbf16>"
    lines = (
        f'%s = "tosa.select"(%c, %x, %z) : (tensor<4x33xi1>, {kind}, {kind}) -> {kind}',
        f'%b = "tosa.cast"(%s) : ({kind}) -> {short}',
        f'%e = "tosa.exp"(%b) : ({short}) -> {short}',
        f'%y = "tosa.cast"(%e) : ({short}) -> {kind}',
    )
    values = [random.normal(0, 3, (4, 33)).astype(np.float32) for _ in range(2)]
    condition = random.integers(0, 2, (4, 33)).astype(np.bool_)
    arguments = f"%c: tensor<4x33xi1>, %x: {kind}, %z: {kind}"
    _assert_exact(function(arguments, kind, *lines), [condition, *values])


def _short_floats(*shape: int) -> NDArray[Any]:
    """bfloat16 of all magnitudes, both zeros, both infinities and equal numbers among them."""
    random = np.random.default_rng(4)
    values = random.normal(0, 1, shape) * 10.0 ** random.integers(-30, 30, shape)
    made = values.astype(ml_dtypes.bfloat16)
    made.reshape(-1)[:8] = [0.0, -0.0, np.inf, -np.inf, 1.0, 1.0, -1.0, -0.0]
    return made


@pytest.mark.parametrize(
    ("element", "fill"), [("bf16", "-1.5"), ("f32", "2.5"), ("i32", "-70000"), ("i16", "300")]
)
def test_a_tensor_of_any_type_is_padded(element: str, fill: str) -> None:
    dtypes = {"bf16": ml_dtypes.bfloat16, "f32": np.float32, "i32": np.int32, "i16": np.int16}
    x, y = f"tensor<2x3x4x{element}>", f"tensor<3x5x6x{element}>"
    text = function(
        f"%x: {x}",
        y,
        '%p = "tosa.const_shape"() <{values = dense<[0, 1, 2, 0, 1, 1]> : tensor<6xindex>}> : () '
        "-> !tosa.shape<6>",
        constant("f", f"tensor<1x{element}>", fill),
        f'%y = "tosa.pad"(%x, %p, %f) : ({x}, !tosa.shape<6>, tensor<1x{element}>) -> {y}',
    )
    _assert_exact(text, [np.arange(-9, 15).reshape(2, 3, 4).astype(dtypes[element])])


@pytest.mark.parametrize("axis", [0, 1])
def test_the_first_of_the_largest_bfloat16_is_found(axis: int) -> None:
    x, y = "tensor<6x5xbf16>", f"tensor<{5 if axis == 0 else 6}xi32>"
    line = f'%y = "tosa.argmax"(%x) <{{axis = {axis} : i32, {_PROPAGATE}}}> : ({x}) -> {y}'
    values = _short_floats(6, 5)
    values[3:] = [[-0.0, 0.0, -1.0, 0.0, -2.0], [-3.0, -1.0, -1.0, -9.0, -np.inf], [1.0] * 5]
    _assert_exact(function(f"%x: {x}", y, line), [values])
    values[2, 2] = np.nan
    values[4, 1] = -np.asarray(np.nan, ml_dtypes.bfloat16)
    module = read_module(function(f"%x: {x}", y, line).encode(), "text", hl_context())
    found = np.argmax(np.where(np.isnan(values), np.inf, values.astype(np.float64)), axis)
    found[2] = 2
    found[1 if axis == 0 else 4] = 4 if axis == 0 else 1
    assert_exact_and_clean(lowered(module), [values], [found.astype(np.int32)])


def test_windows_of_bfloat16_give_their_largest() -> None:
    x, y = "tensor<1x9x8x5xbf16>", "tensor<1x5x4x5xbf16>"
    windows = "kernel = array<i64: 3, 3>, stride = array<i64: 2, 2>, pad = array<i64: 1, 1, 1, 0>"
    line = f'%y = "tosa.max_pool2d"(%x) <{{{windows}, {_PROPAGATE}}}> : ({x}) -> {y}'
    values = _short_floats(1, 9, 8, 5)
    values[values == 0] = 0  # of which of two zeros is larger, TOSA says nothing
    _assert_exact(function(f"%x: {x}", y, line), [values])


def test_int16_is_resized_linearly() -> None:
    x, wide, y = "tensor<1x5x6x3xi16>", "tensor<1x9x11x3xi48>", "tensor<1x9x11x3xi16>"
    text = function(
        f"%x: {x}",
        y,
        '%s = "tosa.const_shape"() <{values = dense<[4, 2, 4, 2]> : tensor<4xindex>}> : () '
        "-> !tosa.shape<4>",
        '%o = "tosa.const_shape"() <{values = dense<0> : tensor<2xindex>}> : () -> !tosa.shape<2>',
        '%w = "tosa.resize"(%x, %s, %o, %o) <{mode = #tosa.resize_mode<BILINEAR>}> : '
        f"({x}, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> {wide}",
        constant("m", "tensor<1xi16>", "16384"),
        constant("n", "tensor<1xi8>", "18"),
        constant("u", "tensor<1xi48>", "0"),
        constant("z", "tensor<1xi16>", "0"),
        '%y = "tosa.rescale"(%w, %m, %n, %u, %z) <{input_unsigned = false, '
        "output_unsigned = false, per_channel = false, "
        "rounding_mode = #tosa.rounding_mode<SINGLE_ROUND>, "
        f"scale32 = false}}> : ({wide}, tensor<1xi16>, tensor<1xi8>, tensor<1xi48>, "
        f"tensor<1xi16>) -> {y}",
    )
    random = np.random.default_rng(5)
    values = random.integers(-(1 << 15), 1 << 15, (1, 5, 6, 3)).astype(np.int16)
    values[0, 0, :2] = [-(1 << 15)], [(1 << 15) - 1]
    _assert_exact(text, [values])


def test_bfloat16_is_resized_linearly_to_the_last_bit_but_one() -> None:
    x, y = "tensor<1x5x6x3xbf16>", "tensor<1x9x11x3xbf16>"
    text = function(
        f"%x: {x}",
        y,
        '%s = "tosa.const_shape"() <{values = dense<[4, 2, 4, 2]> : tensor<4xindex>}> : () '
        "-> !tosa.shape<4>",
        '%o = "tosa.const_shape"() <{values = dense<0> : tensor<2xindex>}> : () -> !tosa.shape<2>',
        '%y = "tosa.resize"(%x, %s, %o, %o) <{mode = #tosa.resize_mode<BILINEAR>}> : '
        f"({x}, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> {y}",
    )
    module = read_module(text.encode(), "text", hl_context())
    values = np.random.default_rng(6).uniform(1, 2, (1, 5, 6, 3)).astype(ml_dtypes.bfloat16)
    expected = evaluated(models.main(module), [values])
    (found,) = results(lowered(module), [values], expected)
    apart = np.abs(found.astype(np.float64) - expected[0].astype(np.float64))
    assert apart.max() <= 2.0**-7 and np.mean(apart > 0) < 0.2


def test_means_of_windows_of_bfloat16_leave_padding_out() -> None:
    x, y = "tensor<1x9x8x5xbf16>", "tensor<1x5x4x5xbf16>"
    windows = "kernel = array<i64: 3, 3>, stride = array<i64: 2, 2>, pad = array<i64: 1, 1, 1, 0>"
    line = (
        f'%y = "tosa.avg_pool2d"(%x, %z, %z) <{{acc_type = f32, {windows}}}> : '
        f"({x}, tensor<1xbf16>, tensor<1xbf16>) -> {y}"
    )
    values = np.random.default_rng(7).normal(0, 3, (1, 9, 8, 5)).astype(ml_dtypes.bfloat16)
    _assert_exact(function(f"%x: {x}", y, constant("z", "tensor<1xbf16>", "0.0"), line), [values])


@pytest.mark.parametrize(
    ("kernel", "stride", "dilation"), [(3, 2, 1), (7, 2, 1), (3, 1, 2), (5, 3, 1), (9, 1, 1)]
)
def test_padded_windows_of_bfloat16_stride_and_reach_far(
    kernel: int, stride: int, dilation: int
) -> None:
    reach, random = (kernel - 1) * dilation, np.random.default_rng(8)
    before = reach // 2
    outputs = -(-12 // stride)
    behind = (outputs - 1) * stride + reach + 1 - 12 - before
    x, w = "tensor<1x12x12x3xbf16>", f"tensor<5x{kernel}x{kernel}x3xbf16>"
    y = f"tensor<1x{outputs}x{outputs}x5xbf16>"
    weights = random.integers(-2, 3, (5, kernel, kernel, 3))
    windows = (
        f"dilation = array<i64: {dilation}, {dilation}>, stride = array<i64: {stride}, {stride}>, "
        f"pad = array<i64: {before}, {behind}, {before}, {behind}>"
    )
    text = function(
        f"%x: {x}",
        y,
        constant("w", w, str(weights.astype(float).tolist())),
        constant("b", "tensor<5xbf16>", "[1.0, -2.0, 0.0, 3.0, -4.0]"),
        constant("z", "tensor<1xbf16>", "0.0"),
        f'%y = "tosa.conv2d"(%x, %w, %b, %z, %z) <{{acc_type = f32, {windows}}}> : ({x}, {w}, '
        f"tensor<5xbf16>, tensor<1xbf16>, tensor<1xbf16>) -> {y}",
    )
    values = random.integers(-3, 4, (1, 12, 12, 3)).astype(ml_dtypes.bfloat16)
    _assert_exact(text, [values])  # whole numbers, whose sums are exact in any order
