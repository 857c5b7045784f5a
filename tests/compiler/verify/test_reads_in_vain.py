"""A read outside is none the less one where nobody needs what is read."""

from __future__ import annotations

import pytest

from assay.proofs import KernelProof, ProofOptions, prove_source

_SOURCE = """\
#include <metal_stdlib>
using namespace metal;
struct Pair {{ float first; float second; }};
#define SUM(a, i, j) (a[i] + a[j])
static float at(device const float* from, uint i) {{ return from[i]; }}
static float4 wide(thread const float2& of) {{ return (thread const float4&)of; }}
static void fill(thread float2& pair) {{ (thread float4&)pair = 1; }}
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
    "of a vector of the language": "uint4 v = ((device const uint4*)x)[i / 4]; (void)v; y[i] = 1;",
    "of a part of a vector": "float4 v = ((device const float4*)x)[i / 4 + 1];"
    "if (i < 4) y[i] = v.x;",
}
OWN = "float a[8]; for (uint j = 0; j < 8; ++j) a[j] = j * m; float v = a[i]; if (i < 8) y[i] = v;"
INSIDE = {
    "clamped": "float v = x[min(i, n - 1)]; if (i < n) y[i] = v;",
    "guarded": "if (i < n) { float v = x[i]; y[i] = v; }",
    "beside an array of arrays": "float a[2][2] = {}; (void)a; if (i < n) y[i] = x[i];",
    "beside a struct of arrays": "struct { float a[2][2]; int b[3]; } q = {}; auto r = q; (void)r;"
    "if (i < n) y[i] = x[i];",
    "of an own array": "float a[8]; for (uint j = 0; j < 8; ++j) a[j] = j * m;"
    "float v = a[i % 8]; if (i < 8) y[i] = v;",
}


def _proof(body: str, *, before: str = "") -> KernelProof:
    options = ProofOptions(cache=False, offers=False, buffers={"x": "4*n"})
    source = _SOURCE.format(body=body).replace("//! [k", f"{before}//! [k")
    (proof,) = prove_source(source, "k.metal", options, workers=1)
    return proof


def _verdict(proof: KernelProof, about: str = "bounds") -> str:
    assert not proof.problem
    return next(each.verdict for each in proof.answers if each.about == about)


@pytest.mark.parametrize("body", OUTSIDE.values(), ids=OUTSIDE)
def test_a_read_outside_that_is_in_vain_is_refuted(body: str) -> None:
    assert _verdict(_proof(body)) == "refuted"


RACES = {
    "a number of the threadgroup": "float v = s[63 - t]; if (t > 70) y[i] = v;",
    "its first number": "float v = s[0]; if (t == 40) s[0] = v + 1;",
    "a vector of the threadgroup": "threadgroup float4 f[64]; f[t] = float4(t);"
    "float4 v = f[63 - t]; if (t > 70) y[i] = v.w;",
    "a struct of the threadgroup": "threadgroup Pair p[64]; p[t] = Pair{1, 2};"
    "Pair v = p[63 - t]; if (t > 70) y[i] = v.first;",
    "a struct at a known place": "threadgroup Pair p[64]; p[t] = Pair{1, 2}; Pair v = p[3];"
    "if (t > 70) y[i] = v.second;",
    "a struct of its own": "threadgroup Pair one; one = one; y[i] = 1;",
    "a struct at a known place, copied onto itself": "((threadgroup Pair*)s)[31] = "
    "((threadgroup Pair*)s)[31];",
    "a vector that is overwritten": "threadgroup float4 f[64]; f[0] = float4(t); f[0] = float4(1);",
}


@pytest.mark.parametrize("body", RACES.values(), ids=RACES)
def test_accesses_that_nobody_needs_race_all_the_same(body: str) -> None:
    proof = _proof(body)
    assert _verdict(proof, "threadgroup races") in ("refuted", "undecided")


def test_a_struct_that_is_copied_onto_itself_is_written() -> None:
    body = "((device Pair*)y)[0] = ((device Pair*)y)[0];"
    assert _verdict(_proof(body), "buffer races") != "proved"


OWN_OUTSIDE = {
    "a constant index": "float a[4]; a[n & 1] = n; a[5] = n; y[i] = a[0];",
    "an index into one number": "float a[1]; a[t] = n; y[i] = a[0];",
    "what nobody reads": "float a[4]; a[t] = n; y[i] = n;",
    "a pointer to a number": "float a = 0; thread float* p = &a; p[t] = t; y[i] = a;",
    "one of two arrays": "float a[4], b[8]; thread float* p = m ? a : b; p[n] = 1;"
    "y[i] = a[0] + b[0];",
    "a larger vector": "float2 a = x[0]; y[i % n] = (*(thread float4*)&a).w;",
    "a larger vector by a pointer": "float2 a = x[0]; thread float4* p = (thread float4*)&a;"
    "y[i % n] = p->w;",
    "a larger vector by a helper": "float2 a = x[0]; y[i % n] = wide(a).x;",
    "a larger vector that is stored": "float2 a = x[0]; fill(a); y[i % n] = a.x;",
    "a struct in place of a number": "float a = x[0]; Pair b = *(thread Pair*)&a;"
    "y[i % n] = b.first;",
    "a struct from a buffer": "Pair a[4]; a[63] = ((device Pair*)y)[i]; y[i] = a[0].first;",
    "a struct of one's own": "Pair a[4], b = {n, i}; a[63] = b; y[i] = a[0].first;",
    "a vector from a buffer": "float2 a[4]; a[63] = ((device float2*)y)[i]; y[i] = a[0].x;",
    "one of two at one place": "float a[4] = {0, 0, 0, 0}; y[i] = SUM(a, t & 3, 63);",
    "one of two in a loop": "float a[4] = {0, 0, 0, 0};"
    "for (uint j = 0; j < n; ++j) y[i] += SUM(a, j & 3, 4);",
    "a place in front": "float a[4]; a[-1] = x[i]; y[i] = a[0];",
    "nothing": "float a = n; thread float* p = n > 3 ? &a : nullptr; y[i] = *p;",
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("body", OWN_OUTSIDE.values(), ids=OWN_OUTSIDE)
def test_an_access_beyond_own_memory_that_the_optimiser_drops_is_not_proved(body: str) -> None:
    proof = _proof(body)
    assert proof.problem or _verdict(proof) != "proved"


def test_numbers_of_a_table_of_equal_ones_are_not_proved_to_be_inside() -> None:
    table = "constant float ZERO[4] = {0, 0, 0, 0};\n"
    proof = _proof("y[i] = ZERO[n];", before=table)
    assert _verdict(proof) != "proved"
    assert _verdict(_proof("y[i] = ZERO[n % 4];", before=table)) == "proved"


UNDEFINED = {
    "chosen by a switch": (
        "uint a; switch (n) { case 1: a = i; break; case 2: a = i; break; } y[a] = t;"
    ),
    "told by a test": "uint a; if (t < 5) a = 1;"
    "if (a == 1) threadgroup_barrier(mem_flags::mem_none);",
    "promised": "__builtin_assume(t < 32);"
    "if (t < 32) threadgroup_barrier(mem_flags::mem_threadgroup);",
}


@pytest.mark.parametrize("body", UNDEFINED.values(), ids=UNDEFINED)
def test_what_has_no_value_or_is_only_promised_proves_nothing(body: str) -> None:
    assert not _proof(body).is_proved


CALLED = """\
static void f(device float* y, uint i, uint d, uint n) {
    if (d == 200) y[0] = i;
    if (d < n) f(y, i, d + 1, n);
}
"""


def test_recursion_that_is_not_followed_to_its_end_proves_nothing() -> None:
    assert not _proof("f(y, i, 0, n);", before=CALLED).is_proved


def test_a_read_outside_of_an_own_array_that_is_in_vain_is_not_proved_to_be_inside() -> None:
    assert _verdict(_proof(OWN)) != "proved"


@pytest.mark.parametrize("body", INSIDE.values(), ids=INSIDE)
def test_a_read_inside_that_is_in_vain_is_proved(body: str) -> None:
    assert _verdict(_proof(body)) == "proved"


PAIRS = """\
struct P { float a, b; float get() const { return b; } void set(float v) { b = v; } };
struct Z { P p, q; void again() { *this = *this; } void keep() { Z c = *this; (void)c; } };
struct Big { float v[1200]; };
struct Gap { uchar a; uint b; };
struct Tail { uint a; uchar b[3]; };
static uint2 unset() { uint2 a; return a; }
static uint2 unset(uint n) { uint2 a; if (n > 3) a = uint2(0); return a; }
struct Own { float v; thread Own* me() { return (thread Own*)this; } };
constant float ALONE = 0;
"""
LOST = {
    "a member at a known place": (
        "threadgroup races",
        "threadgroup P p[64]; p[t].a = t; p[t].set(t); float v = p[3].get(); if (t > 70) y[i] = v;",
    ),
    "a large copy onto itself": ("threadgroup races", "threadgroup Big b; b = b; y[i] = 1;"),
    "a large copy in vain": (
        "threadgroup races",
        "threadgroup Big b; b.v[t] = 1; Big v = b; (void)v; y[i] = 1;",
    ),
    "a large copy of a buffer": ("bounds", "Big v = ((device const Big*)x)[i]; (void)v; y[i] = 1;"),
    "a copy onto itself by a member": (
        "threadgroup races",
        "threadgroup Z z; z.again(); y[i] = 1;",
    ),
    "the same of a buffer": ("buffer races", "((device Z*)y)[0].again();"),
    "a copy in vain by a member": (
        "threadgroup races",
        "threadgroup Z z; z.p.a = t; z.keep(); y[i] = 1;",
    ),
    "an equal table of a function": (
        "bounds",
        "static constexpr float T[4] = {1, 1, 1, 1}; y[i] = T[n];",
    ),
    "a number as a table": ("bounds", "static constexpr float W = 2; y[i] = (&W)[n];"),
    "a number of the program as a table": ("bounds", "y[i] = (&ALONE)[n];"),
    "a number as an address": ("bounds", "float v = *(thread float*)(ulong)n; (void)v; y[i] = 1;"),
    "a pointer from an array": (
        "threadgroup races",
        "threadgroup Own p[64]; p[t].v = t; thread Own* q[2] = {p[t].me(), p[63 - t].me()};"
        "float v = q[m & 1]->v; (void)v; y[i] = 1;",
    ),
    "a branch by a pointer without a value": (
        "bounds",
        "device const float* p; if (p) y[i] = x[i + n]; else y[i] = x[i + n + 1];",
    ),
    "behind a pointer without a value": (
        "bounds",
        "thread float* p; if (n > 3) { p[0] = 1; y[i] = x[i + n]; }",
    ),
    "what select() does not choose": ("bounds", "y[i] = select(0.0f, x[i], i < n);"),
    "the same of vectors": (
        "bounds",
        "y[i] = select(float2(0), ((device const float2*)x)[i], bool2(i < n)).x;",
    ),
    "the same of the threadgroup": (
        "threadgroup races",
        "y[i] = select(0.0f, s[63 - t], t > 70);",
    ),
    "a vector without a value": (
        "barriers",
        "if (unset().x == 1) threadgroup_barrier(mem_flags::mem_none);",
    ),
    "a vector with a value at times": ("bounds", "if (unset(n).x == 1) y[i] = x[n + i];"),
    "a large array without a value": (
        "barriers",
        "uint a[300]; if (a[5] == 1) threadgroup_barrier(mem_flags::mem_none);",
    ),
    "what a large array without a value decides": (
        "threadgroup races",
        "uint a[300]; if (a[5] == 3) s[0] = t; y[i] = 1;",
    ),
    "a copy of a large struct without a value": (
        "threadgroup races",
        "threadgroup Big b; Big v; b = v; y[i] = 1;",
    ),
    "bytes at a struct's end": (
        "barriers",
        "Tail q; q.a = 1; if (q.b[0] == 1) threadgroup_barrier(mem_flags::mem_none); y[i] = q.a;",
    ),
    "nothing, in vain": ("bounds", "thread float* p = nullptr; float v = *p; (void)v; y[i] = 1;"),
    "a known address": ("bounds", "float v = *(thread float*)16ul; (void)v; y[i] = 1;"),
    "one of two at one place of a loop": (
        "threadgroup races",
        "threadgroup Own p[64]; p[t].v = t; threadgroup_barrier(mem_flags::mem_threadgroup);"
        "thread Own* q[2] = {p[63 - t].me(), p[t].me()}; for (uint k = 0; k < 2; ++k) {"
        "float v = q[k]->v; if (k == 1) y[i] = v; } p[t].v = 2;",
    ),
    "a fourth lane of three as an index": (
        "bounds",
        "uint4 w = as_type<uint4>(uint3(n, 1, 2)); if (i < n) y[i] = x[w.w];",
    ),
    "a lane behind the last as an index": (
        "bounds",
        "uint3 v = uint3(n, 1, 2); y[i] = s[v[3]];",
    ),
    "a fourth lane of three that decides": (
        "threadgroup races",
        "uint3 v = uint3(n, 1, 2); uint4 w = *(thread uint4*)&v; if (w.w == 7) s[0] = t;",
    ),
    "the same of small ones": (
        "barriers",
        "if (as_type<uchar4>(uchar3(1, 2, 3)).w == 7) threadgroup_barrier(mem_flags::mem_none);",
    ),
    "bytes between fields as an index": (
        "bounds",
        "Gap q; q.a = 1; q.b = n; if (i < n) y[i] = x[((thread uchar*)&q)[2]];",
    ),
    "bytes between fields that decide": (
        "barriers",
        "Gap q = {1, n}; uchar c = ((thread uchar*)&q)[2];"
        "if (c != 0) threadgroup_barrier(mem_flags::mem_none);",
    ),
    "a pointer with a value at times": (
        "bounds",
        "float a[4] = {}; thread float* p; if (m > 1) p = a; p[0] = 1; y[i] = a[0];",
    ),
}


@pytest.mark.sampled(5)
@pytest.mark.parametrize(("about", "body"), LOST.values(), ids=LOST)
def test_what_clang_or_llvm_would_lose_is_not_proved(about: str, body: str) -> None:
    proof = _proof(body, before=PAIRS)
    assert proof.problem or _verdict(proof, about) != "proved"


CONSTANTS = {
    "by a member": "float v = x[i].get(); (void)v; y[i] = 1;",
    "as a whole": "P v = x[i]; (void)v; y[i] = 1;",
    "a table by a member": "float v = T[i].get(); (void)v; y[i] = 1;",
}


@pytest.mark.parametrize("body", CONSTANTS.values(), ids=CONSTANTS)
def test_reads_of_constant_memory_that_are_in_vain_are_not_proved(body: str) -> None:
    source = f"""\
