"""Factors that are copied row by row where products need them, and are never brought into lanes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from assay.sim.simt import Program
from assay.sim.simt.emit import values
from assay.sim.simt.emit.access import Access
from assay.sim.simt.emit.matrices import places, rows, sums
from assay.sim.simt.emit.vectorise import Vectoriser
from assay.sim.simt.ir.shape import LANES, Shape
from tests.support.kernels import ENTRY, Kernel, compile_cpp, on_engine, on_reference

_SUMS = 12  # matrices, of each two elements of a lane
_SIZE = (LANES, 1, 1)
_KERNEL = """
#define EACH _Pragma("clang loop unroll(full)") for (uint j = 0; j < {sums}; ++j)
struct __attribute__((packed, aligned(2))) Pair {{
  {element} __attribute__((ext_vector_type(2))) both;
}};
static float2 added(float2 a, float2 b, float2 c) {{
  float first = __assay_mma_f32(0, a.x, a.y, b.x, b.y, c.x, c.y);
  float second = __assay_mma_f32(1, a.x, a.y, b.x, b.y, c.x, c.y);
  return float2{{first, second}};
}}
static float2 loaded(DEVICE {element}* x, uint at) {{
  auto both = ((DEVICE Pair*)(x + at))->both;
  return {{(float)both.x, (float)both.y}};
}}
KERNEL(DEVICE {element}* x, DEVICE float2* y, DEVICE uint* n) {{
  uint i = thread_x(), row = __assay_matrix_row(), column = __assay_matrix_column();
  uint wide = {wide};
  float2 c[{sums}], a[3], b[4], kept = 0;
  EACH c[j] = 0;
  for (uint k = 0; k < n[0]; ++k) {{
    uint begin = k * 8;
    _Pragma("clang loop unroll(full)") for (uint j = 0; j < 3; ++j) a[j] = loaded(x, {left});
    _Pragma("clang loop unroll(full)") for (uint j = 0; j < 4; ++j) b[j] = loaded(x, {right});
    {between}
    EACH c[j] = added({product}, c[j]);
    {after}
  }}
  EACH y[j * 32 + i] = c[j] + kept;
}}
"""
_PLAIN = {
    "element": "half",
    "left": "begin + (j * 8 + row) * 40 + column",
    "right": "n[1] + (begin + row) * 40 + j * 8 + column",
    "between": "",
    "product": "a[j / 4], b[j % 4]",
    "after": "",
    "sums": _SUMS,
}
# What differs from halves of which right factors lie side by side, and how many matrices wait.
_KERNELS: dict[str, tuple[dict[str, Any], int]] = {
    "side by side": ({}, 7),
    "floats": ({"element": "float"}, 7),
    "one behind the other": ({"right": "begin * 8 + j * 64 + row * 8 + column"}, 7),
    "rows as far as the host says": ({"right": "begin + row * n[2] + j * 8 + column"}, 7),
    "neighbours the other way round": ({"right": "begin + row * 40 + (3 - j) * 8 + column"}, 7),
    "overlapping": ({"right": "begin + row * 40 + j * 7 + column"}, 7),
    "transposed": ({"right": "begin + column * 40 + j * 8 + row * 2"}, 3),
    "places that may wrap": ({"right": "(unsigned short)(n[3] + row * 40 + j * 8 + column)"}, 3),
    "neighbours that may wrap": ({"right": "(uint)(int)(n[1] + j * 8) + row * 40 + column"}, 7),
    "the same on both sides": ({"product": "b[j / 4], b[j % 4]"}, 4),
    "both elements the other way round": ({"product": "a[j / 4], (b[j % 4].yx)"}, 3),
    "written before the product": ({"between": "x[n[4] + i] = k;"}, 0),
    "written after it": ({"after": "x[n[4] + i] = k;"}, 7),
    "one is used elsewhere": ({"after": "kept += b[1];"}, 6),
    "one is added to": ({"sums": 10, "after": "c[0] = added(a[0], b[0], b[1]);"}, 3),
    "products in blocks of their own": ({"product": "a[j / 4], k & 1 ? b[j % 4] : b[0]"}, 0),
}


def _kernel(name: str, wide: float) -> Kernel:
    """One of the kernels; with a number of its own, so that it is compiled anew."""
    return compile_cpp(_KERNEL.format(**_PLAIN | _KERNELS[name][0] | {"wide": wide}), "x y n")


def _arrays(name: str) -> list[np.ndarray]:
    kind = np.float32 if _KERNELS[name][0].get("element") == "float" else np.float16
    x = np.random.default_rng(0).standard_normal(1 << 17).astype(kind)
    y = np.zeros((_SUMS * LANES, 2), np.float32)
    return [x, y, np.asarray([3, 77, 24, (1 << 16) - 22, 1 << 14], np.uint32)]


def _expect_the_reference(name: str, kernel: Kernel) -> None:
    engine, reference = (
        run(kernel, _arrays(name), threadgroup_size=_SIZE)[1] for run in (on_engine, on_reference)
    )
    assert engine.tobytes() == reference.tobytes()
    assert np.unique(engine).size > LANES


def _registers(monkeypatch: pytest.MonkeyPatch, *, wide: bool) -> None:
    for each in (values, places):
        monkeypatch.setattr(each, "has_wide_registers", lambda: wide)
    monkeypatch.setattr(sums, "has_wide_registers", lambda: False)  # few sums are many


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", _KERNELS)
@pytest.mark.parametrize("wide", [False, True], ids=["narrow", "wide"])
def test_products_are_those_of_the_reference(
    name: str, wide: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    _registers(monkeypatch, wide=wide)
    _expect_the_reference(name, _kernel(name, int(wide)))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", _KERNELS)
@pytest.mark.parametrize("wide", [False, True], ids=["narrow", "wide"])
def test_they_are_if_rows_are_not_where_they_are_looked_for(
    name: str, wide: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    _registers(monkeypatch, wide=wide)
    monkeypatch.setattr(rows, "inside", lambda matrices: "false")
    _expect_the_reference(name, _kernel(name, 2 + int(wide)))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", _KERNELS)
@pytest.mark.parametrize("wide", [False, True], ids=["narrow", "wide"])
def test_they_are_if_lanes_are_loaded_one_by_one(
    name: str, wide: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    _registers(monkeypatch, wide=wide)
    plain = Access.window_offsets
    monkeypatch.setattr(Access, "window_offsets", lambda *given: (plain(*given)[0], "false"))
    _expect_the_reference(name, _kernel(name, 4 + int(wide)))


@pytest.mark.parametrize("name", _KERNELS)
def test_matrices_wait_that_only_products_need(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _registers(monkeypatch, wide=True)
    kernel = _kernel(name, 1)
    program = Program(kernel.bitcode, ENTRY, name="k", parameters=kernel.parameters)
    emitted = Vectoriser(program.function, Shape(size=_SIZE, nominal=_SIZE))
    emitted.run()
    assert len(emitted.waiting) == _KERNELS[name][1]
