"""Rows gathered and scattered, and float32 by its bits: exact on the NPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from assay.compiler.graph.mlir import read_module
from assay.compiler.graph.tosa.evaluate import evaluated
from assay.compiler.torq.hl.dialect import hl_context
from tests.compiler.graph import models
from tests.compiler.torq.schedule.running import assert_exact_and_clean, lowered

from .test_operators import function

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