#include <metal_stdlib>
using namespace metal;
{PAIRS}
constant P T[2] = {{{{1, 2}}, {{3, 4}}}};
kernel void k(constant P* x, device float* y, uint i [[thread_position_in_grid]]) {{ {body} }}
"""
    options = ProofOptions(cache=False, offers=False, buffers={"x": "64"})
    (proof,) = prove_source(source, "k.metal", options, workers=1)
    assert _verdict(proof) != "proved"


KNOWN = {
    "three lanes": ("bounds", "uint3 v = uint3(n, 1, 2); v = v.xzy; if (i < v.x) y[i] = x[i];"),
    "an equal table": ("bounds", "static constexpr float T[4] = {0, 0, 0, 0}; y[i] = T[n & 3];"),
    "a copy of one's own": ("bounds", "Z a = {}; a.again(); if (i < n) y[i] = x[i] + a.p.get();"),
    "a place for each thread": (
        "threadgroup races",
        "threadgroup Z z[64]; z[t].again(); z[t].p.set(t); y[i] = z[t].p.get();",
    ),
}


@pytest.mark.parametrize(("about", "body"), KNOWN.values(), ids=KNOWN)
def test_the_same_that_is_right_is_proved(about: str, body: str) -> None:
    assert _verdict(_proof(body, before=PAIRS), about) == "proved"
