"""The grid that is chosen for a kernel when none is given."""

from assay.compiler.msl import compile_library
from assay.launches.grid import choose_grid
from assay.launches.inputs import Setup
from tests.support.msl import PRELUDE


def test_a_kernel_whose_lanes_only_multiply_matrices_runs_on_a_whole_simdgroup() -> None:
    source = f"""{PRELUDE}kernel void k(device float* a) {{
        simdgroup_float8x8 m, n;
        simdgroup_load(m, a, 8);
        simdgroup_multiply(n, m, m);
        simdgroup_store(n, a, 8); }}"""
    assert choose_grid(compile_library(source).function("k"), Setup()).threadgroup == (32, 1, 1)
