"""linalg's reductions, products of matrices and moves on the NPU; and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.compare import compare
from assay.compiler.models.errors import ModelError
from tests.compiler.graph import models

from . import linalg_runs as runs

pytestmark = pytest.mark.skipif(not models.IMPORTABLE, reason="converter or IREE are missing")
REDUCTIONS: dict[str, tuple[Callable[..., Any], int]] = {
    "arith.addi": (np.add.reduce, 0),
    "arith.muli": (np.multiply.reduce, 1),
    "arith.maxsi": (np.maximum.reduce, 3),
    "arith.minsi": (np.minimum.reduce, -3),
    "arith.andi": (np.bitwise_and.reduce, -1),
    "arith.ori": (np.bitwise_or.reduce, 0),
    "arith.xori": (np.bitwise_xor.reduce, 9),
}
BITS = {"i8": "int8", "i16": "int16", "i32": "int32"}


def reduction(name: str, kind: str, shape: list[int], axes: list[int], start: str) -> str:
    x = "".join(f"{n}x" for n in shape)
    kept = "".join(f"{n}x" for axis, n in enumerate(shape) if axis not in axes)
    y = f"tensor<{kept}{kind}>"
    return f"""func.func @main(%x: tensor<{x}{kind}>) -> {y} {{
  %start = arith.constant {start} : {kind}
  %empty = tensor.empty() : {y}
  %full = linalg.fill ins(%start : {kind}) outs(%empty : {y}) -> {y}
  %y = linalg.reduce ins(%x : tensor<{x}{kind}>) outs(%full : {y}) dimensions = {axes}
    (%a: {kind}, %b: {kind}) {{
      %c = {name} %a, %b : {kind}
      linalg.yield %c : {kind}
    }}
  return %y : {y}
}}"""


@settings(max_examples=8)
@given(data=st.data())
def test_reductions_along_any_axes_equal_numpy(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(sorted(BITS)))
    name = data.draw(st.sampled_from(sorted(REDUCTIONS)))
    shape = data.draw(st.lists(st.integers(1, 6), min_size=2, max_size=4))
    axes = data.draw(st.sets(st.integers(0, len(shape) - 1), min_size=1, max_size=len(shape) - 1))
    reduce, start = REDUCTIONS[name]
    x = runs.integers(7, shape, BITS[kind])
    expected = reduce(x, axis=tuple(axes), dtype=x.dtype)
    text = reduction(name, kind, shape, sorted(axes), str(start))
    with np.errstate(over="ignore"):
        both = reduce(np.stack([expected, np.full_like(expected, start)]), axis=0, dtype=x.dtype)
    np.testing.assert_array_equal(runs.on_npu(text, [x]), both)


def test_a_long_sum_is_made_in_parts() -> None:
    text = reduction("arith.addi", "i8", [70001, 1], [0], "0")
    x = runs.integers(8, (70001, 1), "int8")
    np.testing.assert_array_equal(runs.on_npu(text, [x]), x.sum(axis=0, dtype=np.int8))


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("name", "reduce", "start"),
    [
        ("arith.maximumf", np.maximum.reduce, "0xFF80"),
        ("arith.minimumf", np.minimum.reduce, "0x7F80"),
        ("arith.addf", None, "0.0"),
        ("arith.mulf", None, "1.0"),
    ],
)
@pytest.mark.parametrize("axis", [0, 2])
def test_bfloat16_is_reduced(
    name: str, reduce: Callable[..., Any] | None, start: str, axis: int
) -> None:
    x = np.random.default_rng(9).standard_normal((5, 4, 7)).astype(ml_dtypes.bfloat16)
    got = runs.on_npu(reduction(name, "bf16", [5, 4, 7], [axis], start), [x])
    if reduce is not None:
        np.testing.assert_array_equal(got, reduce(x, axis=axis))


def product(name: str, a: str, b: str, y: str, start: str, kind: str) -> str:
    return f"""func.func @main(%a: tensor<{a}>, %b: tensor<{b}>) -> tensor<{y}> {{
  %start = arith.constant {start} : {kind}
  %empty = tensor.empty() : tensor<{y}>
  %full = linalg.fill ins(%start : {kind}) outs(%empty : tensor<{y}>) -> tensor<{y}>
  %y = linalg.{name} ins(%a, %b : tensor<{a}>, tensor<{b}>) outs(%full : tensor<{y}>)
    -> tensor<{y}>
  return %y : tensor<{y}>
}}"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("name", "a", "b", "y", "start"),
    [
        ("matmul", (6, 9), (9, 20), (6, 20), 0),
        ("batch_matmul", (2, 3, 8), (2, 8, 5), (2, 3, 5), 100),
        ("matvec", (7, 30), (30,), (7,), -3),
        ("dot", (40,), (40,), (), 5),
    ],
)
@pytest.mark.parametrize(("source", "result"), [("i8", "i16"), ("i8", "i32"), ("i16", "i16")])
def test_products_of_matrices_wrap(
    name: str,
    a: tuple[int, ...],
    b: tuple[int, ...],
    y: tuple[int, ...],
    start: int,
    source: str,
    result: str,
) -> None:
    kinds = [
        "x".join([*map(str, shape), k]) for shape, k in ((a, source), (b, source), (y, result))
    ]
    values = [runs.integers(10 + n, shape, BITS[source]) for n, shape in enumerate((a, b))]
    wide = [x.astype(np.int64) for x in values]
    expected = (np.matmul(*wide) + start).astype(BITS[result])
    text = product(name, *kinds, str(start), result)
    np.testing.assert_array_equal(runs.on_npu(text, values), expected)


