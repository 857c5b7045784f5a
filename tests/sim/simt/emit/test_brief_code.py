"""Code that is little rather than fast: accesses that hardly run are calls of helpers alone."""

from __future__ import annotations

import re

import pytest

from assay.compiler.msl import compile_library
from assay.sim.simt.emit import values
from assay.sim.simt.emit.vectorise import Vectoriser
from assay.sim.simt.ir.shape import Shape

SOURCE = """#include <metal_stdlib>
using namespace metal;
kernel void k(device const float* a, device float* b, constant uint& n,
              uint i [[thread_position_in_grid]]) {
    float sum = a[i];
    for (uint at = 0; at < n; at++)
        sum += b[i + at];
    b[i] = sum;
}
"""
_WIDE = re.compile(r" (?:load|store) <\d+ x float>.*, align 1$", re.MULTILINE)
_SHAPE = Shape(size=(32, 1, 1), nominal=(32, 1, 1))


def _code(*, brief: bool) -> str:
    function = compile_library(SOURCE).function("k").program().function
    return Vectoriser(function, _SHAPE, frozenset({"race"}), brief=brief).run().text


def test_accesses_outside_of_loops_are_calls() -> None:
    fast, brief = _code(brief=False), _code(brief=True)
    assert len(_WIDE.findall(fast)) > len(_WIDE.findall(brief)) > 0
    assert fast.count("@llvm.usub.sat") > brief.count("@llvm.usub.sat") > 1
    assert len(brief) < len(fast)


def test_all_accesses_of_a_kernel_with_many_are_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    some = _code(brief=True)
    monkeypatch.setattr(values, "_MANY_ACCESSES", 2)
    brief = _code(brief=True)
    assert len(brief) < len(some)
    assert len(_WIDE.findall(brief)) < len(_WIDE.findall(some))
