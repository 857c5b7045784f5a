"""Proofs by several processes, and what is kept of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from assay.compiler import verify
from assay.proofs import KernelProof, ProofOptions, prove_source

TWO = """\
#include <metal_stdlib>
using namespace metal;
//! [kernel.good]
//! threadgroup = 64
kernel void good(device uint* y, uint t [[thread_index_in_threadgroup]],
                 uint g [[thread_position_in_grid]]) {
    threadgroup uint s[64];
    s[t] = t;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    y[g] = s[63 - t];
}
//! [kernel.bad]
//! threadgroup = 64
kernel void bad(device uint* y, uint t [[thread_index_in_threadgroup]],
                uint g [[thread_position_in_grid]]) {
    threadgroup uint s[64];
    s[t] = t;
    y[g] = s[63 - t];
}
"""
FRESH = ProofOptions(cache=False)


def _told(proofs: list[KernelProof]) -> list[KernelProof]:
    return [replace(each, seconds=0) for each in proofs]


def test_answers_do_not_depend_on_the_number_of_processes() -> None:
    one = _told([*prove_source(TWO, "two.metal", FRESH, workers=1)])
    two = _told([*prove_source(TWO, "two.metal", FRESH, workers=2)])
    assert one == two
    assert [each.name for each in one] == ["good", "bad"]
    assert one[0].is_proved and one[1].is_refuted
    assert one[1].findings


def test_what_was_proved_is_not_proved_again(monkeypatch: pytest.MonkeyPatch) -> None:
    first = _told([*prove_source(TWO, "two.metal", ProofOptions(), workers=1)])

    def refuse(*given: object, **named: object) -> None:
        raise AssertionError("it is asked again")

    monkeypatch.setattr(verify, "prove", refuse)
    assert _told([*prove_source(TWO, "two.metal", ProofOptions())]) == first
    with pytest.raises(AssertionError, match="it is asked again"):
        list(prove_source(TWO, "two.metal", ProofOptions(assume=("grid.x <= 64",)), workers=1))


def test_a_property_that_takes_too_long_is_undecided_and_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_CACHE_DIR", str(tmp_path))
    options = ProofOptions(functions=("good",), assume=("grid.x < 1000",), timeout=1e-9)
    (late,) = prove_source(TWO, "two.metal", options)
    races = next(each for each in late.answers if each.about == "threadgroup races")
    assert races.verdict == "undecided"
    assert races.obstacles[0].why == "it takes longer than 1e-09 s"
    (proof,) = prove_source(TWO, "two.metal", replace(options, timeout=60.0))
    assert proof.is_proved


def test_a_kernel_that_nothing_can_be_proved_of_is_told_beside_the_others() -> None:
    source = TWO + (
        "kernel void large(device float* y, constant uint& n) {\n"
        "    float a[1000000];\n    for (uint i = 0; i < n; ++i) a[i] = y[i];\n"
        "    y[n] = a[n];\n}\n"
    )
    options = ProofOptions(cache=False, threadgroup=(64, 1, 1))
    good, _, large = prove_source(source, "three.metal", options, workers=1)
    assert good.is_proved
    assert "private variables" in large.problem and not large.answers


def test_each_size_of_threadgroups_that_setups_lead_to_is_asked_about() -> None:
    source = """\
#include <metal_stdlib>
using namespace metal;
//! [[kernel.k]]
//! threads = 32
//! [[kernel.k]]
//! threads = 1024
//! [[kernel.k]]
//! threads = 4096
kernel void k(device uint* y, uint t [[thread_index_in_threadgroup]],
              uint i [[thread_position_in_grid]]) {
    threadgroup uint s[1024];
    s[t] = i;
    y[i] = s[t ^ 32];
}
"""
    proofs = list(prove_source(source, "k.metal", ProofOptions(cache=False), workers=1))
    assert [each.threadgroup for each in proofs] == [(32, 1, 1), (256, 1, 1)]
    assert proofs[1].is_refuted