def test_a_convolution_of_bfloat16_equals_the_cpu(folder: Path) -> None:
    text = product("conv_1d_ncw_fcw", "1x4x19xbf16", "6x4x3xbf16", "1x6x17xf32", "0.0", "f32")
    random = np.random.default_rng(12)
    x, w = (random.standard_normal(s).astype(ml_dtypes.bfloat16) for s in ((1, 4, 19), (6, 4, 3)))
    assert compare(runs.on_npu(text, [x, w]), runs.on_cpu(text, [x, w], folder)).equal


def test_softmax_equals_the_cpu(folder: Path) -> None:
    text = """func.func @main(%x: tensor<3x40xbf16>) -> tensor<3x40xbf16> {
  %empty = tensor.empty() : tensor<3x40xbf16>
  %y = linalg.softmax dimension(1) ins(%x : tensor<3x40xbf16>) outs(%empty : tensor<3x40xbf16>)
    -> tensor<3x40xbf16>
  return %y : tensor<3x40xbf16>
}"""
    x = np.random.default_rng(13).standard_normal((3, 40)).astype(ml_dtypes.bfloat16)
    expected = runs.on_cpu(text, [x], folder)
    assert compare(runs.result_on_npu(text, [x]), expected).equal


MOVES = {
    "pad": (
        """  %c = arith.constant -7 : i32
  %y = tensor.pad %x low[1, 0] high[0, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c : i32
  } : tensor<4x6xi32> to tensor<5x8xi32>""",
        "5x8",
        lambda x: np.pad(x, [(1, 0), (0, 2)], constant_values=-7),
    ),
    "slice": (
        "  %y = tensor.extract_slice %x[1, 0] [2, 3] [1, 2] : tensor<4x6xi32> to tensor<2x3xi32>",
        "2x3",
        lambda x: x[1:3, ::2],
    ),
    "insert": (
        """  %p = tensor.extract_slice %x[0, 0] [2, 3] [1, 1] : tensor<4x6xi32> to tensor<2x3xi32>
  %y = tensor.insert_slice %p into %x[1, 2] [2, 3] [1, 1]
    : tensor<2x3xi32> into tensor<4x6xi32>""",
        "4x6",
        lambda x: np.concatenate(
            [x[:1], np.concatenate([x[1:3, :2], x[:2, :3], x[1:3, 5:]], 1), x[3:]]
        ),
    ),
    "transpose": (
        """  %e = tensor.empty() : tensor<6x4xi32>
  %y = linalg.transpose ins(%x : tensor<4x6xi32>) outs(%e : tensor<6x4xi32>)
    permutation = [1, 0]""",
        "6x4",
        lambda x: x.T,
    ),
    "fold": (
        "  %y = tensor.collapse_shape %x [[0, 1]] : tensor<4x6xi32> into tensor<24xi32>",
        "24",
        lambda x: x.reshape(24),
    ),
    "fill": (
        """  %c = arith.constant 6 : i32
  %e = tensor.empty() : tensor<3x2xi32>
  %y = linalg.fill ins(%c : i32) outs(%e : tensor<3x2xi32>) -> tensor<3x2xi32>""",
        "3x2",
        lambda x: np.full((3, 2), 6, np.int32),
    ),
}


@pytest.mark.parametrize("name", MOVES)
def test_elements_are_put_where_tensor_operations_say(name: str) -> None:
    body, shape, expected = MOVES[name]
    text = f"""func.func @main(%x: tensor<4x6xi32>) -> tensor<{shape}xi32> {{
{body}
  return %y : tensor<{shape}xi32>
}}"""
    x = runs.integers(14, (4, 6), "int32")
    np.testing.assert_array_equal(runs.on_npu(text, [x]), expected(x))


@pytest.mark.parametrize(
    ("body", "kind", "reason"),
    [
        ("    %y = arith.divf %x0, %x0 : f32", "f32", "arith.divf of float32"),
        ("    %y = arith.addi %x0, %x0 : i64", "i64", "does not compute with int64"),
        (
            "    %c = arith.constant 7 : i32\n    %y = arith.divsi %c, %x0 : i32",
            "i32",
            "arith.divsi of int32",
        ),
    ],
)
def test_what_the_npu_lacks_is_refused_by_name_place_and_reason(
    body: str, kind: str, reason: str
) -> None:
    text = runs.elementwise(body, [kind], (4,), kind)
    with pytest.raises(ModelError, match=rf"linalg\.generic at line \d+.*{reason}"):
        runs.ways(text)


def test_a_shape_that_is_not_known_is_refused() -> None:
    text = """func.func @main(%x: tensor<?xi8>) -> tensor<?xi8> {
  %y = arith.addi %x, %x : tensor<?xi8>
  return %y : tensor<?xi8>
}"""
    with pytest.raises(ModelError, match="not known"):
        runs.ways(text)
