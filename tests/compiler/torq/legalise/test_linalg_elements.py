"""linalg element by element: what arith and math say, to the bit, on the NPU."""

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
from assay.compiler.torq.legalise.linalg_tables import pieces
from tests.compiler.graph import models

from . import linalg_runs as runs
from .linalg_runs import Array

pytestmark = pytest.mark.skipif(not models.IMPORTABLE, reason="converter or IREE are missing")
SHAPE = (3, 5, 7)
BITS = {"i8": "int8", "i16": "int16", "i32": "int32"}


def _unsigned(x: Array) -> Array:
    return x.view(f"u{x.dtype}")


OPERATIONS: dict[str, Callable[[Array, Array], Any]] = {
    "arith.addi": np.add,
    "arith.subi": np.subtract,
    "arith.muli": np.multiply,
    "arith.andi": np.bitwise_and,
    "arith.ori": np.bitwise_or,
    "arith.xori": np.bitwise_xor,
    "arith.maxsi": np.maximum,
    "arith.minsi": np.minimum,
    "arith.maxui": lambda a, b: np.maximum(_unsigned(a), _unsigned(b)),
    "arith.minui": lambda a, b: np.minimum(_unsigned(a), _unsigned(b)),
}
COMPARISONS: dict[str, Callable[[Array, Array], Any]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "slt": np.less,
    "sge": np.greater_equal,
    "ult": lambda a, b: _unsigned(a) < _unsigned(b),
    "ule": lambda a, b: _unsigned(a) <= _unsigned(b),
    "ugt": lambda a, b: _unsigned(a) > _unsigned(b),
}


def pair(kind: str) -> list[Array]:
    made = [runs.integers(seed, SHAPE, BITS[kind]) for seed in (1, 2)]
    made[1].ravel()[::4] = made[0].ravel()[::4]
    return made


@pytest.mark.parametrize("kind", BITS)
@pytest.mark.parametrize("name", OPERATIONS)
def test_integers_wrap_and_have_the_sign_that_the_operation_gives(name: str, kind: str) -> None:
    text = runs.elementwise(f"    %y = {name} %x0, %x1 : {kind}", [kind, kind], SHAPE, kind)
    a, b = pair(kind)
    expected = np.asarray(OPERATIONS[name](a, b)).view(a.dtype)
    np.testing.assert_array_equal(runs.on_npu(text, [a, b]), expected)


@pytest.mark.parametrize("kind", BITS)
@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons_and_selections_follow_the_predicate(name: str, kind: str) -> None:
    body = f"    %c = arith.cmpi {name}, %x0, %x1 : {kind}\n"
    body += f"    %y = arith.select %c, %x0, %x1 : {kind}"
    a, b = pair(kind)
    expected = np.where(COMPARISONS[name](a, b), a, b)
    text = runs.elementwise(body, [kind, kind], SHAPE, kind)
    np.testing.assert_array_equal(runs.on_npu(text, [a, b]), expected)


@pytest.mark.parametrize(
    ("name", "source", "result"),
    [
        ("extsi", "i8", "i16"),
        ("extui", "i8", "i32"),
        ("extui", "i16", "i32"),
        ("trunci", "i16", "i8"),
        ("trunci", "i32", "i8"),
        ("trunci", "i32", "i16"),
    ],
)
def test_integers_become_wider_and_shorter(name: str, source: str, result: str) -> None:
    text = runs.elementwise(
        f"    %y = arith.{name} %x0 : {source} to {result}", [source], SHAPE, result
    )
    x = runs.integers(3, SHAPE, BITS[source])
    expected = (_unsigned(x) if name == "extui" else x).astype(BITS[result])
    np.testing.assert_array_equal(runs.on_npu(text, [x]), expected)


@settings(max_examples=10)
@given(data=st.data())
def test_chains_of_operations_equal_their_definition(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(sorted(BITS)))
    names = data.draw(st.lists(st.sampled_from(sorted(OPERATIONS)), min_size=2, max_size=5))
    values, body = ["%x0", "%x1", "%c"], f"    %c = arith.constant 5 : {kind}\n"
    for number, name in enumerate(names):
        made = "%y" if number == len(names) - 1 else f"%v{number}"
        a, b = (data.draw(st.sampled_from(values)) for _ in range(2))
        body += f"    {made} = {name} {a}, {b} : {kind}\n"
        values.append(made)
    runs.on_npu(runs.elementwise(body, [kind, kind], SHAPE, kind), pair(kind))


BFLOATS = np.arange(1 << 16).astype(np.uint16).view(ml_dtypes.bfloat16).reshape(64, 1024)


