"""An assumption is offered only where it would make a proof, and where some launch fulfils it;
it is as weak as it can be.
"""

from __future__ import annotations

import pytest

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


def _offered(
    source: str,
    *assume: str,
    about: str = "buffer races",
    size: int | str = 64,
    **buffers: str,
) -> str:
    options = ProofOptions(cache=False, assume=assume, buffers=buffers)
    (proof,) = prove_source(_HEAD.format(size=size) + source, "k.metal", options, workers=1)
    return next(each.holds_if for each in proof.answers if each.about == about)


def test_nothing_is_offered_where_the_barriers_are_not_proved() -> None:
    assert _offered(PLAIN) == "grid.x <= n"
    assert _offered(IN_A_BRANCH) == ""


def test_nothing_is_offered_where_part_of_a_simdgroup_does_what_all_of_it_has_to() -> None:
    assert _offered(MATRIX, size=32) == "grid.x <= n"
    assert _offered(MATRIX, size=20) == ""


def test_nothing_is_offered_that_no_launch_fulfils() -> None:
    assert _offered(SCATTER, "slots[*] < 8", "n >= 5", slots="4 * n") == "distinct(slots)"
    assert _offered(SCATTER, "slots[*] < 2", "n >= 5", slots="4 * n") == ""


FOURS = """\
kernel void k(device const float4* in, device float4* out, constant uint& n,
              uint i [[thread_position_in_grid]]) {
    out[i] = in[i] * 2;
}
"""
ROWS = """\
kernel void k(device float* out, constant uint& m, constant uint& n,
              uint row [[threadgroup_position_in_grid]],
              uint t [[thread_position_in_threadgroup]]) {
    for (uint i = t; i < n; i += 64) out[row * n + i] = 1;
}
"""
FLAT = """\
kernel void k(device float* out, constant uint& m, constant uint& n,
              uint i [[thread_position_in_grid]]) {
    out[i] = m + n;
}
"""
STEPS = """\
kernel void k(device const float* in, device float* out, constant uint& n,
              uint t [[thread_position_in_threadgroup]]) {
    float sum = 0;
    for (uint i = 0; i < n; i += 96) sum += in[i + t];
    if (t == 0) out[0] = sum;
}
"""
MEMBERS = """\
struct Args { uint n; uint stride; };
kernel void k(device const float* in, constant Args& args,
              device float* out, uint i [[thread_position_in_grid]]) {
    out[i * args.stride] = in[i];
}
"""
PITCH = """\
kernel void k(device float* out, constant uint& n, constant uint& pitch,
              uint row [[threadgroup_position_in_grid]],
              uint t [[thread_position_in_threadgroup]]) {
    for (uint i = t; i < n; i += 64) out[row * pitch + i] = row;
}
"""
PRODUCT = """\
kernel void k(device const float* a, device const float* b, device float* c, constant uint& m,
              constant uint& n, constant uint& k, uint2 i [[thread_position_in_grid]],
              uint2 t [[thread_position_in_threadgroup]]) {
    threadgroup float left[8][8], right[8][8];
    float sum = 0;
    for (uint at = 0; at < k; at += 8) {
        left[t.y][t.x] = a[i.y * k + at + t.x];
        right[t.y][t.x] = b[(at + t.y) * n + i.x];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint j = 0; j < 8; j++) sum += left[t.y][j] * right[j][t.x];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    c[i.y * n + i.x] = sum;
}
"""
TAIL = """\
kernel void k(device const float* in, device float* out, constant uint& n,
              uint t [[thread_position_in_threadgroup]]) {
    threadgroup float s[64];
    float sum = 0;
    for (uint i = t; i < n; i += 64) {
        s[t] = in[i];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        sum += s[t ^ 1];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    out[t] = sum;
}
"""
PART = """\
kernel void k(device float* out, constant uint& n,
              uint t [[thread_position_in_threadgroup]]) {
    threadgroup float s[64];
    if (t < n) s[t] = t;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[t] = s[t ^ 1];
}
"""
BEYOND = """\
kernel void k(device float* out, constant uint& n,
              uint t [[thread_position_in_threadgroup]]) {
    threadgroup float s[256];
    s[t + n] = 1;
    out[t] = s[t + n];
}
"""
MISSING = """\
kernel void k(device float* out, constant uint& n,
              uint t [[thread_position_in_threadgroup]]) {
    threadgroup float s[64];
    s[t] = n;
    out[t] = s[t ^ 32];
}
"""


def test_it_is_told_how_many_elements_a_thread_works_on() -> None:
    assert _offered(FOURS, about="bounds", out="4 * n") == "4 * grid.x <= n"


def test_rows_of_threadgroups_are_counted_in_threadgroups() -> None:
    assert _offered(ROWS, about="bounds", out="4 * m * n") == "groups.x <= m"


def test_grids_are_held_against_the_products_that_lengths_are_stated_by() -> None:
    assert _offered(FLAT, about="bounds", out="4 * m * n") == "grid.x <= m * n"


def test_steps_of_loops_need_not_be_powers_of_two() -> None:
    assert _offered(STEPS, about="bounds", size=96, **{"in": "4 * n"}) == "n % 96 == 0"


