"""What is read of threadgroup memory lies between what is stored there."""

from __future__ import annotations

import pytest

from .sources import BARRIER, proved

CHASE = """\
#include <metal_stdlib>
using namespace metal;
//! [kernel.k]
//! threadgroup = 64
kernel void k(device uint* to, constant uint& rounds, uint t [[thread_index_in_threadgroup]]) {
    threadgroup uint next[128];
    for (uint i = t; i < 128; i += 64) next[i] = (i + 37) % 128;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint position = t;
    for (uint round = 0; round < rounds; ++round) {
        position = next[position];
        position = next[position];
    }
    to[t] = position;
}
"""


def test_an_index_that_was_stored_is_in_bounds_if_all_that_are_stored_are() -> None:
    assert proved(CHASE, "bounds")["bounds"].verdict == "proved"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("% 128;", "% 129;"),
        ("uint position = t;", "uint position = 2 * t + 2;"),
        ("i < 128;", "i < 127;"),
        (BARRIER, ""),
        ("uint position", "((threadgroup uchar*)next)[4 * t + 1] = 3;\n    uint position"),
        ("uint position", "*(threadgroup uint*)((threadgroup uchar*)next + 2) = 3; uint position"),
        ("to[t] = position;", f"{BARRIER} next[t] = to[t]; to[t] = position;"),
    ],
    ids=[
        "one beyond is stored",
        "it begins outside",
        "one is not written",
        "threads race",
        "a byte of it is written",
        "halves of two are written",
        "anything is stored later",
    ],
)
def test_an_index_that_may_be_another_is_not(old: str, new: str) -> None:
    assert old in CHASE
    assert proved(CHASE.replace(old, new), "bounds")["bounds"].verdict != "proved"
