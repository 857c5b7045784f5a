"""The grid that is chosen for a kernel when none is given."""

import numpy as np
import pytest

from assay.compiler.msl import compile_library
from assay.launches.grid import choose_grid
from assay.launches.inputs import Exact, Filled, Given, Setup
from tests.support.msl import PRELUDE


def test_a_kernel_whose_lanes_only_multiply_matrices_runs_on_a_whole_simdgroup() -> None:
    source = f"""{PRELUDE}kernel void k(device float* a) {{
        simdgroup_float8x8 m, n;
        simdgroup_load(m, a, 8);
        simdgroup_multiply(n, m, m);
        simdgroup_store(n, a, 8); }}"""
    assert choose_grid(compile_library(source).function("k"), Setup()).threadgroup == (32, 1, 1)


def test_a_threadgroup_has_the_simdgroups_that_its_tensor_operation_is_of() -> None:
    source = """#include <metal_stdlib>
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal; using namespace mpp::tensor_ops;
kernel void k(device float* a, device float* b, device float* c) {
  auto A = tensor(a, extents<int, 32, 32>()); auto B = tensor(b, extents<int, 32, 32>());
  auto C = tensor(c, dextents<int, 2>(32, 32));
  matmul2d<matmul2d_descriptor(32, 32, 32), execution_simdgroups<4>> op;
  op.run(A, B, C);
}"""
    assert choose_grid(compile_library(source).function("k"), Setup()).threadgroup == (128, 1, 1)


HALVE = f"""{PRELUDE}kernel void k(device const float2* x, device float2* y, constant float& by,
                                  uint i [[thread_position_in_grid]]) {{ y[i] = by * x[i]; }}"""
SHARED = f"""{PRELUDE}kernel void k(device float2* x, device float2* y,
                                   uint i [[thread_position_in_grid]],
                                   uint lane [[thread_index_in_threadgroup]]) {{
    threadgroup float2 part[1024];
    part[lane] = x[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    y[i] = part[lane ^ 1]; }}"""
PLANE = f"""{PRELUDE}kernel void k(device float* x, device float* y,
                                  uint2 i [[thread_position_in_grid]],
                                  uint2 n [[threads_per_grid]]) {{
    y[i.y * n.x + i.x] = x[i.y * n.x + i.x]; }}"""
ALL = Filled(shape=(100,))


def chosen(source: str, x: Given, y: Given | None = None) -> str:
    given = {"x": x} if y is None else {"x": x, "y": y}
    return str(choose_grid(compile_library(source).function("k"), Setup(arguments=given)))


@pytest.mark.parametrize(
    ("source", "x", "y", "grid"),
    [
        (HALVE, ALL, ALL, "100 threads in threadgroups of 100"),
        (HALVE, Filled(shape=(100,), dtype="float32"), Filled(shape=(4,)), "50 threads"),
        (HALVE, Exact(array=np.zeros(600, np.float32)), ALL, "300 threads in threadgroups of 256"),
        (HALVE, ALL, None, "639 threads in threadgroups of 256"),
        (HALVE, Filled(shape=(1,)), Filled(shape=(1,)), "639 threads in threadgroups of 256"),
        (HALVE, Filled(shape=(1000, 1000)), ALL, "639 threads in threadgroups of 256"),
        (SHARED, ALL, ALL, "1 threadgroup of 64"),
        (SHARED, Filled(shape=(600,)), ALL, "2 threadgroups of 256"),
        (PLANE, Filled(shape=(5, 9)), Filled(shape=(5, 9)), "9x5 threads in threadgroups of 9x5"),
        (PLANE, ALL, ALL, "39x23 threads in threadgroups of 16x16"),
    ],
)
def test_an_assumed_grid_has_no_more_threads_than_the_largest_array_has_elements(
    source: str, x: Given, y: Given | None, grid: str
) -> None:
    assert chosen(source, x, y).startswith(grid)
