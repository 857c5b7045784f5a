"""What the prover does not follow makes an answer undecided, never proved."""

from __future__ import annotations

import pytest

from .sources import proved

_HEAD = "#include <metal_stdlib>\nusing namespace metal;\n//! [kernel.k]\n//! threadgroup = 64\n"
POINTER = """\
struct Place { threadgroup uint* at; };
kernel void k(device ulong* to, uint t [[thread_index_in_threadgroup]]) {
    threadgroup uint s[64];
    threadgroup uint* p = (threadgroup uint*)(to[t]);
    s[t] = t;
    *p = t;
}
"""
WRITTEN = """\
kernel void k(texture2d<uint, access::write> image [[texture(0)]],
              uint t [[thread_index_in_threadgroup]]) { image.write(uint4(t), uint2(0)); }
"""
SHIFTED = """\
kernel void k(device uint* y, constant uint& n, uint t [[thread_index_in_threadgroup]]) {
    threadgroup uint s[64];
    s[(t * n) & 63] = t;
    y[t] = 0;
}
"""
TWO_ROUNDS = """\
kernel void k(device const float* x, device float* y, uint t [[thread_index_in_threadgroup]],
              uint lane [[thread_index_in_simdgroup]],
              uint simdgroup [[simdgroup_index_in_threadgroup]]) {
    threadgroup float part[2];
    float sum = simd_sum(x[t]);
    if (lane == 0) part[simdgroup] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float mean = (part[0] + part[1]) / 64;
    float square = simd_sum((x[t] - mean) * (x[t] - mean));
    if (lane == 0) part[simdgroup] = square;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    y[t] = (x[t] - mean) * rsqrt(part[0] + part[1]);
}
"""
ALONE = """\
kernel void k(device uint* y, constant uint& n) {
    threadgroup uint s[4];
    for (uint i = 0; i < n; ++i) s[i] = i;
    y[0] = s[n & 3];
}
"""


def test_the_only_thread_of_a_threadgroup_may_leave_an_array() -> None:
    assert proved(_HEAD.replace("= 64", "= 1") + ALONE, "bounds")["bounds"].verdict == "refuted"


BUTTERFLY = """\
kernel void k(device uint* y, uint t [[thread_index_in_threadgroup]],
              uint lane [[thread_index_in_simdgroup]]) {
    threadgroup uint s[64];
    threadgroup uint* mine = s + (t - lane);
    uint sum = y[t];
    for (uint step = 16; step > 0; step /= 2) {
        mine[lane] = sum;
        simdgroup_barrier(mem_flags::mem_threadgroup);
        sum += mine[lane ^ step];
        simdgroup_barrier(mem_flags::mem_threadgroup);
    }
    y[t] = sum;
}
"""


@pytest.mark.parametrize("about", ["threadgroup races", "initialised", "bounds"])
def test_lanes_that_meet_in_pairs_are_proved(about: str) -> None:
    assert proved(_HEAD + BUTTERFLY, about)[about].verdict == "proved"


def test_lanes_that_meet_outside_of_their_simdgroup_are_not() -> None:
    wider = BUTTERFLY.replace("step = 16", "step = 32")
    assert proved(_HEAD + wider)["threadgroup races"].verdict == "refuted"


@pytest.mark.parametrize("source", [SHIFTED, TWO_ROUNDS])
def test_a_race_is_refuted(source: str) -> None:
    assert proved(_HEAD + source)["threadgroup races"].verdict == "refuted"


OF_ODD_SIMDGROUPS = """\
kernel void k(device uint* y, uint lane [[thread_index_in_simdgroup]],
              uint group [[threadgroup_position_in_grid]],
              uint simdgroup [[simdgroup_index_in_threadgroup]]) {
    uint own = simdgroup == 0 ? 400 : simdgroup == 2 ? 464 : 0;
    y[512 * group + simdgroup % 2 * 200 + own + lane] = simdgroup;
}
"""


