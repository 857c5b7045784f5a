"""Runs of counterexamples have the numbers that these tell, however a kernel gets them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from assay.compiler.msl import KernelFunction, compile_library
from assay.launches.inputs import Exact, Setup
from assay.launches.plan import make_plan
from assay.proofs import ProofOptions, prove_source
from assay.proofs.stated import with_numbers

_SOURCE = """\
#include <metal_stdlib>
using namespace metal;
struct Sizes {{ uint m; uint n; float scale; }};
kernel void k(device uint* y, {argument}, uint i [[thread_position_in_threadgroup]]) {{
    threadgroup uint all[256];
    all[i] = i;
    if ({number} == 77777) y[i] = all[255 - i];
}}
"""
WAYS = {
    "reference to a struct": ("constant Sizes& sizes [[buffer(1)]]", "sizes.n"),
    "pointer to a struct": ("constant Sizes* sizes [[buffer(1)]]", "sizes->n"),
    "pointer to numbers": ("constant uint* sizes [[buffer(1)]]", "sizes[3]"),
    "buffer": ("device const uint* sizes [[buffer(1)]]", "sizes[0]"),
    "far in a buffer": ("device const ushort* sizes [[buffer(1)]]", "70000 + sizes[9000]"),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_race_that_one_number_alone_has_is_shown(way: str) -> None:
    argument, number = WAYS[way]
    source = _SOURCE.format(argument=argument, number=number)
    options = ProofOptions(cache=False, offers=False, threadgroup=(256, 1, 1))
    (proof,) = prove_source(source, "k.metal", options, workers=1)
    verdicts = {each.about: each.verdict for each in proof.answers}
    assert verdicts["threadgroup races"] == "refuted"
    assert {each.check for each in proof.findings} >= {"race"}


def _assumed(kernel: KernelFunction, setup: Setup) -> Any:
    return next(x.data for x in make_plan(kernel, setup).bound if x.argument.name == "sizes")


def test_what_is_not_told_stays_as_it_is() -> None:
    source = _SOURCE.format(argument=WAYS["pointer to a struct"][0], number="sizes->n")
    kernel = compile_library(source).function("k")
    given = np.array([1, 2, 3], np.uint32)
    setup = Setup(threadgroups=(1, 1, 1), threadgroup=(256, 1, 1), arguments={})
    held = with_numbers(kernel, setup, {("sizes", 4): ("i32", 5)}).arguments["sizes"]
    assert isinstance(held, Exact)
    assert held.array[4:8].tolist() == [5, 0, 0, 0]
    assert held.array[:4].tolist() == _assumed(kernel, setup)[:4].tolist()
    setup = replace(setup, arguments={"sizes": Exact(array=given)})
    held = with_numbers(kernel, setup, {("sizes", 16): ("i32", 5)}).arguments["sizes"]
    assert isinstance(held, Exact)
    assert held.array.view(np.uint32).tolist() == [1, 2, 3, 0, 5]
