"""Lengths of buffers that no machine has show nothing, and break nothing."""

from __future__ import annotations

from assay.proofs import ProofOptions, prove_source

_SOURCE = """\
#include <metal_stdlib>
using namespace metal;
//! [kernel.k]
//! threadgroup = 64
kernel void k(device uchar* y, constant uint& n, constant uint& m,
              uint i [[thread_position_in_grid]]) {
    if (i == 0 && m > 4000000000u && n > 4000000000u) y[ulong(m) * n] = 0;
}
"""


def test_an_access_beyond_a_buffer_that_is_too_long_to_run_is_undecided() -> None:
    options = ProofOptions(cache=False, offers=False, buffers={"y": "m*n"})
    (proof,) = prove_source(_SOURCE, "k.metal", options, workers=1)
    (bounds,) = (each for each in proof.answers if each.about == "bounds")
    assert bounds.verdict == "undecided"
    assert "no run that was tried shows it" in bounds.obstacles[-1].why
