"""An assumption is offered only where it would make a proof, and where some launch fulfils it."""

from __future__ import annotations

from assay.proofs import ProofOptions, prove_source

_HEAD = """\
#include <metal_stdlib>
using namespace metal;
//! [kernel.k]
//! threadgroup = {size}
"""
PLAIN = """\
kernel void k(device uint* x, constant uint& n, uint i [[thread_position_in_grid]]) {
    x[i % n] = i;
}
"""
IN_A_BRANCH = """\
kernel void k(device uint* x, constant uint& n, uint t [[thread_index_in_threadgroup]],
              uint i [[thread_position_in_grid]]) {
    if (t < 3) threadgroup_barrier(mem_flags::mem_threadgroup);
    x[i % n] = i;
}
"""
MATRIX = """\
kernel void k(device uint* x, device float* z, constant uint& n,
              uint i [[thread_position_in_grid]]) {
    threadgroup float s[64];
    simdgroup_float8x8 m;
    simdgroup_load(m, z, 8);
    simdgroup_store(m, s, 8);
    x[i % n] = i;
}
"""
SCATTER = """\
kernel void k(device uint* x, device const uint* slots, constant uint& n,
              uint i [[thread_position_in_grid]]) {
    if (i < n) x[slots[i]] = i;
}
"""


def _offered(source: str, *assume: str, size: int = 64, **buffers: str) -> str:
    options = ProofOptions(cache=False, assume=assume, buffers=buffers)
    (proof,) = prove_source(_HEAD.format(size=size) + source, "k.metal", options, workers=1)
    return next(each.holds_if for each in proof.answers if each.about == "buffer races")


def test_nothing_is_offered_where_the_barriers_are_not_proved() -> None:
    assert _offered(PLAIN) == "grid.x <= n"
    assert _offered(IN_A_BRANCH) == ""


def test_nothing_is_offered_where_part_of_a_simdgroup_does_what_all_of_it_has_to() -> None:
    assert _offered(MATRIX, size=32) == "grid.x <= n"
    assert _offered(MATRIX, size=20) == ""


def test_nothing_is_offered_that_no_launch_fulfils() -> None:
    assert _offered(SCATTER, "slots[*] < 8", "n >= 5", slots="4 * n") == "distinct(slots)"
    assert _offered(SCATTER, "slots[*] < 2", "n >= 5", slots="4 * n") == ""
