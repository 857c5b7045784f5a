"""Kernels of a compiled library beside our own compilation of their source."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.compiler.air import AirLibrary
from assay.compiler.msl import compile_library
from benchmarks.apple.compare import compared
from benchmarks.apple.main import main
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
        ("y[i] = y[i];", False, "it writes nothing"),
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


def test_files_of_kernels_are_compared_in_three_forms_and_timed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "mlx/backend/metal/kernels"
    folder.mkdir(parents=True)
    (folder / "k.metal").write_text(OURS.format("y[i] = x[i] * 0.5f;"))
    older, newer = tmp_path / "14.metallib", tmp_path / "26.metallib"
    older.write_bytes(library({"half_of": THEIRS}))
    newer.write_bytes(library({"half_of": THEIRS.replace("%v, 0.5", "%v, 0.25")}))
    given = ["--metallib", older, "--newer", newer, "--sources", tmp_path, "--json"]
    code = main([*map(str, given), "--into", str(tmp_path / "rows.jsonl")])
    found = json.loads(capsys.readouterr().out)
    assert code == 1
    ours, theirs = found["our compilation"], found["a newer AIR"]
    assert (ours["compared"], ours["equal"], ours["timed_alike"]) == (1, 1, 1)
    assert (theirs["compared"], theirs["equal"], theirs["different"]) == (1, 0, ["half_of"])


def test_a_kernel_that_is_made_for_fewer_threads_is_compared_with_those() -> None:
    """Its threadgroup has no more memory."""
    ours = """#include <metal_stdlib>
kernel void half_of(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                    uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]]) {
    threadgroup float own[32];
    own[l] = x[i];
    y[i] = own[l] * 0.5f;
}
"""
    theirs = AirLibrary(library({"half_of": THEIRS}), "k.metallib")
    found = compared(compile_library(ours), theirs, "half_of")
    assert (found.different, found.problem) == (0, "")
