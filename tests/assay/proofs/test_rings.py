"""What is told of rings rests on what is proved of barriers and races of the same kernel."""

from __future__ import annotations

import pytest

from assay.compiler.verify import TOGETHER
from assay.compiler.verify.rings import RESTS_ON
from assay.proofs import KernelProof, ProofOptions, prove_source
from assay.proofs.text import proof_text

_SOURCE = """\
#include <metal_stdlib>
using namespace metal;
#define ALL threadgroup_barrier(mem_flags::mem_threadgroup)
//! [kernel.k]
//! threadgroup = 64
kernel void k(device const float* x, device float* y, constant uint& n,
              uint t [[thread_index_in_threadgroup]], uint g [[threadgroup_position_in_grid]]) {
    threadgroup float a[2][64];
    float sum = 0;
    a[0][t] = x[t];
    ALL;
    for (uint k = 0; k < n; ++k) {
        if (k + 1 < n) a[(k + 1) % 2][t] = x[64 * (k + 1) + t];
        sum += a[k % 2][63 - t];
        ALL;
    }
    y[64 * g + t] = sum;
}
"""
_READ = "sum += a[k % 2][63 - t];\n        ALL;"


def _proof(source: str) -> KernelProof:
    options = ProofOptions(cache=False, rings=True, assume=("n > 0", "n <= 1000000"))
    (proof,) = prove_source(source, "k.metal", options, workers=1)
    return proof


def test_a_ring_of_a_kernel_without_races_is_proved() -> None:
    proof = _proof(_SOURCE)
    assert proof.is_proved
    assert "none is stale" in proof_text(proof, {})


@pytest.mark.parametrize(
    ("barrier", "about"),
    [
        ("ALL;\n        sum += a[k % 2][63 - t];", "threadgroup races"),
        ("sum += a[k % 2][63 - t];\n        if (t < 32) ALL;", "barriers"),
    ],
    ids=["a barrier in the wrong place", "a barrier that not all come to"],
)
def test_nothing_is_proved_of_a_ring_whose_kernel_races(barrier: str, about: str) -> None:
    assert _READ in _SOURCE
    proof = _proof(_SOURCE.replace(_READ, barrier))
    (answer,) = (each for each in proof.answers if each.about == about)
    assert answer.verdict != "proved"
    assert proof.rings is not None
    for ring in proof.rings.rotations:
        assert not ring.is_proved and not ring.is_distinct
        assert ring.tiles is not None and not ring.tiles.proved
    shown = [line for line in proof_text(proof, {}).split("\n") if "for all k" in line]
    assert all("not proved:" in line or "undecided:" in line for line in shown)
    if about == "threadgroup races":
        assert f"nothing is proved of it before this is: {about}" in proof_text(proof, {})


def test_rings_are_asked_about_in_the_process_that_proves_what_they_rest_on() -> None:
    assert any(set(RESTS_ON).issubset(together) for together in TOGETHER)
