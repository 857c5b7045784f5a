"""The helpers of generated code: which are made, and that kernels find all that they call."""

import numpy as np

from assay.sim.simt.emit.helpers import atomic_module, helper_module, helper_names
from assay.sim.simt.run import kernel_code
from tests.support.msl import run_kernel


def test_a_kernel_loads_the_atomic_operations_that_it_calls() -> None:
    before = set(kernel_code._loaded)
    out = np.zeros(4, np.int32)
    run_kernel(
        "kernel void k(device int* out, uint i [[thread_position_in_grid]]) { out[i] = 7; }",
        out,
        threads=4,
    )
    assert out.tolist() == [7] * 4
    assert set(kernel_code._loaded) == before | {""}
    run_kernel(
        "kernel void k(device atomic_int* out) "
        "{ atomic_fetch_add_explicit(out, 2, memory_order_relaxed); }",
        out,
        threads=4,
    )
    assert out.tolist() == [15, 7, 7, 7]
    assert set(kernel_code._loaded) == before | {"", "assay_atomic_add_i32"}


def test_each_helper_is_in_one_module() -> None:
    for name in helper_names():
        assert f"@{name}(" in helper_module()
        assert atomic_module(name) is None
    assert "@assay_atomic" not in helper_module()
    assert "define i1 @assay_atomic_max_u64(" in (atomic_module("assay_atomic_max_u64") or "")
