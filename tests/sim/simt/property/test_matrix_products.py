"""Random kernels of matrix products: factors wherever they may lie, and whatever comes between."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from assay.sim.simt.emit import values
from assay.sim.simt.emit.matrices import places, sums
from assay.sim.simt.ir.faults import KernelFault
from assay.sim.simt.ir.shape import LANES
from tests.support.kernels import Kernel, compile_cpp, on_engine, on_reference

_KERNEL = """
#define EACH(n) _Pragma("clang loop unroll(full)") for (uint j = 0; j < n; ++j)
struct __attribute__((packed, aligned(2))) Halves {{
  half __attribute__((ext_vector_type(2))) both;
}};
struct __attribute__((packed, aligned(2))) Floats {{ float2 both; }};
static float2 added(float2 a, float2 b, float2 c) {{
  float first = __assay_mma_f32(0, a.x, a.y, b.x, b.y, c.x, c.y);
  float second = __assay_mma_f32(1, a.x, a.y, b.x, b.y, c.x, c.y);
  return float2{{first, second}};
}}
static float2 of_x(DEVICE half* x, uint at) {{
  auto both = ((DEVICE Halves*)(x + at))->both;
  return {{(float)both.x, (float)both.y}};
}}
static float2 of_z(DEVICE float* z, uint at) {{ return ((DEVICE Floats*)(z + at))->both; }}
static float2 of_tile(THREADGROUP half* tile, uint at) {{
  auto both = ((THREADGROUP Halves*)(tile + at))->both;
  return {{(float)both.x, (float)both.y}};
}}
KERNEL(DEVICE half* x, DEVICE float* z, DEVICE float2* y, DEVICE uint* n, THREADGROUP half* tile) {{
  uint i = thread_x(), row = __assay_matrix_row(), column = __assay_matrix_column();
  float2 c[{sums}], a[4], b[4], kept = 0;
  EACH({sums}) c[j] = {first};
  for (uint k = 0; k < n[0]; ++k) {{
    EACH(16) tile[(i + j * n[5]) & 1023] = x[(i * 3 + j * 64 + k * 7) & 4095];
    barrier();
    {turns}
    barrier();
  }}
  EACH({sums}) y[(i / 32 * {sums} + j) * 32 + i % 32] = c[j] + kept;
}}
"""
_NUMBERS = [3, 77, 24, 65000, 16, 37, 1]  # the kernel's `n`
_FIRST = ("0", "x[j]", "float2{z[j], 1}")
_TURNS = ("for (uint kk = 0; kk < 3; ++kk) {{ {} }}", "uint kk = k; {}")
_BASES = ("0", "n[1]", "k * 8", "k * 64", "i / 32 * 64", "kk * 8 + n[1]", "(ushort)(n[3] + k)")
_STEPS = ("j * 8", "j * 64", "j * 8 * n[2]", "(3 - j) * 8", "j * 7", "j", "0", "j * n[4]")
_STRIDES = ("8", "16", "32", "33", "40", "n[2]")
_ROWS = ("row * {0} + column",) * 5 + (
    "column * {0} + row",
    "(row ^ 1) * {0} + column",
    "row * {0} + (column ^ 2)",
)
_LOADS = ("of_x(x, {0})", "of_z(z, {0})", "of_tile(tile, ({0}) & 511)", "of_tile(tile, {1})")
_IN_TILE = ("kk * 8 + j * 64 + row * 8 + column", "(j * 8 + row) * 24 + kk * 8 + column")
_BETWEEN = ("",) * 8 + (
    "x[20000 + i] = k;",
    "barrier();",
    "kept += a[0];",
    "kept.x += b[1].y;",
    "tile[1000 + (i & 15)] = k;",
    "if (n[6] > k) a[1] = b[1];",
    "if (x[i] > 0) kept += 1;",
    "b[2] = a[2];",
)
_PRODUCTS = ("EACH({0}) c[j] = added(a[j / 4], b[j % 4], c[j]);",) * 5 + (
    "EACH({0}) c[j] = added(a[j % 4], b[j / 4], c[j]);",
    "EACH({0}) c[j] = added(b[j / 4], b[j % 4], c[j]);",
    "EACH({0}) c[j] = added(a[j / 4], (b[j % 4].yx), c[j]);",
    "EACH({0}) {{ c[j] = added(a[j / 4], b[j % 4], c[j]); kept += b[j % 4] * 0.25f; }}",
    "EACH({0}) c[j].x = added(a[j / 4], b[j % 4], c[j]).x;",
    "EACH(4) c[j] = added(a[j], b[0], b[j]);",
)
_ALWAYS = 3
_SLOW = 60


def _kernel(seed: int) -> tuple[Kernel, random.Random]:
    draw = random.Random(seed)
    number = draw.choice((4, 8, 12, 16))
    products = [draw.choice(_PRODUCTS).format(number)]
    factors = [_factors(draw, name) for name in draw.sample("ab", 2)]
    turn = [factors[0], draw.choice(_BETWEEN), factors[1], draw.choice(_BETWEEN), *products]
    if draw.random() < 0.3:
        turn += [_factors(draw, draw.choice("ab")), draw.choice(_BETWEEN), *products]
    turns = draw.choice(_TURNS).format(" ".join([*turn, draw.choice(_BETWEEN)]))
    text = _KERNEL.format(sums=number, first=draw.choice(_FIRST), turns=turns)
    return compile_cpp(text, "x z y n tile:threadgroup"), draw


def _factors(draw: random.Random, name: str) -> str:
    row = draw.choice(_ROWS).format(draw.choice(_STRIDES))
    at = f"{draw.choice(_BASES)} + {draw.choice(_STEPS)} + {row}"
    return f"EACH(4) {name}[j] = {draw.choice(_LOADS).format(at, draw.choice(_IN_TILE))};"


def _arguments(seed: int) -> list[object]:
    draw = np.random.default_rng(seed)
    x = draw.standard_normal(1 << 17).astype(np.float16)
    z = draw.standard_normal(1 << 17).astype(np.float32)
    return [x, z, np.zeros((16 * 2 * LANES, 2), np.float32), np.asarray(_NUMBERS, np.uint32), 2048]


@pytest.mark.parametrize(
    "seed", [pytest.param(s, marks=pytest.mark.slow if s >= _ALWAYS else ()) for s in range(_SLOW)]
)
def test_products_are_those_of_the_reference(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, draw = _kernel(seed)
    wide = draw.random() < 0.6
    for each in (values, places):
        monkeypatch.setattr(each, "has_wide_registers", lambda: wide)
    monkeypatch.setattr(sums, "has_wide_registers", lambda: False)  # few sums are many
    size = (draw.choice((1, 2)) * LANES, 1, 1)
    found = [_outcome(run, kernel, seed, size) for run in (on_engine, on_reference)]
    assert found[0] == found[1]


def _outcome(
    run: Callable[..., Sequence[np.ndarray]], kernel: Kernel, seed: int, size: tuple[int, int, int]
) -> list[bytes]:
    """What a kernel leaves in its arrays; nothing after a fault, which may be any of several."""
    try:
        return [each.tobytes() for each in run(kernel, _arguments(seed), threadgroup_size=size)[:3]]
    except KernelFault:
        return []