def test_members_of_structs_are_named() -> None:
    assert _offered(MEMBERS) == "args.stride >= 1"
    lengths = {"in": "4 * args.n", "out": "4 * args.n * args.stride"}
    assert _offered(MEMBERS, about="bounds", **lengths) == "grid.x <= args.n"


def test_rows_are_as_long_as_what_is_written_in_them() -> None:
    assert _offered(PITCH) == "n <= pitch"


@pytest.mark.slow
def test_all_that_is_needed_together_is_told() -> None:
    buffers = {"a": "4 * m * k", "b": "4 * k * n", "c": "4 * m * n"}
    found = _offered(PRODUCT, about="bounds", size="[8, 8, 1]", **buffers)
    assert found == "grid.x <= n and grid.y <= m and k % 8 == 0"


@pytest.mark.parametrize("about", ["barriers", pytest.param("initialised", marks=pytest.mark.slow)])
def test_barriers_in_loops_of_threads_need_whole_rounds(about: str) -> None:
    assert _offered(TAIL, about=about) == "n % 64 == 0"


def test_numbers_are_as_large_or_small_as_they_have_to_be() -> None:
    assert _offered(PART, about="initialised") == "n >= 64"
    assert _offered(BEYOND, about="bounds") == "n <= 192"


@pytest.mark.parametrize("about", ["threadgroup races", "initialised"])
def test_nothing_is_offered_where_a_barrier_is_missing(about: str) -> None:
    assert _offered(MISSING, about=about) == ""


PLACES = """\
kernel void k(device const float* x, device float* y, constant uint& w, constant uint& h,
              constant uint& d, uint3 p [[thread_position_in_grid]]) {
    uint i = (p.z * h + p.y) * w + p.x;
    y[i] = x[i];
}
"""
WORDS = """\
struct G {{ uint x; uint y; }};
kernel void k(device const uint* in, device uint* out, constant uint& lambda, constant uint& n,
              constant G& {grid}, uint i [[thread_position_in_grid]]) {{
    out[i % n] = in[i] + lambda + {grid}.x;
}}
"""
SIGNED = """\
kernel void k(device float* y, constant int& n, uint t [[thread_position_in_threadgroup]]) {
    threadgroup float s[64];
    s[int(t) % 4 + min(n, 60)] = 1;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    y[t] = 1;
}
"""
PAIRS = """\
kernel void k(device const float4* x, device float4* y, constant uint& w, constant uint& h,
              constant uint& c, uint3 p [[thread_position_in_grid]]) {
    float4 most = max(x[(2 * p.y * w + 2 * p.x) * (c / 4) + p.z],
                      x[((2 * p.y + 1) * w + 2 * p.x + 1) * (c / 4) + p.z]);
    y[(p.y * (w / 2) + p.x) * (c / 4) + p.z] = most;
}
"""
HISTOGRAM = """\
kernel void k(device const uint* x, device uint* y, constant uint& n, constant uint& bins,
              uint i [[thread_position_in_grid]], uint t [[thread_position_in_threadgroup]]) {
    threadgroup atomic_uint s[256];
    atomic_store_explicit(&s[t], 0, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    atomic_fetch_add_explicit(&s[x[i] % bins], 1, memory_order_relaxed);
}
"""
MANY = """\
kernel void k(device float* y, constant uint& n, uint t [[thread_position_in_threadgroup]]) {
    threadgroup float s[6000];
    for (uint i = t; i < n; i += 64) s[i] = 1;
}
"""
LANES = """\
kernel void k(device uint* x, constant uint& n, uint i [[thread_position_in_grid]]) {
    x[i % n] = i;
}
"""


@pytest.mark.slow
def test_each_dimension_is_held_against_what_it_counts() -> None:
    lengths = {"x": "4 * w * h * d", "y": "4 * w * h * d"}
    found = _offered(PLACES, about="bounds", size="[8, 8, 1]", **lengths)
    assert found == "grid.x <= w and grid.y <= h and grid.z <= d"


@pytest.mark.slow
def test_limits_may_be_for_unlike_numbers_of_elements() -> None:
    found = _offered(PAIRS, about="buffer races", size="[8, 8, 1]")
    assert found == "2 * grid.x <= w and 4 * grid.z <= c"


def test_names_that_no_assumption_can_say_are_left_out() -> None:
    assert _offered(WORDS.format(grid="all")) == "grid.x <= n"
    assert _offered(WORDS.format(grid="grid")) == ""


def test_nothing_is_a_multiple_by_being_nothing() -> None:
    assert _offered(LANES, "n <= 32") == ""


def test_numbers_with_a_sign_may_be_nothing() -> None:
    assert _offered(SIGNED, about="bounds") == "n >= 0"


def test_large_and_small_numbers_may_be_needed_together() -> None:
    found = _offered(HISTOGRAM, about="bounds", size=256, x="4 * n")
    assert found == "grid.x <= n and bins >= 1 and bins <= 256"


def test_arrays_may_have_any_size() -> None:
    assert _offered(MANY, about="bounds") == "n <= 6000"


def test_without_lock_step_more_is_needed() -> None:
    options = ProofOptions(cache=False, lanes=True)
    (proof,) = prove_source(_HEAD.format(size=32) + LANES, "k.metal", options, workers=1)
    assert next(x.holds_if for x in proof.answers if x.about == "buffer races") == "grid.x <= n"
