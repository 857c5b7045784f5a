"""A run refutes a property only by what is about that property, and about the memory meant."""

from __future__ import annotations

import pytest

from assay.proofs import KernelProof, ProofOptions, prove_source

_HEAD = """\
#include <metal_stdlib>
using namespace metal;
//! [kernel.k]
//! threadgroup = 64
"""
# What a float is made to is unknown to the prover: each goes wrong for it, and not in runs.
RACE_FOR_A_BUFFER = """\
kernel void k(device uint* y, device uint* x, uint t [[thread_index_in_threadgroup]],
              uint i [[thread_position_in_grid]]) {
    threadgroup uint s[64];
    s[uint(float(t) + 0.25f)] = y[0] = t;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    x[i] = s[t];
}
"""
RACE_FOR_A_TEXTURE = """\
kernel void k(texture2d<uint, access::read_write> tex [[texture(0)]], device uint* y,
              uint i [[thread_position_in_grid]]) {
    tex.write(uint4(i), uint2(0, 0)); y[uint(float(i & 4095) + 0.25f) + (i & ~4095)] = i;
}
"""
ARRAY_OF_A_THREAD = """\
kernel void k(device uint* x, uint t [[thread_index_in_threadgroup]],
              uint i [[thread_position_in_grid]]) {
    threadgroup uint s[64];
    uint p[4];
    if (i == 1000000) p[i % 4] = 1;
    s[uint(float(t) + 0.25f)] = t;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    x[i] = s[t] + p[i % 3];
}
"""
MISALIGNED = """\
kernel void k(device uchar* y, device uint* x, uint t [[thread_index_in_threadgroup]],
              uint i [[thread_position_in_grid]]) {
    threadgroup uint s[64];
    s[uint(float(t) + 0.25f)] = *(device uint*)(y + 1);
    x[i] = 1;
}
"""
SAME_NAME = """\
static uint own(uint i) {
    uint s[4];
    if (i == 1000000) s[i % 4] = 1;
    return s[i % 3];
}
kernel void k(device uint* x, uint t [[thread_index_in_threadgroup]],
              uint i [[thread_position_in_grid]]) {
    threadgroup uint s[64];
    s[uint(float(t) + 0.25f)] = t;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    x[i] = s[t] + own(i);
}
"""
# LLVM makes one store of both.
EITHER = """\
kernel void k(device uint* y, constant uint& n, uint t [[thread_index_in_threadgroup]],
              uint i [[thread_position_in_grid]]) {
    threadgroup uint s[64];
    if (i > n)
        s[t] = 1;

    else
        s[t] = 2;
    y[i] = s[63 - t];
}
"""


def _proof(source: str) -> KernelProof:
    (found,) = prove_source(
        _HEAD + source, "k.metal", ProofOptions(cache=False, offers=False), workers=1
    )
    return found


def _verdict(source: str, about: str) -> str:
    return next(each.verdict for each in _proof(source).answers if each.about == about)


@pytest.mark.parametrize(
    ("source", "about"),
    [
        pytest.param(RACE_FOR_A_BUFFER, "threadgroup races", id="a buffer"),
        pytest.param(RACE_FOR_A_TEXTURE, "buffer races", id="a texture"),
        pytest.param(ARRAY_OF_A_THREAD, "initialised", id="a thread's own array"),
        pytest.param(SAME_NAME, "initialised", id="a thread's own array of the same name"),
        pytest.param(MISALIGNED, "bounds", id="an address"),
    ],
)
def test_what_goes_wrong_in_the_same_line_with_something_else_refutes_nothing(
    source: str, about: str
) -> None:
    assert _verdict(source, about) == "undecided"


VECTOR = """\
kernel void k(device uint4* y, uint i [[thread_position_in_grid]]) { y[i / 2].x = i; }
"""
STRUCTS = """\
struct Pair { uint a[2]; uint b; };
kernel void k(device Pair* y, uint i [[thread_position_in_grid]]) { y[i / 2].a[1] = i; }
"""


def test_a_race_for_members_and_elements_of_vectors_is_shown() -> None:
    assert _verdict(VECTOR, "buffer races") == "refuted"
    assert _verdict(STRUCTS, "buffer races") == "refuted"


def test_a_race_for_an_array_that_a_function_is_handed_is_shown() -> None:
    source = """\
static void put(threadgroup uint* to, uint t) { to[t / 2] = t; }
kernel void k(device uint* x, threadgroup uint* given [[threadgroup(0)]],
              uint t [[thread_index_in_threadgroup]], uint i [[thread_position_in_grid]]) {
    threadgroup uint s[64], r[64];
    put(i < 32 ? s : r, t);
    put(given, t);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    x[i] = s[t] + r[t];
}
"""
    proof = _proof(source)
    found = {each.about: each for each in proof.answers}
    assert found["threadgroup races"].verdict == "refuted"
    assert found["initialised"].verdict in ("refuted", "undecided")


def test_findings_are_at_lines_that_do_what_is_said() -> None:
    proof = _proof(EITHER)
    (race,) = (each for each in proof.findings if each.kind == "race-read-write")
    lines = (_HEAD + EITHER).split("\n")
    by_kind = {each.what[:5]: lines[each.site.line - 1].strip() for each in race.parties}
    assert by_kind["read "] == "y[i] = s[63 - t];"
    assert by_kind["write"] in ("s[t] = 1;", "s[t] = 2;")
