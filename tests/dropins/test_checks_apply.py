"""Kernels that come through the drop-ins are checked like all others, at the author's lines."""

from __future__ import annotations

import numpy as np
import pytest

import assay
from assay.launch import LaunchError
from assay.mlx import metal_kernel

SUM = """
    threadgroup float shared[64];
    const uint i = thread_position_in_threadgroup.x;
    shared[i] = inp[i];
    {barrier}
    if (i == 0) {{
        float total = 0;
        for (int k = 0; k < 64; ++k) total += shared[k];
        out[0] = total;
    }}
"""


def summed(barrier: str) -> tuple[float, list[str]]:
    """Sums 64 ones in a threadgroup; also the kinds and lines of what the checks find."""
    kernel = metal_kernel(
        name="total",
        input_names=["inp"],
        output_names=["out"],
        source=SUM.format(barrier=barrier),
    )
    with assay.checking("race") as report:
        (out,) = kernel(
            inputs=[np.ones(64, np.float32)],
            grid=(64, 1, 1),
            threadgroup=(64, 1, 1),
            output_shapes=[(1,)],
            output_dtypes=[np.float32],
        )
    return out.item(), [
        " ".join([finding.kind, *sorted(str(party.site) for party in finding.parties)])
        for finding in report.findings
    ]


def test_a_missing_barrier_is_found_in_the_body_of_an_mlx_kernel() -> None:
    _, found = summed("")
    assert found == ["race-read-write total.source:4:15 total.source:8:47"]


def test_a_barrier_where_it_belongs_is_enough() -> None:
    assert summed("threadgroup_barrier(mem_flags::mem_threadgroup);") == (64.0, [])


def test_threads_that_add_to_one_element_are_found_in_a_shader_of_pytorch() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    from assay.torch import compile_shader

    library = compile_shader("""
        kernel void bump(device int* x, uint i [[thread_position_in_grid]]) {
            x[i / 64] += 1;
        }""")
    with assay.checking("race") as report:
        library.bump(torch.zeros(2, dtype=torch.int32), threads=128, group_size=64)
    kinds = {finding.kind for finding in report.findings}
    lines = {party.site.line for finding in report.findings for party in finding.parties}
    assert kinds == {"race-read-write", "race-write-write"} and lines == {3}


@pytest.mark.parametrize(("init_value", "kinds"), [(None, {"uninitialised-read"}), (0, set())])
def test_outputs_have_no_value_until_the_kernel_or_init_value_sets_one(
    init_value: float | None, kinds: set[str]
) -> None:
    kernel = metal_kernel(
        name="add",
        input_names=["inp"],
        output_names=["out"],
        source="out[thread_position_in_grid.x] += inp[thread_position_in_grid.x];",
    )
    with assay.checking("init") as report:
        kernel(
            inputs=[np.ones(64, np.float32)],
            grid=(64, 1, 1),
            threadgroup=(64, 1, 1),
            output_shapes=[(64,)],
            output_dtypes=[np.float32],
            init_value=init_value,
        )
    assert {finding.kind for finding in report.findings} == kinds


def test_a_fault_is_a_finding_and_an_error() -> None:
    kernel = metal_kernel(
        name="far",
        input_names=["inp"],
        output_names=["out"],
        source="out[0] = inp[thread_position_in_grid.x + 8];",
    )
    with assay.checking("bounds") as report, pytest.raises(LaunchError):
        kernel(
            inputs=[np.ones(8, np.float32)],
            grid=(1, 1, 1),
            threadgroup=(1, 1, 1),
            output_shapes=[(1,)],
            output_dtypes=[np.float32],
        )
    assert [finding.kind for finding in report.findings] == ["out-of-bounds-read"]
