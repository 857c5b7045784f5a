"""Kernels of a compiled library beside our own compilation of their source."""

from __future__ import annotations

import pytest

from assay.compiler.air import AirLibrary
from assay.compiler.msl import compile_library
from benchmarks.apple.compare import compared
from tests.support.metallib import Buffer, kernel, library

THEIRS = kernel(
    "half_of",
    """  %i = zext i32 %p0 to i64
  %from = getelementptr float, ptr addrspace(1) %b0, i64 %i
  %v = load float, ptr addrspace(1) %from
  %r = fmul float %v, 0.5
  %to = getelementptr float, ptr addrspace(1) %b1, i64 %i
  store float %r, ptr addrspace(1) %to""",
    (Buffer(name="x", element="float", access="read"), Buffer(name="y", element="float")),
)
OURS = """#include <metal_stdlib>
kernel void half_of(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) {{
    {}
}}
"""


RACE = """#include <metal_stdlib>
kernel void race(device const uint* x [[buffer(0)]], device uint* y [[buffer(1)]],
                 uint i [[thread_index_in_threadgroup]],
                 uint3 at [[threadgroup_position_in_grid]]) {
    uint value = x[i];
    for (uint n = 0; n < 100 * i; n++) { value = value * 1664525u + at.x + 2 * at.y + 4 * at.z; }
    y[0] = value;
}
"""


def test_threadgroups_that_write_over_each_other_compare_by_one_order() -> None:
    libraries = [compile_library(RACE) for _ in range(2)]
    found = [compared(*libraries, "race") for _ in range(10)]
    assert {(each.different, each.problem) for each in found} == {(0, "")}


@pytest.mark.parametrize(
    ("body", "different", "problem"),
    [
        ("y[i] = x[i] * 0.5f;", False, ""),
        ("y[i] = x[i] * 0.25f;", True, ""),
        ("y[i] = y[i];", False, "it writes nothing under what is assumed"),
    ],
)
def test_equal_bits_different_ones_and_none_are_told_apart(
    body: str, different: bool, problem: str
) -> None:
    ours = compile_library(OURS.format(body))
    theirs = AirLibrary(library({"half_of": THEIRS}), "half.metallib")
    found = compared(ours, theirs, "half_of")
    assert bool(found.different) is different
    assert found.problem == problem
