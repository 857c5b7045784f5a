"""What is told of barriers that are redundant: of which, with which others, and of which not."""

from __future__ import annotations

from typing import Any

from assay.proofs import ProofOptions, prove_source
from assay.proofs.text import proof_text, proofs_json

_HEAD = """\
#include <metal_stdlib>
using namespace metal;
//! [kernel.k]
//! threadgroup = 64
#define ALL threadgroup_barrier(mem_flags::mem_threadgroup)
void sync() { ALL; }
kernel void k(device uint* out, device const uint* x, uint i [[thread_position_in_grid]],
              uint t [[thread_index_in_threadgroup]]) {
    threadgroup uint s[64];
"""
_FIRST = _HEAD.count("\n") + 1


def _told(body: str, **buffers: str) -> tuple[list[str], dict[str, Any]]:
    """Lines about barriers, and the data, of a body that begins in line 10."""
    options = ProofOptions(cache=False, offers=False, rings=True, buffers=buffers)
    (proof,) = prove_source(f"{_HEAD}{body}\n}}\n", "k", options, workers=1)
    lines = [line.strip() for line in proof_text(proof, {}).splitlines()]
    (kernel,) = proofs_json([proof])["kernels"]
    return [line for line in lines if line.startswith("barrier")], kernel["rings"]


def test_no_barrier_is_called_redundant_where_accesses_may_leave_a_buffer() -> None:
    lines, data = _told("ALL; out[i] = x[i];", x="256")
    assert lines == ["barriers:  there is none, or not all is proved: none is called redundant"]
    assert data["barriers"] == []


def test_a_barrier_that_is_called_twice_is_told_of_once() -> None:
    lines, data = _told("sync(); s[t] = t; sync(); out[i] = s[63 - t];")
    assert lines == ["barrier:   k:6: not proved to be redundant"]
    assert [each["line"] for each in data["barriers"]] == [6]


def test_two_that_can_both_go_are_told_together() -> None:
    lines, data = _told("ALL;\nALL; out[i] = x[i];")
    assert lines == [
        "barrier:   k:10: redundant: all is proved without it, and without that of k:11 as well",
        "barrier:   k:11: redundant: all is proved without it, and without that of k:10 as well",
    ]
    assert [each["together"] for each in data["barriers"]] == [[11], [10]]


def test_all_that_can_go_are_told_together() -> None:
    lines, _ = _told("ALL;\nALL;\nALL;\nALL; out[i] = x[i];")
    told = "redundant: all is proved without it, and without those of"
    assert lines[0] == f"barrier:   k:10: {told} k:11, k:12 and k:13 as well"
    assert len(lines) == 4


def test_either_of_two_is_told_not_both() -> None:
    lines, data = _told("s[t] = t; ALL;\nALL; out[i] = s[63 - t];")
    assert lines == [
        "barrier:   k:10: redundant: all is proved without it, but not also without that of k:11",
        "barrier:   k:11: redundant: all is proved without it, but not also without that of k:10",
    ]
    assert [each["not_with"] for each in data["barriers"]] == [[11], [10]]


def test_of_three_in_a_row_it_is_told_that_not_all_can_go() -> None:
    barrier = "threadgroup_barrier(mem_flags::mem_threadgroup);"
    lines, data = _told(f"s[t] = t;{barrier * 3} out[i] = s[63 - t];")
    columns = [10 + n * len(barrier) for n in range(3)]
    one, other, last = (f"k:10:{column}" for column in columns)
    told = "redundant: all is proved without it"
    assert lines == [
        f"barrier:   {one}: {told}, and without that of {other} as well",
        f"barrier:   {other}: {told}, and without that of {one} as well",
        f"barrier:   {last}: {told}, but not also without those of {one} and {other} at once",
        "barriers:  of other sets than those named it is not known whether all is proved without "
        "them",
    ]
    assert [each["column"] for each in data["barriers"]] == columns
    assert data["barriers"][2]["not_with_all"] == [10, 10]
