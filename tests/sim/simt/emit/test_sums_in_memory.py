"""More sums of products than registers hold: each stays at one place, where products add to it."""

from __future__ import annotations

import numpy as np
import pytest

from assay.sim.simt import Program
from assay.sim.simt.emit import values
from assay.sim.simt.emit.matrices import places, sums
from assay.sim.simt.emit.vectorise import Vectoriser
from assay.sim.simt.ir.shape import LANES, Shape
from tests.support.kernels import ENTRY, Kernel, compile_cpp, on_engine, on_reference

_SUMS = 12  # matrices, of each two elements of a lane
_SIZE = (2 * LANES, 1, 1)
_KERNEL = """
#define EACH _Pragma("clang loop unroll(full)") for (uint j = 0; j < {sums}; ++j)
static float2 added(float2 a, float2 b, float2 c) {{
  float first = __assay_mma_f32(0, a.x, a.y, b.x, b.y, c.x, c.y);
  float second = __assay_mma_f32(1, a.x, a.y, b.x, b.y, c.x, c.y);
  return float2{{first, second}};
}}
KERNEL(DEVICE float2* x, DEVICE float2* y, DEVICE uint* turns, THREADGROUP float2* tile) {{
  uint i = thread_x(), wide = {wide};
  float2 c[{sums}], kept = 0;
  EACH c[j] = {first};
  for (uint k = 0; k < turns[0]; ++k) {{
    float2 a[3], b[4];
    tile[i] = x[i + k * 64];
    barrier();
    for (uint j = 0; j < 3; ++j) a[j] = tile[(i + j) % 64];
    for (uint j = 0; j < 4; ++j) b[j] = tile[(i * 3 + j) % 64];
    barrier();
    {before}
    {product}
    {after}
  }}
  EACH y[j * 64 + i] = c[j] + kept;
}}
"""
_SIMDGROUP = "__assay_simdgroup_index_in_threadgroup()"
_PRODUCT = "EACH c[j] = added(a[j / 4], b[j % 4], c[j]);"
_PLAIN = {"first": "0", "before": "", "product": _PRODUCT, "after": "", "sums": _SUMS}
# What each does, how many of the sums' elements stay in memory, and how many lie in strips of one
# matrix, and of two.
_KERNELS = {
    "plain": ({}, 24, 12, 6),
    "few": ({"sums": 1}, 0, 0, 0),
    "sums of something": ({"first": "x[i + j]"}, 24, 12, 6),
    "two products a turn": ({"after": _PRODUCT}, 24, 12, 6),
    "a loop inside": ({"product": f"for (uint m = 0; m < turns[1]; ++m) {_PRODUCT}"}, 24, 12, 6),
    "no turn inside": ({"product": f"for (uint m = 0; m < turns[2]; ++m) {_PRODUCT}"}, 24, 12, 6),
    "scaled": ({"before": "EACH c[j] = c[j] * 0.5f;"}, 24, 12, 6),
    "half of each scaled": ({"before": "EACH c[j].y = c[j].y * 0.5f;"}, 24, 12, 6),
    "read before, which LLVM does afterwards": ({"before": "EACH kept += c[j];"}, 0, 0, 0),
    "read afterwards": ({"after": "EACH kept += c[j];"}, 24, 12, 6),
    "read at once": ({"product": _PRODUCT.replace("}", "kept += c[j]; }")}, 24, 12, 6),
    "the one before is kept": (
        {"before": "float2 old = c[1];", "after": "kept += old;"},
        22,
        11,
        5,
    ),
    "two change places": ({"after": "float2 t = c[0]; c[0] = c[1]; c[1] = t;"}, 20, 10, 5),
    "one is a factor": ({"after": "c[0] = added(c[2], b[0], c[0]);"}, 22, 11, 4),
    "some simdgroups": ({"product": f"if ({_SIMDGROUP} == turns[3]) {_PRODUCT}"}, 24, 12, 6),
    "lanes that may part": ({"product": f"if (x[i].x < 9) {_PRODUCT}"}, 0, 0, 0),
    "lanes leave by turns": ({"after": "if (x[i].x > 0.5f) break;"}, 0, 0, 0),
    "by columns": ({"product": "EACH c[j] = added(a[j % 3], b[j / 3], c[j]);"}, 24, 12, 0),
    "three of a row": ({"product": "EACH c[j] = added(a[j / 3 % 3], b[j % 3], c[j]);"}, 24, 12, 4),
    "other neighbours": ({"after": "EACH c[j] = added(a[j % 3], b[1], c[j]);"}, 24, 12, 0),
    "one thing on both sides": (
        {"product": "EACH c[j] = added(b[j / 4], b[j % 4], c[j]);"},
        24,
        12,
        6,
    ),
    "one element": ({"product": "EACH c[j].x = added(a[j / 4], b[j % 4], c[j]).x;"}, 12, 0, 0),
    "a chain": ({"product": "EACH c[j / 4] = added(a[j / 4], b[j % 4], c[j / 4]);"}, 6, 3, 0),
}


def _kernel(name: str, wide: bool) -> Kernel:
    """One of the kernels; with a number of its own, so that it is compiled anew."""
    text = _KERNEL.format(**_PLAIN | _KERNELS[name][0] | {"wide": int(wide)})
    return compile_cpp(text, "x y turns tile:threadgroup")


def _arguments(turns: int) -> list[object]:
    x = np.random.default_rng(0).integers(-3, 4, (1024, 2)).astype(np.float32) / 4
    y = np.zeros((_SUMS * 2 * LANES, 2), np.float32)
    return [x, y, np.asarray([turns, 3, 0, 1], np.uint32), 2 * LANES * 8]


@pytest.mark.sampled(16)
@pytest.mark.parametrize("name", [name for name in _KERNELS if name != "lanes leave by turns"])
@pytest.mark.parametrize("turns", [0, 1, 3])
@pytest.mark.parametrize("wide", [False, True], ids=["narrow", "wide"])
def test_products_are_those_of_the_reference(
    name: str, turns: int, wide: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for each in (values, sums, places):
        monkeypatch.setattr(each, "has_wide_registers", lambda: wide)
    kernel = _kernel(name, wide)
    engine, reference = (
        run(kernel, _arguments(turns), threadgroup_size=_SIZE, threads=_SIZE)[1]
        for run in (on_engine, on_reference)
    )
    assert engine.tobytes() == reference.tobytes()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", _KERNELS)
@pytest.mark.parametrize("wide", [False, True], ids=["narrow", "wide"])
def test_sums_stay_of_which_never_two_are_needed(
    name: str, wide: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sums, "has_wide_registers", lambda: False)  # few are many
    monkeypatch.setattr(places, "has_wide_registers", lambda: wide)
    kernel = _kernel(name, False)
    program = Program(kernel.bitcode, ENTRY, name="k", parameters=kernel.parameters)
    emitted = Vectoriser(program.function, Shape(size=_SIZE, nominal=_SIZE))
    code = emitted.run()
    _, stay, ones, twos = _KERNELS[name]
    slots = [key for kind, key in emitted.slots.all if kind == "sum"]
    in_strips = [key for key in slots if isinstance(key, tuple)]
    strips = twos if wide else ones
    assert len(in_strips) == strips
    assert len(slots) - len(in_strips) == stay - strips * (4 if wide else 2)
    assert code.keeps_sums == bool(slots)
