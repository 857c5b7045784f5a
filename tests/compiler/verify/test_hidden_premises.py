"""Kernels in which what rules of the prover silently take for granted does not hold."""

from __future__ import annotations

import pytest

from assay.proofs import KernelProof, ProofOptions, prove_source

_HEAD = """\
#include <metal_stdlib>
using namespace metal;
//! [kernel.k]
//! threadgroup = {threads}
kernel void k(device uint* y, device uint* c, constant uint& n, uint i [[thread_position_in_grid]],
              uint t [[thread_index_in_threadgroup]], uint g [[threadgroup_position_in_grid]],
              uint size [[threads_per_threadgroup]]) {{
    {body}
}}
"""


def _proof(
    body: str, *, threads: int = 64, lanes: bool = False, holds: tuple[str, ...] = ()
) -> KernelProof:
    options = ProofOptions(cache=False, offers=False, lanes=lanes, assume=holds)
    source = _HEAD.format(body=body, threads=threads)
    (proof,) = prove_source(source, "k.metal", options, workers=1)
    assert not proof.problem
    return proof


def _verdicts(proof: KernelProof) -> dict[str, str]:
    return {each.about: each.verdict for each in proof.answers}


CHOSEN = """\
uint a[4], b[8];
for (uint k = 0; k < 4; ++k) a[k] = c[i] + k;
for (uint k = 0; k < 8; ++k) b[k] = c[i] * k;
thread uint* p = c[0] ? a : b;
"""


@pytest.mark.parametrize("access", ["y[i] = p[n];", "p[n] = 1; y[i] = a[0] + b[0];"])
def test_a_pointer_to_one_of_two_own_arrays_is_not_proved_to_stay_inside(access: str) -> None:
    assert _verdicts(_proof(CHOSEN + access))["bounds"] != "proved"


_DIFFERENCE = "((ulong)y - (ulong)c)"
COMPUTED = {
    "by a mask": f"(ulong)c + ({_DIFFERENCE} & -(ulong)(n > 1))",
    "by a product": f"(ulong)c + {_DIFFERENCE} * n",
    "through an own array": "(ulong)c + own[n % 2]",
    "through the threadgroup": "(ulong)c + shared",
}


@pytest.mark.parametrize("place", COMPUTED.values(), ids=COMPUTED)
def test_a_pointer_that_is_computed_from_two_buffers_is_not_taken_for_one_of_them(
    place: str,
) -> None:
    own = f"ulong own[2] = {{0, {_DIFFERENCE}}}; threadgroup ulong shared;"
    own += f"if (t == 0) shared = {_DIFFERENCE}; threadgroup_barrier(mem_flags::mem_threadgroup);"
    proof = _proof(f"{own} device uint* d = (device uint*)({place}); y[i] = d[i + 1];")
    assert _verdicts(proof)["buffer races"] != "proved"


def test_a_pointer_that_is_computed_from_one_buffer_is_proved() -> None:
    proof = _proof("device uint* d = (device uint*)((ulong)c + 4 * (i & n)); y[i] = d[1];")
    assert _verdicts(proof)["buffer races"] == "proved"


@pytest.mark.parametrize(
    "pointer",
    [
        "constant uint* p = (constant uint*)((ulong)y + 4 * n);",
        "constant uint* q[2] = {(constant uint*)(ulong)y, &n}; constant uint* p = q[n & 1];",
    ],
)
def test_constant_memory_that_may_be_a_written_buffer_is_not_proved_to_be_another(
    pointer: str,
) -> None:
    assert _verdicts(_proof(f"{pointer} y[i] = p[i + 1];"))["buffer races"] != "proved"


def test_what_a_table_of_pointers_to_the_threadgroup_leads_to_is_not_taken_for_constant() -> None:
    arrays = "threadgroup uint a[64], b[64]; threadgroup uint* const p[2] = {a, b};"
    proof = _proof(f"{arrays} a[t] = i; b[t] = 0; y[i] = p[n & 1][63 - t];")
    assert _verdicts(proof)["threadgroup races"] != "proved"


SHARED_RACE = """\
threadgroup uint s[1];
if (t == 0) s[0] = 0;
threadgroup_barrier(mem_flags::mem_threadgroup);
if (t == 0) s[0] = 1;
y[128 * g + t + (s[0] & 1)] = t;
"""


def test_places_in_a_buffer_that_rest_on_what_races_are_not_proved_to_be_apart() -> None:
    verdicts = _verdicts(_proof(SHARED_RACE))
    assert verdicts["threadgroup races"] == "refuted"
    assert verdicts["buffer races"] == "undecided"
    barrier = "threadgroup_barrier(mem_flags::mem_threadgroup); y["
    assert _proof(SHARED_RACE.replace("y[", barrier)).is_proved


