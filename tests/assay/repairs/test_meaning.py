"""No repair is offered that changes more of what a kernel does than it says."""

from __future__ import annotations

import pytest

from assay.proofs import ProofOptions, prove_source
from assay.repairs import repaired

ARGUMENTS = """\
device uint* y, device uint* z, device atomic_uint* c, constant uint& n,
              uint t [[thread_index_in_threadgroup]], uint i [[thread_position_in_grid]],
              uint g [[threadgroup_position_in_grid]]"""
ADD = "atomic_fetch_add_explicit({}, 1u, memory_order_relaxed)"
BARRIER = "threadgroup_barrier(mem_flags::mem_threadgroup);"
SHIFTED = f"""\
threadgroup uint s[50];
    if (t < 50) s[t] = 1;
    {BARRIER}
    if (t == 0) for (uint j = 0; j <= 50; ++j) s[j] <<= 1;
    {BARRIER}
    if (t < 50) y[i] = s[t];"""
TWO_STORES = """\
threadgroup uint s[50];
    if (t == 0) for (uint j = 0; j <= 50; ++j) { uint v = s[j] = j; y[g] = v; }"""
ORDERED = f"""\
threadgroup atomic_uint f;
    if (t == 0) atomic_store_explicit(&f, 0u, memory_order_relaxed);
    {BARRIER}
    {ADD.format("&f")};
    if (t < 40) {{
        {BARRIER}
        y[i] = atomic_load_explicit(&f, memory_order_relaxed);
    }}"""
TEMPLATE = """\
#include <metal_stdlib>
using namespace metal;
template <uint M> kernel void k(device uint* y, uint t [[thread_index_in_threadgroup]],
                                uint g [[threadgroup_position_in_grid]]) {
    y[g * M + t % M] = t;
}
template [[host_name("one")]] kernel void k<1>(device uint*, uint, uint);
template [[host_name("all")]] kernel void k<64>(device uint*, uint, uint);
"""


def kernel(body: str, arguments: str = ARGUMENTS) -> str:
    head = "#include <metal_stdlib>\nusing namespace metal;\n"
    return f"{head}kernel void k({arguments}) {{\n    {body}\n}}\n"


def offered(source: str, length: str = "") -> tuple[str, ...]:
    """The steps that are offered for the first kernel of a source, which is refuted."""
    name, _, bytes = length.partition("=")
    buffers = {name: bytes} if length else {}
    options = ProofOptions(threadgroup=(64, 1, 1), buffers=buffers, cache=False)
    proofs = list(prove_source(source, "k.metal", options, workers=1))
    assert proofs[0].is_refuted
    found = repaired(source, "k.metal", options, [proofs[0]])
    return () if found is None else found.what


@pytest.mark.parametrize(
    ("body", "length"),
    [
        ("y[g] = simd_sum(t);", ""),
        ("y[i] = simd_sum(t);", "y=4*n"),
        (f"y[i] = {ADD.format('c')};", "y=4*n"),
        (f"threadgroup uint s[64]; s[0] = {ADD.format('c')}; y[i] = t;", ""),
        ("threadgroup uint s[64]; uint m = t; s[0] = m += 5; z[i] = m;", ""),
        ("t = t + 64; threadgroup uint s[256]; s[t] = i; y[g] = s[t];", ""),
    ],
)
def test_a_store_is_not_skipped_with_what_else_a_statement_does(body: str, length: str) -> None:
    assert offered(kernel(body), length) == ()


@pytest.mark.parametrize(
    ("body", "length"),
    [
        (f"{ADD.format('&c[i]')};", "c=4*n"),
        (SHIFTED, ""),
        (TWO_STORES, ""),
    ],
)
def test_a_store_does_not_get_to_the_last_element(body: str, length: str) -> None:
    assert not any("clamp" in each for each in offered(kernel(body), length))


def test_a_barrier_that_orders_atomics_is_not_moved() -> None:
    assert offered(kernel(ORDERED)) == ()


def test_elements_of_two_bytes_are_not_taken_for_four() -> None:
    arguments = "device ushort* y, constant uint& n, uint i [[thread_position_in_grid]]"
    assert offered(kernel("y[i] = n;", arguments), "y=4*n") == ()


def test_what_would_harm_another_instance_of_a_template_is_not_offered() -> None:
    assert offered(TEMPLATE) == ()
