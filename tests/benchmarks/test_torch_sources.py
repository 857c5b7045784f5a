"""Kernels of a library of PyTorch's beside our own compilation of their files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from assay.compiler.air import AirLibrary
from assay.compiler.msl import compile_library
from benchmarks.apple.arguments_alike import other_arguments
from benchmarks.apple.comparing import TORCH_26, Row
from benchmarks.apple.main import main
from benchmarks.apple.workers import stored
from tests.support.metallib import Buffer, kernel, library

BODY = """  %i = zext i32 %p0 to i64
  %from = getelementptr float, ptr addrspace(2) %b0, i64 %i
  %v = load float, ptr addrspace(2) %from
  %limit = load float, ptr addrspace(2) %b2
  %more = fcmp ogt float %v, %limit
  %sum = fadd float %v, 0x3E7AD7F2A0000000
  %part = fdiv float %limit, %sum
  %r = select i1 %more, float %part, float 1.0
  %to = getelementptr float, ptr addrspace(1) %b1, i64 %i
  store float %r, ptr addrspace(1) %to"""
THEIRS = kernel(
    "renorm_float",
    BODY,
    (
        Buffer(name="norm", element="float", space=2, access="read"),
        Buffer(name="factor", element="float"),
        Buffer(name="maxnorm", element="float", space=2, access="read"),
    ),
)
OURS = """#include <metal_stdlib>
kernel void renorm_float(constant float* norm [[buffer(0)]], device float* factor [[buffer(1)]],
                         constant float* maxnorm [[buffer(2)]],
                         uint i [[thread_position_in_grid]]) {
    factor[i] = norm[i] > *maxnorm ? *maxnorm / (norm[i] + 1e-7f) : BESIDE;
}
"""


@pytest.mark.parametrize(("beside", "code"), [("1.0f", 0), ("2.0f", 1)])
def test_files_are_compared_with_the_library_and_timed(
    beside: str, code: int, tmp_path: Path
) -> None:
    (tmp_path / "k.metal").write_text(OURS.replace("BESIDE", beside))
    (tmp_path / "torch.metallib").write_bytes(library({"renorm_float": THEIRS}))
    rows = tmp_path / "rows.jsonl"
    given = ["--torch-sources", tmp_path, "--metallib", tmp_path / "torch.metallib"]
    assert main([*map(str, given), "--into", str(rows)]) == code
    (row,) = stored(rows, Row)
    assert (row.against, row.problem, bool(row.different)) == (TORCH_26, "", bool(code))
    assert row.left > 0
    assert row.right > 0


def test_a_kernel_that_only_one_side_has_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "k.metal").write_text(
        OURS.replace("renorm_float", "other").replace("BESIDE", "1.0f")
    )
    (tmp_path / "torch.metallib").write_bytes(library({"renorm_float": THEIRS}))
    given = ["--torch-sources", tmp_path, "--metallib", tmp_path / "torch.metallib"]
    assert main([*map(str, given), "--into", str(tmp_path / "rows.jsonl")]) == 1
    assert "on one side alone: other, renorm_float" in capsys.readouterr().err


def test_arguments_are_told_apart() -> None:
    ours = compile_library(OURS.replace("BESIDE", "1.0f")).function("renorm_float").arguments
    theirs = AirLibrary(library({"renorm_float": THEIRS}), "k").function("renorm_float").arguments
    assert other_arguments(ours, theirs) == ""
    moved = (replace(theirs[0], index=5), *theirs[1:])
    assert other_arguments(ours, moved) == "argument 'norm': index 0, and 5"
    assert other_arguments(ours, theirs[:2]) == "3 arguments, and 2"