CHANGING = """\
uint v = c[g];
if (t == 5) c[g] = v + 1;
uint w = uint(float(v) * 0.75f) & 1;
"""


@pytest.mark.parametrize(
    ("use", "about"),
    [
        ("if (w) simdgroup_barrier(mem_flags::mem_threadgroup); y[i] = 1;", "barriers"),
        ("threadgroup uint s[33]; s[t + w] = t; y[i] = s[t];", "threadgroup races"),
    ],
)
def test_lanes_without_lock_step_do_not_read_one_number_of_what_others_write(
    use: str, about: str
) -> None:
    verdicts = _verdicts(_proof(CHANGING + use, threads=32, lanes=True))
    assert verdicts[about] != "proved"
    assert verdicts["buffer races"] == "refuted"


@pytest.mark.parametrize("index", ["(i * 268435457u) >> 20", "((i + 1) * 4294967291u) % 1024"])
def test_what_wraps_in_each_launch_is_not_taken_not_to(index: str) -> None:
    assert _verdicts(_proof(f"y[{index}] = i;"))["buffer races"] != "proved"


def test_that_threads_come_to_an_end_is_assumed_in_words() -> None:
    proof = _proof("y[i] = 1;")
    assert any("its threads come to an end" in each for each in proof.assumptions)


LEFT_AT_ONCE = """\
threadgroup uint u[64];
u[t] = t;
uint k = 0;
while (k < n) { k += 3; threadgroup_barrier(mem_flags::mem_threadgroup); }
uint v;
device atomic_uint* count = (device atomic_uint*)c;
if (c[3] == 0) { atomic_fetch_add_explicit(count, 1u, memory_order_relaxed); v = k; }
else if (c[3] == 1) { atomic_fetch_add_explicit(count + 1, 1u, memory_order_relaxed); v = k * 5; }
else { atomic_fetch_add_explicit(count + 2, 1u, memory_order_relaxed); v = k * 7; }
threadgroup_barrier(mem_flags::mem_threadgroup);
u[v == 0 ? 5 : t] = t;
y[i] = u[t];
"""


def test_what_merges_behind_a_loop_depends_on_when_that_was_left() -> None:
    assert _verdicts(_proof(LEFT_AT_ONCE))["threadgroup races"] == "refuted"


def test_tables_of_one_name_are_not_one_table() -> None:
    tables = (
        "namespace A { constant uint t[4] = {0, 1, 5, 9}; }\n"
        "namespace B { constant uint t[4] = {1, 0, 7, 2}; }\n"
    )
    body = "y[2 * i + A::t[n & 3]] = i; y[2 * i + 1 + B::t[n & 3]] = i;"
    source = _HEAD.format(body=body, threads=64).replace("//!", tables + "//!", 1)
    (proof,) = prove_source(source, "k.metal", ProofOptions(cache=False, offers=False), workers=1)
    assert _verdicts(proof)["buffer races"] == "refuted"


@pytest.mark.parametrize("own", ["float w; ", "float w; if (i > n) w = 3; ", "float w[2]; "])
def test_numbers_without_a_value_differ_between_threads(own: str) -> None:
    value = "w[1]" if "[" in own else "w"
    body = f"{own}((device float*)y)[0] = {value} * float(n);"
    assert _verdicts(_proof(body))["buffer races"] == "undecided"


def test_a_pointer_that_the_kernel_may_replace_leads_anywhere() -> None:
    source = """\
#include <metal_stdlib>
using namespace metal;
struct Args { device float* p; device float* q; };
//! [kernel.k]
//! threadgroup = 64
kernel void k(device const Args& args, uint i [[thread_position_in_grid]]) {
    if (i == 0) ((device Args&)args).p = args.q;
    threadgroup_barrier(mem_flags::mem_device);
    args.p[i] = i;
    args.q[i + 1] = 2;
}
"""
    options = ProofOptions(cache=False, offers=False, assume=("groups.x == 1",))
    (proof,) = prove_source(source, "k.metal", options, workers=1)
    assert _verdicts(proof)["buffer races"] == "undecided"


def test_atomics_of_other_widths_are_no_order_for_each_other() -> None:
    body = (
        "atomic_fetch_add_explicit((device atomic_uint*)y, 1u, memory_order_relaxed);"
        "atomic_max_explicit((device atomic_ulong*)y, ulong(i), memory_order_relaxed);"
    )
    assert _verdicts(_proof(body))["buffer races"] == "undecided"


