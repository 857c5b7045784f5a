"""Kernels that are proved once their short loops are unrolled."""

from __future__ import annotations

import pytest

from assay.checks import read_annotations
from assay.compiler.msl import compile_library
from assay.compiler.verify import Launch, prove
from assay.proofs import ProofOptions, prove_source
from assay.proofs.names import names_of

from .sources import BARRIER

STRIDES = """\
#include <metal_stdlib>
using namespace metal;
//! [kernel.strides]
//! threadgroup = 128
kernel void strides(device uint* out, uint t [[thread_index_in_threadgroup]],
                    uint group [[threadgroup_position_in_grid]]) {
    threadgroup uint part[128];
    part[t] = t;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint step = 1; step < 128; step *= 2) {
        uint at = 2 * step * t;
        if (at < 128) part[at] += part[at + step];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (t == 0) out[group] = part[0];
}
"""
WITHOUT = STRIDES.replace(f"        {BARRIER}\n", "")


def _verdict(source: str, *, optimised: bool) -> str:
    kernel = compile_library(source).function("strides")
    size = read_annotations(source, "source.metal").setups["strides"][0].threadgroup
    assert size is not None
    launch = Launch(size=size, names=names_of(kernel))
    about = ("threadgroup races",)
    (found,) = prove(kernel.program(), launch, about, offers=False, optimised=optimised)
    return found.verdict


def test_steps_that_double_are_numbers_where_loops_are_unrolled() -> None:
    assert _verdict(STRIDES, optimised=False) != "proved"
    assert _verdict(STRIDES, optimised=True) == "proved"


@pytest.mark.parametrize("optimised", [False, True])
def test_a_missing_barrier_is_seen_in_either_reading(optimised: bool) -> None:
    assert _verdict(WITHOUT, optimised=optimised) == "refuted"


def test_what_is_undecided_is_tried_with_loops_unrolled() -> None:
    (proof,) = prove_source(
        STRIDES, "strides.metal", ProofOptions(cache=False, offers=False), workers=1
    )
    verdicts = {each.about: each.verdict for each in proof.answers}
    assert verdicts["threadgroup races"] == verdicts["barriers"] == "proved"
