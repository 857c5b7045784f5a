"""Kernels that take tensors are checked with arrays that are given or assumed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from assay.checks import Report, SourceOptions, check_source
from assay.compiler.msl import compile_library
from assay.launches.errors import LaunchInputError
from assay.launches.inputs import Exact, Filled, Raw, Setup
from assay.launches.plan import make_plan
from assay.launches.runner import Runner

SOURCE = """#include <metal_stdlib>
#include <metal_tensor>
using namespace metal;
kernel void rows(tensor<device half, dextents<int, 2>> x, device float* sums,
                 uint i [[thread_position_in_grid]]) {
  float sum = 0;
  for (int c = 0; c < x.get_extent(0); ++c) sum += x[c, i];
  if (int(i) < x.get_extent(1)) sums[i] = sum;
}
"""


def test_the_last_dimension_of_an_array_is_a_tensors_innermost() -> None:
    library = compile_library(SOURCE, file_name="k.metal")
    x = np.arange(12, dtype=np.float16).reshape(3, 4)
    setup = Setup(
        threads=(3, 1, 1), arguments={"x": Exact(array=x), "sums": Filled(shape=(3,), fill=0)}
    )
    plan = make_plan(library.function("rows"), setup)
    outcome = Runner(library).run(plan)
    assert outcome.error is None
    np.testing.assert_array_equal(outcome.buffers["sums"].view(np.float32), x.sum(axis=1))


def test_a_tensor_that_nobody_gives_is_assumed() -> None:
    library = compile_library(SOURCE, file_name="k.metal")
    plan = make_plan(library.function("rows"), Setup())
    assert "x: a tensor of 64 x 64 elements, random" in plan.assumptions
    assert not plan.can_grow("x")


@pytest.mark.parametrize("given", [Filled(shape=(12,)), Raw(bytes=24), Filled(shape=(3, 4, 1))])
def test_an_array_of_other_dimensions_is_refused(given: Filled | Raw) -> None:
    kernel = compile_library(SOURCE, file_name="k.metal").function("rows")
    with pytest.raises(LaunchInputError, match="a tensor of 2 dimensions: give an array"):
        make_plan(kernel, Setup(arguments={"x": given}))


def test_checks_find_an_index_beyond_a_tensor(tmp_path: Path) -> None:
    checked = Report(frozenset({"bounds"}))
    said = "//! [kernel.rows]\n//! threads = 4\n//! arguments.x = { shape = [3, 4] }\n"
    source = SOURCE.replace("kernel void", f"{said}kernel void")
    check_source(source, str(tmp_path / "k.metal"), checked, SourceOptions())
    assert not checked.problems
    assert "outside-tensor" in {finding.kind for finding in checked.findings}