LATER = """\
threadgroup uint a[64], b[64];
a[t] = t;
b[t] = 0;
threadgroup_barrier(mem_flags::mem_threadgroup);
for (uint i = 0; i < n; i++)
    for (uint j = 0; j < c[0]; j++) {
        FIRST else SECOND else if (j == 3) { b[t] += a[t ^ 32]; }
    }
y[i] = b[t];
"""
_WRITES = "if (j == 5) { threadgroup_barrier(mem_flags::mem_threadgroup); a[t] = i; }"
_WAITS = "if (j == 4) { threadgroup_barrier(mem_flags::mem_threadgroup); }"


@pytest.mark.parametrize(
    ("first", "second"),
    [(_WRITES, _WAITS), pytest.param(_WAITS, _WRITES, marks=pytest.mark.slow)],
)
def test_what_comes_later_in_one_iteration_says_nothing_of_another(first: str, second: str) -> None:
    body = LATER.replace("FIRST", first).replace("SECOND", second)
    assert _verdicts(_proof(body))["threadgroup races"] != "proved"


def test_threads_do_not_agree_on_what_has_no_value() -> None:
    own = "threadgroup uint s[128]; uint x; if (n > 5) x = 0;"
    barrier = "if (x < 5) threadgroup_barrier(mem_flags::mem_threadgroup);"
    assert _verdicts(_proof(f"{own} s[t] = t; {barrier}"))["barriers"] != "proved"
    raced = f"{own} s[t + (x & 1)] = t;"
    assert _verdicts(_proof(raced))["threadgroup races"] != "proved"


SIGNED = """\
threadgroup uint s[64];
s[t] = t;
threadgroup_barrier(mem_flags::mem_threadgroup);
int at = as_type<int>(n) {op};
y[i] = s[at];
"""


def test_a_negative_number_that_is_read_is_no_wrap() -> None:
    bounds = _verdicts(_proof(SIGNED.format(op="% 64")))["bounds"]
    assert bounds == "refuted"


@pytest.mark.parametrize(
    ("body", "about", "told"),
    [
        (
            SIGNED.format(op="+ 3").replace("s[at]", "s[min(at, 63)]"),
            "bounds",
            "what is computed here does not wrap, of numbers that are not negative",
        ),
        (
            "y[as_type<int>(n) / 3 * 64 + i] = 1;",
            "buffer races",
            "what is read here is not negative",
        ),
    ],
)
def test_a_proof_that_rests_on_numbers_without_sign_says_so(
    body: str, about: str, told: str
) -> None:
    (found,) = (each for each in _proof(body).answers if each.about == about)
    assert found.verdict == "proved"
    assert told in {each.why for each in found.rests_on}


BEHIND_LOOP = """\
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* y, uint2 i [[thread_position_in_grid]],
              uint2 t [[thread_position_in_threadgroup]]) {
    threadgroup float s[10][10];
    for (uint k = t.y * 8 + t.x; k < 100; k += 64) s[k / 10][k % 10] = 1;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint row = t.y + 1, column = t.x + 1;
    y[i.y * 16 + i.x] = s[row][column - 2];
}
"""


@pytest.mark.parametrize(
    "body",
    [
        "if (i < n) y[(i - 1) % n] = t;",
        "if (g < n) y[g * 64 + (t - 1) % 63] = t;",
        "for (uint k = 0; k < n; ++k) y[g * 64 + (t - 1) % 63] = t + k;",
    ],
)
def test_what_wraps_wherever_somebody_comes_is_not_taken_not_to_wrap(body: str) -> None:
    assert _verdicts(_proof(body))["buffer races"] != "proved"


DEAD = """\
threadgroup uint s[64];
if (size == 32) threadgroup_barrier(mem_flags::mem_threadgroup);
if (n >= 8) s[t / 8 * n + t % 8] = 0;
threadgroup_barrier(mem_flags::mem_threadgroup);
s[t / 8 * n + t % 8] = t;
y[i] = s[t / 8 * n + t % 8];
"""


def test_what_holds_where_nobody_comes_is_not_said_of_other_places() -> None:
    found = _verdicts(_proof(DEAD, holds=("groups.x == 1", "n <= 8")))
    assert found["threadgroup races"] == "refuted"


def test_what_wraps_in_each_launch_is_not_taken_not_to_wrap_behind_a_loop() -> None:
    options = ProofOptions(cache=False, offers=False, threadgroup=(8, 8, 1))
    (proof,) = prove_source(BEHIND_LOOP, "k.metal", options, workers=1)
    assert _verdicts(proof)["bounds"] == "refuted"


IGNORED = """\
#include <metal_stdlib>
using namespace metal;
SETUP
kernel void k(device uint* y, device const uint* x, constant uint& w,
              uint2 p [[thread_position_in_grid]]) {
    uint z = p.y;
    BODY
}
"""
FOLDED = "for (uint j = 0; j < 32; ++j) z >>= 1; if (x[p.x] == 12345) y[p.x + z] += 1;"