@pytest.mark.parametrize(
    "name",
    [
        "exp",
        "rsqrt",
        *(pytest.param(n, marks=pytest.mark.slow) for n in ("tanh", "sqrt", "erf", "log", "floor")),
    ],
)
def test_functions_of_a_bfloat16_are_looked_up_for_all_numbers(name: str) -> None:
    text = runs.elementwise(f"    %y = math.{name} %x0 : bf16", ["bf16"], BFLOATS.shape, "bf16")
    got = runs.on_npu(text, [BFLOATS])
    with np.errstate(invalid="ignore"):  # of NaN that signal
        assert np.isnan(got[np.isnan(BFLOATS)]).all()
        assert np.isfinite(got[8:60].astype(np.float32)).any()


def test_a_function_of_one_number_is_one_table_whatever_it_is_made_of(folder: Path) -> None:
    body = """    %one = arith.constant 1.0 : bf16
    %n = arith.negf %x0 : bf16
    %e = math.exp %n : bf16
    %s = arith.addf %e, %one : bf16
    %y = arith.divf %one, %s : bf16"""
    text = runs.elementwise(body, ["bf16"], (4, 256), "bf16")
    x = np.linspace(-9, 9, 1024).reshape(4, 256).astype(ml_dtypes.bfloat16)
    assert compare(runs.on_npu(text, [x]), runs.on_cpu(text, [x], folder)).equal


def test_a_float_is_rounded_to_bfloat16_as_numpy_does() -> None:
    text = runs.elementwise("    %y = arith.truncf %x0 : f32 to bf16", ["f32"], SHAPE, "bf16")
    x = np.random.default_rng(4).standard_normal(SHAPE).astype(np.float32)
    x.ravel()[:4] = [np.inf, -np.inf, np.nan, -0.0]
    runs.same(runs.on_npu(text, [x]), x.astype(ml_dtypes.bfloat16))


def test_float32_is_computed_with_as_the_standard_says() -> None:
    body = """    %p = arith.mulf %x0, %x1 : f32
    %d = arith.subf %p, %x0 : f32
    %m = arith.maximumf %d, %x1 : f32
    %c = arith.cmpf ult, %m, %x0 : f32
    %y = arith.select %c, %d, %m : f32"""
    text = runs.elementwise(body, ["f32", "f32"], (3, 70), "f32")
    random = np.random.default_rng(8)
    a, b = ((random.normal(0, 2, (3, 70)) * 10.0**n).astype(np.float32) for n in (0, -1))
    d = a * b - a
    largest = np.maximum(d, b)
    runs.same(runs.on_npu(text, [a, b]), np.where(largest < a, d, largest))
    assert runs.ways(text) == {"general"}


def test_operands_are_repeated_as_their_maps_say() -> None:
    text = """func.func @main(%a: tensor<4xi8>, %b: tensor<3x1xi8>) -> tensor<4x3xi16> {
  %empty = tensor.empty() : tensor<4x3xi16>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j, 0)>,
      affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<4xi8>, tensor<3x1xi8>) outs(%empty : tensor<4x3xi16>) {
  ^bb0(%x: i8, %z: i8, %o: i16):
    %row = linalg.index 0 : index
    %n = arith.index_cast %row : index to i16
    %p = arith.extsi %x : i8 to i16
    %q = arith.extsi %z : i8 to i16
    %s = arith.subi %p, %q : i16
    %t = arith.addi %s, %n : i16
    linalg.yield %t : i16
  } -> tensor<4x3xi16>
  return %y : tensor<4x3xi16>
}"""
    a, b = runs.integers(5, (4,), "int8"), runs.integers(6, (3, 1), "int8")
    expected = a.astype(np.int16)[:, None] - b[:, 0] + np.arange(4, dtype=np.int16)[:, None]
    np.testing.assert_array_equal(runs.on_npu(text, [a, b]), expected)
    assert runs.ways(text) == {"general"}


@settings(max_examples=20)
@given(data=st.data())
def test_tables_and_constants_together_are_all_entries(data: st.DataObject) -> None:
    size = data.draw(st.sampled_from([256, 1 << 16]))
    lengths = st.sampled_from([1, 2, 255, 256, 257, 5000, 20000])
    entries: list[Array] = []
    while sum(map(len, entries)) < size:
        length = data.draw(lengths)
        if data.draw(st.booleans()):
            entries.append(np.full(length, data.draw(st.integers(0, 3))))
        else:
            entries.append(np.arange(length) % 5)
    wanted = np.concatenate(entries)[:size].astype(np.int16)
    x = np.arange(-(size // 2), size // 2)
    made = np.zeros(size, np.int16)
    for piece in pieces(wanted):
        inside = piece.entries[np.clip(x - piece.start, 0, len(piece.entries) - 1)]
        made = np.where(x >= piece.first, inside, made)
    np.testing.assert_array_equal(made, wanted)
