"""A read outside is none the less one where nobody needs what is read."""

from __future__ import annotations

import pytest

from assay.proofs import KernelProof, ProofOptions, prove_source

_SOURCE = """\
#include <metal_stdlib>
using namespace metal;
struct Pair {{ float first; float second; }};
static float at(device const float* from, uint i) {{ return from[i]; }}
static float in_loop(device const float* from, uint i, uint n) {{
    float sum = 0;
    for (uint k = 0; k < 4; ++k) {{ float v = from[i + k]; if (i + k < n) sum += v; }}
    return sum;
}}
//! [kernel.k]
//! threadgroup = 64
kernel void k(device const float* x, device float* y, constant uint& n, constant uint& m,
              uint i [[thread_position_in_grid]], uint t [[thread_index_in_threadgroup]]) {{
    threadgroup float s[64];
    s[t] = t;
    {body}
}}
"""
OUTSIDE = {
    "put off to a branch": "float v = x[i]; if (i < n) y[i] = v;",
    "dropped": "float v = x[i]; (void)v; y[i] = s[t];",
    "chosen against": "float v = x[i]; y[i] = i < n && m > 1 ? v : 0;",
    "by a pointer": "device const float* p = x + ulong(i) * 2; bool a = i < n && m > 1;"
    "float v = p[0]; y[i] = a ? v : 0;",
    "by a helper": "float v = at(x, i); if (i < n) y[i] = v;",
    "in a loop": "y[i] = in_loop(x, i, n);",
    "of a pair": "Pair v = ((device const Pair*)x)[i / 2]; if (i < n) y[i] = v.second;",
    "of a vector": "float4 v = ((device const float4*)x)[i / 4]; if (i < n) y[i] = v.w;",
    "of the threadgroup": "float v = s[i]; if (i < 64) y[i] = v;",
}
OWN = "float a[8]; for (uint j = 0; j < 8; ++j) a[j] = j * m; float v = a[i]; if (i < 8) y[i] = v;"
INSIDE = {
    "clamped": "float v = x[min(i, n - 1)]; if (i < n) y[i] = v;",
    "guarded": "if (i < n) { float v = x[i]; y[i] = v; }",
    "of an own array": "float a[8]; for (uint j = 0; j < 8; ++j) a[j] = j * m;"
    "float v = a[i % 8]; if (i < 8) y[i] = v;",
}


def _proof(body: str) -> KernelProof:
    options = ProofOptions(cache=False, buffers={"x": "4*n"})
    (proof,) = prove_source(_SOURCE.format(body=body), "k.metal", options, workers=1)
    return proof


def _verdict(proof: KernelProof) -> str:
    assert not proof.problem
    return next(each.verdict for each in proof.answers if each.about == "bounds")


@pytest.mark.parametrize("body", OUTSIDE.values(), ids=OUTSIDE)
def test_a_read_outside_that_is_in_vain_is_refuted(body: str) -> None:
    assert _verdict(_proof(body)) == "refuted"


def test_a_read_outside_of_an_own_array_that_is_in_vain_is_not_proved_to_be_inside() -> None:
    assert _verdict(_proof(OWN)) != "proved"


@pytest.mark.parametrize("body", INSIDE.values(), ids=INSIDE)
def test_a_read_inside_that_is_in_vain_is_proved(body: str) -> None:
    assert _verdict(_proof(body)) == "proved"
