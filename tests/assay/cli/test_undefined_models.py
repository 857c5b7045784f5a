"""Reductions that start from elements nobody has set are told."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.compiler.graph.linalg.undefined import undefined_starts
from assay.compiler.torq.passes.load import load
from assay.npu import compile_executable
from tests.compiler.graph import models

from .conftest import Done

Assay = Callable[..., Done]

pytestmark = pytest.mark.skipif(not models.IMPORTABLE, reason="converter or IREE are missing")
_SUM = """\
func.func @main(%x: tensor<4x6xi32>) -> tensor<4xi32> {
  %c = arith.constant 0 : i32
  %e = tensor.empty() : tensor<4xi32>
  %f = linalg.fill ins(%c : i32) outs(%e : tensor<4xi32>) -> tensor<4xi32>
  %y = linalg.reduce ins(%x : tensor<4x6xi32>) outs(%START : tensor<4xi32>) dimensions = [1]
    (%in: i32, %sum: i32) {
      %s = arith.addi %in, %sum : i32
      linalg.yield %s : i32
    }
  return %y : tensor<4xi32>
}
"""
_REASON = "starts from the elements of tensor.empty, which are not defined"


def _model(folder: Path, start: str) -> Path:
    path = folder / "sum.mlir"
    path.write_text(_SUM.replace("START", start))
    return path


def test_a_reduction_that_starts_from_nothing_is_named_with_its_line(tmp_path: Path) -> None:
    (problem,) = undefined_starts(load(_model(tmp_path, "e")))
    assert str(problem).startswith(f"linalg.generic at line 5, column 8: {_REASON}")


def test_a_reduction_that_starts_from_what_is_filled_is_not_named(tmp_path: Path) -> None:
    assert undefined_starts(load(_model(tmp_path, "f"))) == []


def test_python_warns_and_the_command_line_notes_what_is_undefined(
    assay: Assay, tmp_path: Path
) -> None:
    path = _model(tmp_path, "e")
    with pytest.warns(UserWarning, match=_REASON):
        compile_executable(path)
    compiled = assay("compile", path, "--device", "torq", "--json")
    assert compiled.code == 0 and _REASON in compiled.err
    assert _REASON in json.loads(compiled.out)["undefined"][0]
    ran = assay("run", path, "--device", "torq", "--input", "4x6xi32=1")
    assert ran.code == 0 and _REASON in " ".join(ran.err.split())
