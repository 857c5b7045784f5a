"""Runs that are not as it is assumed show nothing of a kernel."""

from __future__ import annotations

import pytest

from assay.proofs import ProofOptions
from assay.proofs.source import Question, SourceProof

_SOURCE = """\
#include <metal_stdlib>
using namespace metal;
struct Sizes { uint m; float f; uint4 v; uint q; };
//! [kernel.k]
//! threadgroup = 64
SETUP
kernel void k(device uint* y, device const NUMBER* x, constant uint& n, constant Sizes& p,
              device const float* f, uint3 groups [[threadgroups_per_grid]],
              uint i [[thread_position_in_grid]]) {
    threadgroup uint a[512];
    uint zero = uint(clamp(sin(f[i]), 0.0f, 0.5f)); // which the prover does not know
    BODY
    y[i] = 1;
}
"""


def _found(body: str, *assume: str, setup: str = "", number: str = "uint", **buffers: str) -> str:
    """What is found of accesses to arrays and buffers."""
    options = ProofOptions(cache=False, offers=False, assume=assume, buffers=buffers)
    source = _SOURCE.replace("BODY", body).replace("SETUP", setup).replace("NUMBER", number)
    return _bounds(source, options)


def _bounds(source: str, options: ProofOptions) -> str:
    proof = SourceProof(source, "k.metal", options).proof(Question(0, ("bounds",)))
    assert not proof.problem
    (answer,) = proof.answers
    return answer.verdict


_FAR_IF = "a[(CONDITION ? 512 : 0) + zero * 512] = 3;"


def _far_if(condition: str) -> str:
    return _FAR_IF.replace("CONDITION", condition)


@pytest.mark.parametrize(("assume", "verdict"), [("n <= 64", "undecided"), ("n >= 1", "refuted")])
def test_a_setup_of_the_file_is_run_if_its_numbers_are_as_assumed(
    assume: str, verdict: str
) -> None:
    setup = "//! threadgroups = 1\n//! arguments.n = 1000"
    assert _found(_far_if("n > 64"), assume, setup=setup) == verdict


def test_a_buffer_of_a_setup_that_is_shorter_than_stated_shows_nothing() -> None:
    setup = '//! threadgroups = 1\n//! arguments.y = { dtype = "uint32", shape = 16 }'
    assert _found("y[i + zero * 100] = 2;", setup=setup, y="256 * groups.x") == "undecided"
    assert _found("y[i + 100] = 2;", setup=setup, y="256 * groups.x") == "refuted"


def test_fewer_threadgroups_than_are_assumed_show_nothing() -> None:
    assert _found(_far_if("groups.x < 5000"), "groups.x >= 5000") == "undecided"
    assert _found(_far_if("groups.x < 5000"), "groups.x >= 3") == "refuted"


def test_a_member_that_a_counterexample_does_not_tell_has_to_be_as_assumed() -> None:
    body = "constant uint* w = &p.m; " + _far_if("w[8 + zero] < 5000")
    assert _found(body, "p.q >= 5000") == "undecided"
    assert _found(body, "p.q < 5000") == "refuted"


def test_numbers_that_are_made_are_as_many_as_stated_or_show_nothing() -> None:
    body = "y[i] = x[min(i + 20000u, n - 1) + zero * 100000000];"
    assert _found(body, "x[*] >= 1 and n >= 30000", x="4 * n") == "undecided"


@pytest.mark.parametrize(
    "number", [*(pytest.param(each, marks=pytest.mark.slow) for each in ("uchar", "short")), "char"]
)
def test_numbers_that_are_made_are_of_their_type(number: str) -> None:
    assert _found(_far_if("x[i] < 100"), "x[*] >= 100", number=number) == "undecided"
    assert _found(_far_if("x[i] >= 100"), "x[*] >= 100", number=number) == "refuted"


def test_a_buffer_is_as_long_as_stated_by_a_number_that_is_never_read() -> None:
    assert _found("y[i + 100000] = 2;", y="4 * n") == "refuted"


def test_what_lies_beyond_a_buffer_whose_length_nobody_stated_shows_nothing() -> None:
    body = "a[x[100000 + zero] < 5 ? 0 : 512 * zero] = 3;"
    assert _found(body, "x[*] >= 1") == "undecided"


_RAGGED = """\
#include <metal_stdlib>
using namespace metal;
//! [kernel.k]
//! threadgroup = 64
//! threads = 100
kernel void k(device uint* y, device const float* f, uint size [[threads_per_threadgroup]],
              uint3 grid [[threads_per_grid]], uint i [[thread_position_in_grid]]) {
    threadgroup uint a[64];
    uint zero = uint(clamp(sin(f[i]), 0.0f, 0.5f));
    a[(CONDITION ? 64 : 0) + 64 * zero] = 3;
    y[i] = 1;
}
"""


@pytest.mark.parametrize(
    ("condition", "verdict"), [("grid.x % 64 != 0", "undecided"), ("grid.x == 128", "refuted")]
)
def test_a_setup_is_run_with_full_threadgroups_as_these_are_assumed(
    condition: str, verdict: str
) -> None:
    source = _RAGGED.replace("CONDITION", condition)
    assert _bounds(source, ProofOptions(cache=False, offers=False)) == verdict
