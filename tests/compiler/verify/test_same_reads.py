"""A thread's reads of one place find the same while nothing orders others' writes before."""

from __future__ import annotations

import pytest

from .sources import proved

HEAD = """\
#include <metal_stdlib>
using namespace metal;
//! [kernel.k]
//! threadgroup = {size}
kernel void k(device const uint* x, device uint* y, uint t [[thread_index_in_threadgroup]]) {{
    threadgroup uint s[64];
    s[t] = x[t];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    {body}
    y[t] = s[t];
}}
"""
NEVER = "if (s[t] == 0) { if (s[t ^ x[0]] != 0 && s[t] != 0) s[63 - t] = 1; }"
"""Nobody writes, since what was 0 still is."""
OWN_WRITE = "if (s[t] == 0) { s[t] = 1; if (s[t] != 0) s[63 - t] = 2; }"
LANE_WRITES = "uint a = s[t]; s[t ^ 1] = a + 1; uint b = s[t]; if (a == 0 && b != 0) s[0] = t;"
OTHER_WAY = "uint a = s[t]; if (a < 9) s[t] = 1; if (a == 0 && s[t] != 0) s[63 - t] = 2;"
IN_A_LOOP = """\
for (uint i = 0; i < x[1]; ++i) {
    if (s[t] == 0) { for (uint j = 0; j < 2; ++j) s[t] = j; if (s[t] != 0) s[63 - t] = 2; }
}
"""
ROUND_A_LOOP = """\
uint last = 0;
for (uint i = 0; i < 9; ++i) {
    uint now = s[t];
    if (i > 0 && now != last) s[63 - t] = 2;
    last = now;
    s[t] = i;
}
"""
BEHIND_A_BARRIER = """\
uint a = s[t];
threadgroup_barrier(mem_flags::mem_threadgroup);
s[63 - t] = a + 1;
threadgroup_barrier(mem_flags::mem_threadgroup);
if (a == 0 && s[t] != 0) s[0] = t;
"""


def verdict(body: str, size: int = 64) -> str:
    found = proved(HEAD.format(body=body, size=size), "threadgroup races")
    return found["threadgroup races"].verdict


def test_what_was_read_once_is_read_again() -> None:
    assert verdict(NEVER) == "proved"


@pytest.mark.parametrize("body", [OWN_WRITE, OTHER_WAY, IN_A_LOOP, ROUND_A_LOOP, BEHIND_A_BARRIER])
def test_what_is_written_between_is_not(body: str) -> None:
    assert verdict(body) != "proved"


def test_what_another_lane_of_the_simdgroup_writes_between_is_not() -> None:
    assert verdict(LANE_WRITES, size=32) != "proved"
