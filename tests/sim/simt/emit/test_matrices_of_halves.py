"""Products of matrices of halves, which become floats in the order that memory has them in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from assay.sim.simt import Program
from assay.sim.simt.emit import loads, values
from assay.sim.simt.emit.access import Access
from assay.sim.simt.emit.matrices.halves import load_in_order
from assay.sim.simt.emit.vectorise import Vectoriser
from assay.sim.simt.ir.nodes import Instruction
from assay.sim.simt.ir.shape import LANES, Shape
from tests.support.kernels import ENTRY, Kernel, compile_cpp, on_engine, on_reference

_KERNEL = """
struct __attribute__((packed, aligned(2))) Pair {{
  half __attribute__((ext_vector_type(2))) both;
}};
KERNEL(DEVICE half* x, DEVICE float2* y, DEVICE uint* n) {{
  uint i = thread_x(), row = __assay_matrix_row(), column = __assay_matrix_column();
  uint stride = {stride};
  float2 c = {{{wide}, 0}};
  {before}
  for (uint k = 0; k < n[0]; ++k) {{
    {inside}
    float first = __assay_mma_f32(0, {left}.x, {left}.y, b.x, b.y, c.x, c.y);
    float second = __assay_mma_f32(1, {left}.x, {left}.y, b.x, b.y, c.x, c.y);
    c = float2{{first, second}};
  }}
  y[i] = c;
}}
"""
_LOAD = """
  auto h{0} = ((DEVICE Pair*)(x + {1}))->both;
  float2 {0} = {{(float)h{0}.x, (float)h{0}.y}};
"""
_ROWS = "row * stride + column"
_BEFORE = _LOAD.format("b", f"n[1] + {_ROWS}")
_ASSIGNED = _BEFORE.replace("float2 b", "b")
_LEFT = _LOAD.format("a", f"k * 64 + {_ROWS}")
_PLAIN = {"stride": "8", "before": _BEFORE, "inside": _LEFT, "left": "a"}
# What differs from a right matrix that is loaded in front of the loop.
_KERNELS = {
    "in front of the loop": {},
    "of each turn": {"before": "", "inside": _LOAD.format("b", f"k * 64 + {_ROWS}") + _LEFT},
    "far rows": {"stride": "n[2]"},
    "near rows": {"stride": "12"},
    "the same on both sides": {"inside": "", "left": "b"},
    "transposed": {"before": _LOAD.format("b", "n[1] + column * stride + row * 2")},
    "rows that overlap": {"stride": "6"},
    "places that wrap": {"before": _LOAD.format("b", f"(unsigned short)(n[3] + {_ROWS})")},
    "some lanes": {"before": f"float2 b = {{1, 2}}; if (lane() < n[4]) {{ {_ASSIGNED} }}"},
}
_OUT_OF_ORDER = ("near rows", "rows that overlap", "places that wrap", "some lanes")
_SIZE = (LANES, 1, 1)


def _kernel(name: str, wide: float) -> Kernel:
    """One of the kernels; with a number of its own, so that it is compiled anew."""
    return compile_cpp(_KERNEL.format(**_PLAIN | _KERNELS[name] | {"wide": float(wide)}), "x y n")


def _expect_the_reference(kernel: Kernel) -> None:
    engine, reference = (
        run(kernel, _arrays(), threadgroup_size=_SIZE)[1] for run in (on_engine, on_reference)
    )
    assert engine.tobytes() == reference.tobytes()
    assert np.unique(engine).size > LANES


def _arrays() -> list[np.ndarray]:
    bits = np.random.default_rng(0).integers(0, 1 << 16, 1 << 16).astype(np.uint16)
    bits[(bits & 0x7C00) > 0x5000] &= 0x83FF  # numbers so small that LLVM's are tested, no NaN
    wrapping = (1 << 16) - 22
    return [
        bits.view(np.float16),
        np.zeros((LANES, 2), np.float32),
        np.asarray([3, 77, 24, wrapping, 13], np.uint32),
    ]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", _KERNELS)
@pytest.mark.parametrize("wide", [False, True], ids=["narrow", "wide"])
def test_products_are_those_of_the_reference(
    name: str, wide: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(values, "has_wide_registers", lambda: wide)
    _expect_the_reference(_kernel(name, wide))


@pytest.mark.parametrize("name", [name for name in _KERNELS if name not in _OUT_OF_ORDER])
def test_they_are_if_lanes_are_loaded_one_by_one(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slowly(access: Access, load: Instruction, inside: str, *ways: Any) -> list[str]:
        return load_in_order(access, load, "false", *ways)

    monkeypatch.setattr(values, "has_wide_registers", lambda: True)
    monkeypatch.setattr(loads, "load_in_order", slowly)
    _expect_the_reference(_kernel(name, 2))


@pytest.mark.parametrize("name", _KERNELS)
def test_right_factors_stay_in_order_where_registers_are_wide(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = _kernel(name, True)
    program = Program(kernel.bitcode, ENTRY, name="k", parameters=kernel.parameters)
    found = []
    for wide in (False, True):
        monkeypatch.setattr(values, "has_wide_registers", lambda wide=wide: wide)
        emitted = Vectoriser(program.function, Shape(size=_SIZE, nominal=_SIZE))
        emitted.run()
        found.append(len(emitted.in_order))
    assert found == [0, int(name not in _OUT_OF_ORDER)]