def test_what_is_left_of_a_division_is_not_taken_for_the_whole() -> None:
    answers = proved(_HEAD.replace("= 64", "= 128") + OF_ODD_SIMDGROUPS, "buffer races")
    assert answers["buffer races"].verdict == "refuted"


ONCE = """\
kernel void k(device uint* y, uint t [[thread_index_in_threadgroup]]) {
    for (uint i = t; i < LIMIT; i += 64) y[i] = t;
}
"""


@pytest.mark.parametrize("limit", ["40", "64", "65"])
def test_a_loop_that_most_threads_go_through_once_is_followed(limit: str) -> None:
    answers = proved(_HEAD + ONCE.replace("LIMIT", limit), "buffer races")
    assert answers["buffer races"].verdict == "proved"


def test_a_loop_that_some_threads_go_through_twice_is_followed() -> None:
    twice = ONCE.replace("LIMIT", "96").replace("y[i] =", "y[i % 64] =")
    assert proved(_HEAD + twice, "buffer races")["buffer races"].verdict == "proved"
    apart = twice.replace("i % 64", "i % 48")
    assert proved(_HEAD + apart, "buffer races")["buffer races"].verdict == "refuted"


def test_textures_that_are_written_leave_races_undecided() -> None:
    answer = proved(_HEAD + WRITTEN, "buffer races")["buffer races"]
    assert answer.verdict == "undecided"


def test_pointers_from_memory_leave_races_undecided() -> None:
    assert proved(_HEAD + POINTER)["threadgroup races"].verdict == "undecided"


PUT_BACK = """\
kernel void k(device const uint* x, device uint* y, uint t [[thread_index_in_threadgroup]],
              uint lane [[thread_index_in_simdgroup]]) {
    threadgroup uint s[32];
    if (t < 32) s[t] = x[t];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    s[lane] = s[lane];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    y[t] = s[lane];
}
"""
OVERWRITTEN = """\
kernel void k(device uint* y, uint t [[thread_index_in_threadgroup]]) {
    threadgroup uint s[1];
    s[0] = t;
    s[0] = 7;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    y[t] = s[0];
}
"""


@pytest.mark.parametrize("source", [PUT_BACK, OVERWRITTEN])
def test_stores_that_an_optimiser_leaves_out_race(source: str) -> None:
    assert proved(_HEAD + source)["threadgroup races"].verdict != "proved"


def test_two_reduction_rounds_with_a_barrier_between_are_proved() -> None:
    barrier = "threadgroup_barrier(mem_flags::mem_threadgroup);\n    float square"
    source = TWO_ROUNDS.replace("float square", barrier)
    assert proved(_HEAD + source)["threadgroup races"].verdict == "proved"


_DOWN = """\
#include <metal_stdlib>
using namespace metal;
//! [kernel.k]
//! threadgroup = 64
kernel void k(device float* x, constant uint& n, uint t [[thread_index_in_threadgroup]]) {
    threadgroup float s[16];
    if (t < 16) s[t] = x[t];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint at = FIRST;
    while (at != LAST && x[at] + s[at] < 9) at -= STEP;
    x[t] = s[at];
}
"""


def _down(first: str, last: str, step: str) -> str:
    source = _DOWN.replace("FIRST", first).replace("LAST", last).replace("STEP", step)
    return proved(source, "bounds")["bounds"].verdict


def test_what_counts_down_to_a_number_stays_above_it() -> None:
    assert _down("15", "0", "1") == "proved"
    assert _down("n < 16 ? n : 15", "0", "1") == "proved"
    assert _down("14", "0", "2") == "proved"


def test_what_passes_the_number_that_it_counts_down_to_may_be_outside() -> None:
    assert _down("15", "0", "2") != "proved"
    assert _down("15", "3", "5") != "proved"
    assert _down("16", "0", "1") != "proved"
    assert _down("n", "0", "1") != "proved"