def _of_grid(body: str, setup: str = "") -> KernelProof:
    options = ProofOptions(cache=False, offers=False, threadgroup=(64, 1, 1))
    source = IGNORED.replace("SETUP", setup).replace("BODY", body)
    (proof,) = prove_source(source, "k.metal", options, workers=1)
    assert not proof.problem
    return proof


def test_a_dimension_that_the_optimiser_sees_not_to_matter_is_asked_about() -> None:
    assert _verdicts(_of_grid(FOLDED))["buffer races"] != "proved"


def test_a_grid_that_is_stated_has_its_size_in_dimensions_that_do_not_matter() -> None:
    body = "if (p.x < w) y[(z % 1) * w + p.x] += 1;"
    assert _verdicts(_of_grid(body))["buffer races"] == "proved"
    stated = "//! [kernel.k]\n//! threads = [64, 2]"
    assert _verdicts(_of_grid(body, stated))["buffer races"] == "refuted"


@pytest.mark.parametrize("made", ["y[0]", "popcount(y[0])", "uint(float(y[0]))"])
def test_lanes_agree_on_nothing_that_they_make_of_racing_reads(made: str) -> None:
    body = f"threadgroup uint s[32]; uint v = {made}; s[(v + t) & 31] = t; y[0] = i;"
    assert _verdicts(_proof(body, threads=32))["threadgroup races"] != "proved"


GROUPS = """\
#include <metal_stdlib>
using namespace metal;
struct Groups { uint x, y, z; };
kernel void k(device uint* y, constant Groups& groups, uint i [[thread_position_in_grid]]) {
    if (groups.x == 3) y[0] = i; else y[i] = i;
}
"""


def test_an_assumption_that_may_mean_the_grid_or_an_argument_is_refused() -> None:
    options = ProofOptions(cache=False, offers=False, assume=("groups.x == 2",))
    (proof,) = prove_source(GROUPS, "k.metal", options, workers=1)
    assert "may mean the grid, or an argument" in proof.problem


_TWICE = """\
#include <metal_stdlib>
using namespace metal;
kernel void k(device const float* x, device float* y, device float* z,
              uint i [[thread_position_in_grid]], uint t [[thread_index_in_threadgroup]],
              uint g [[threadgroup_position_in_grid]]) {{
    float a = x[3 * g], b = x[3 * g + 1], c = x[3 * g + 2];
    {body}
}}
"""
_FUSED = "y[g] = a * (b + 0.0f) + c;"
_PRODUCTS = "for (uint k = 0; k < 2; ++k) z[2 * i + k] = a * (b + float(k));"


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("body", "is_proved"),
    [
        # Where the product is needed for something else, it is rounded by itself.
        (f"if (t == 0) {{ {_PRODUCTS} {_FUSED} }} if (t == 40) {{ {_FUSED} z[2 * i] = 1; }}", 0),
        (f"if (t == 0) {{ {_PRODUCTS} }} if (t == 0 || t == 40) {{ {_FUSED} }}", 1),
        # Loops may be unrolled or peeled, and each copy has other neighbours.
        (
            "for (uint n = 0; n < 4; ++n) { if (x[n] > 3) break; float v = a * x[g + n / 4] + c;"
            " if (n == (x[g] > 1 ? t % 4 : t % 3)) y[g] = v; }",
            0,
        ),
        (
            "for (uint n = 0; n < 4; ++n) { float s = 0; for (uint m = 0; m < t / 64 + 9; ++m)"
            " s += x[m] * x[m + 1]; if (n == t % 4) y[g] = s; }",
            0,
        ),
        ("float s = 0; for (uint m = 0; m < 9; ++m) s += x[m] * x[m + 1]; y[g] = s;", 1),
        # Quotients may be products with an inverse that others need, too, and sums of sums and
        # products of products be made in another order.
        *(
            (f"if (t == 0) y[g] = {of}; if (t == 40) {{ y[g] = {of}; z[2 * i] = 1; }}", is_proved)
            for of, is_proved in {
                "a / b": 0,
                "a * b * c": 0,
                "(a + 1) * b": 0,
                "fabs(a * b) + c": 0,
                "a + b + c": 0,
                "a * b": 1,
                "a + b": 1,
                "fma(a, b, c)": 1,
            }.items()
        ),
        ("if (t == 0) y[g] = half(a); if (t == 40) { y[g] = half(a); z[2 * i] = 1; }", 1),
    ],
)
def test_sums_that_may_be_fused_are_the_same_in_one_instruction_alone(
    body: str, is_proved: bool
) -> None:
    options = ProofOptions(cache=False, threadgroup=(64, 1, 1), offers=False)
    source = _TWICE.format(body=body)
    (proof,) = prove_source(source, "k.metal", options, workers=1)
    assert (_verdicts(proof)["buffer races"] == "proved") == is_proved
