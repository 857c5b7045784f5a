"""Function constants are among what proofs assume: given, assumed, or without a value."""

from __future__ import annotations

import assay

HEAD = """\
#include <metal_stdlib>
using namespace metal;
constant uint w [[function_constant(0)]];
constant uint v [[function_constant(1)]];
"""


def _assumed(source: str) -> list[str]:
    """What is assumed first, before what is said of threadgroups."""
    proofs = assay.prove(HEAD + source)
    assert proofs.is_proved, proofs
    (kernel,) = proofs.to_json()["kernels"]
    found: list[str] = kernel["assumptions"]
    assert all(f"  assumed:   {each}" in str(proofs) for each in found)
    first = next(at for at, each in enumerate(found) if each.startswith("threadgroups of"))
    return found[:first]


def test_that_constants_have_no_value_is_told() -> None:
    source = """\
constant uint width = is_function_constant_defined(w) ? w : 1;
kernel void k(device float* y, uint i [[thread_position_in_grid]]) { y[i * width] = i; }
"""
    assert _assumed(source) == ["w, v are not given"]


def test_a_length_is_stated_of_a_kernel_whose_constants_have_no_value() -> None:
    source = """\
constant uint width = is_function_constant_defined(w) ? w : 1;
//! [kernel.k]
//! threadgroup = 64
kernel void k(device const float* x, device float* y, uint i [[thread_position_in_grid]]) {
    y[i * width + v] = x[i];
}
"""
    assert assay.prove(HEAD + source, buffers={"x": "4 * grid.x"}).is_proved


def test_given_constants_are_told_beside_those_without_a_value() -> None:
    source = """\
//! [kernel.k]
//! constants.w = 1
kernel void k(device float* y, uint i [[thread_position_in_grid]]) { y[i * w] = i; }
"""
    assert _assumed(source) == ["w = 1", "v is not given"]


def test_constants_given_by_index_are_told_by_name() -> None:
    source = """\
//! [kernel.k]
//! constants.0 = 1
//! constants.1 = 7
kernel void k(device float* y, uint i [[thread_position_in_grid]]) { y[i * w] = v; }
"""
    assert _assumed(source) == ["w = 1", "v = 7"]


def test_constants_that_got_values_with_those_that_are_needed_are_told() -> None:
    source = """\
constant uint width = is_function_constant_defined(w) ? w : 1;
kernel void k(device float* y, uint i [[thread_position_in_grid]]) { y[i * width] = v; }
"""
    assert _assumed(source) == ["v = 1", "w = 1"]


def test_nothing_is_told_of_constants_where_there_are_none() -> None:
    plain = "kernel void k(device float* y, uint i [[thread_position_in_grid]]) { y[i] = i; }"
    proofs = assay.prove(f"#include <metal_stdlib>\nusing namespace metal;\n{plain}\n")
    assert not any("given" in each or " = " in each for each in proofs.kernels[0].assumptions)
