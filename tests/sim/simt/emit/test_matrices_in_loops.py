"""Products of matrices in loops that only use an operand: its lanes are moved in front of them."""

from __future__ import annotations

import numpy as np
import pytest

from assay.sim.simt import Program
from assay.sim.simt.emit import values
from assay.sim.simt.emit.vectorise import Vectoriser
from assay.sim.simt.ir.shape import LANES, Shape
from tests.support.kernels import ENTRY, Kernel, compile_cpp, on_engine, on_reference

# Each simdgroup has matrices of its own: `a` and `b` from before the loop, or of each turn.
_KERNEL = """
KERNEL(DEVICE float2* x, DEVICE float2* y, DEVICE uint* turns) {{
  uint i = thread_x(), group = i / 32;
  float2 a = x[i], b = x[i + 64], c = x[i + 128] + {wide};
  {before}
  for (uint k = 0; k < turns[group]; ++k) {{
    {inside}
    float first = __assay_mma_f32(0, {left}.x, {left}.y, {right}.x, {right}.y, c.x, c.y);
    float second = __assay_mma_f32(1, {left}.x, {left}.y, {right}.x, {right}.y, c.x, c.y);
    c = float2{{first, second}};
  }}
  y[i] = c;
}}
"""
_OWN = "float2 {} = x[i + (k & 3) * 64];"
_PLAIN = {"before": "", "inside": "", "left": "a", "right": "b"}
_KERNELS = {
    "both from before": {},
    "a of each turn": {"inside": _OWN.format("own"), "left": "own"},
    "b of each turn": {"inside": _OWN.format("own"), "right": "own"},
    "the same on both sides": {"right": "a"},
    "of some simdgroups": {"before": "if (turns[group] == 3) { a.x = 2; b = a; }"},
    "lanes that changed it": {"before": "if (lane() & 4) { a = b; b.y = 1; }"},
    "a barrier in front": {"before": "barrier();"},
    "a barrier inside": {"inside": "barrier();"},
    "a loop around": {"before": "for (uint j = 0; j < 3; ++j) a.x = a.x * 0.5f + b.y;"},
}
_TURNS = {"alike": (5, 5), "no turn": (0, 2), "one and many": (1, 7)}


def _kernel(name: str, wide: bool) -> Kernel:
    """One of the kernels; with a number of its own, so that it is compiled anew."""
    text = _KERNEL.format(**_PLAIN | _KERNELS[name] | {"wide": float(wide)})
    return compile_cpp(text, "x y turns")


def _arrays(turns: tuple[int, int]) -> list[np.ndarray]:
    x = np.random.default_rng(0).integers(-3, 4, (256, 2)).astype(np.float32) / 4
    return [x, np.zeros((2 * LANES, 2), np.float32), np.asarray(turns, np.uint32)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("name", "turns"),
    # All come to a barrier inside, or none.
    [
        (name, turns)
        for name in _KERNELS
        for turns in _TURNS
        if "inside" not in name or turns == "alike"
    ],
)
@pytest.mark.parametrize("wide", [False, True], ids=["narrow", "wide"])
def test_products_are_those_of_the_reference(
    name: str, turns: str, wide: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(values, "has_wide_registers", lambda: wide)
    kernel = _kernel(name, wide)
    size = (2 * LANES, 1, 1)
    engine, reference = (
        run(kernel, _arrays(_TURNS[turns]), threadgroup_size=size)[1]
        for run in (on_engine, on_reference)
    )
    assert engine.tobytes() == reference.tobytes()


@pytest.mark.parametrize(
    ("name", "moved"),
    [
        ("both from before", 2 * 4 + 2 * 8),
        ("a of each turn", 2 * 8),
        ("b of each turn", 2 * 4),
        ("a barrier inside", 0),
    ],
)
def test_lanes_are_moved_once_in_front_of_the_loop(
    name: str, moved: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(values, "has_wide_registers", lambda: True)
    kernel = _kernel(name, 1)
    program = Program(kernel.bitcode, ENTRY, name="k", parameters=kernel.parameters)
    size = (2 * LANES, 1, 1)
    emitted = Vectoriser(program.function, Shape(size=size, nominal=size))
    emitted.run()
    assert sum(kind == "moved" for kind, _ in emitted.slots.all) == moved


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("both from before", 2),
        ("a of each turn", 2),
        ("b of each turn", 0),
        ("a barrier inside", 0),
    ],
)
def test_few_registers_have_rows_of_the_right_matrix_loaded_from_memory(
    name: str, shown: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(values, "has_wide_registers", lambda: False)
    kernel = _kernel(name, 0)
    program = Program(kernel.bitcode, ENTRY, name="k", parameters=kernel.parameters)
    size = (2 * LANES, 1, 1)
    emitted = Vectoriser(program.function, Shape(size=size, nominal=size))
    emitted.run()
    kinds = [kind for kind, _ in emitted.slots.all]
    assert kinds.count("shown") == shown
    assert "moved" not in kinds
