"""What only lock step keeps in order, and what a simdgroup does as a whole."""

from __future__ import annotations

import pytest

from assay.proofs import KernelProof, ProofOptions, prove_source

_HEAD = """\
#include <metal_stdlib>
using namespace metal;
struct _simdgroup_event_t;
thread _simdgroup_event_t* copy_in(ulong, ulong, threadgroup void*, const device void*, ulong)
    __asm("air.simdgroup_async_copy_1d.p3i8.p1i8");
thread _simdgroup_event_t* copy_out(ulong, ulong, device void*, const threadgroup void*, ulong)
    __asm("air.simdgroup_async_copy_1d.p1i8.p3i8");
thread _simdgroup_event_t* copy_tile(ulong, ulong, threadgroup void*, ulong, ulong, ulong2,
                                     const device void*, ulong, ulong, ulong2, long2, int)
    __asm("air.simdgroup_async_copy_2d.p3i8.p1i8");
void wait(int, thread _simdgroup_event_t**) __asm("air.wait_simdgroup_events");
#define ALL threadgroup_barrier(mem_flags::mem_threadgroup)
#define LANES simdgroup_barrier(mem_flags::mem_threadgroup)
"""
_KERNEL = """\
//! [kernel.k]
//! threadgroup = {threads}
//! threads = {threads}
//! arguments.x = {{ shape = 256, fill = "random" }}
//! arguments.y = {{ shape = 256, fill = "zeros" }}
//! arguments.n = 16
// assay: assume(groups.x == 1)
kernel void k(device const float* x, device uint* y, constant uint& n,
              uint t [[thread_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]],
              uint sg [[simdgroup_index_in_threadgroup]]) {{
    thread _simdgroup_event_t* e;
    {body}
}}
"""


def _proof(body: str, *, threads: int = 32, lanes: bool = False, x: str = "") -> KernelProof:
    options = ProofOptions(cache=False, offers=False, lanes=lanes, buffers={"x": x} if x else {})
    source = _HEAD + _KERNEL.format(body=body, threads=threads)
    (proof,) = prove_source(source, "k.metal", options, workers=1)
    assert not proof.problem
    return proof


def _verdict(proof: KernelProof, about: str) -> str:
    return next(each.verdict for each in proof.answers if each.about == about)


# -- stores ---------------------------------------------------------------------------------------

STORES = {
    "of some lanes over those of all": "s = 0; if (t < 5) s = 1; y[t] = s;",
    "of two branches": "if (t < 5) s = 1; else s = 2; ALL; y[t] = s;",
    "of iterations": "for (uint j = 0; j <= t; ++j) s = j; ALL; y[t] = s;",
    "of one lane and then another": "s = 3; if (t == 0) s = 0; if (t == 3) s = 7; ALL; y[t] = s;",
    "of sums": "s = 0; if (t < 5) s += 1; else s += 2; ALL; y[t] = s;",
}


# To other places, but no thread makes both, so that a compiler makes one with a place of its own.
CHOSEN = {
    "of two branches": "if (t < 16) s[t] = 1; else s[t - 16] = 2;",
    "of tests that exclude each other": "if (t < 5) s[t] = 1; if (t >= 5) s[t - 5] = 2;",
    "of iterations of which a lane is in one": "for (uint j = 0; j < 2; ++j)"
    "if ((t & 1) == j) s[t / 2 + j * 4] = j;",
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("body", CHOSEN.values(), ids=CHOSEN)
def test_stores_of_which_a_thread_makes_one_are_not_ordered_by_lock_step(body: str) -> None:
    proof = _proof(f"threadgroup uint s[32]; {body} ALL; y[t] = s[t & 3];")
    assert _verdict(proof, "threadgroup races") != "proved"


# A thread alone finds them in places of their own, so that a compiler may swap or join them.
NEIGHBOURS = {
    "two": "s[t] = 0; if (lane < 28) s[t + 4] = 1;",
    "four in a row": "s[t] = 1; s[t + 1] = 2; s[t + 2] = 3; s[t + 3] = 4;",
    "of iterations": "for (uint j = 0; j < 4; ++j) s[t + j] = j;",
}


@pytest.mark.parametrize("body", NEIGHBOURS.values(), ids=NEIGHBOURS)
def test_stores_that_are_to_other_places_for_each_lane_are_not_ordered_by_lock_step(
    body: str,
) -> None:
    proof = _proof(f"threadgroup uint s[36]; {body} ALL; y[t] = s[t];")
    assert _verdict(proof, "threadgroup races") != "proved"


# Lanes that part go each their way until they meet: which one first nothing says.
PARTED = {
    "behind a break": "for (uint j = 0; j < 4; ++j) {"
    " if (t % 4 == j) { s[t] = 1; break; } v += s[t ^ 1]; }",
    "behind half a condition": "if (t < 8 || (s[t % 8] = 1, t < 16)) v = s[t];",
    "behind a case that falls through": "switch (t % 3) {"
    " case 0: s[31 - t] = 1; case 1: v = s[t]; break; default: v = 9; }",
    "of one statement in two turns": "for (uint j = 0; j < 4; ++j) {"
    " if (t % 4 != j) v += 1; else { s[t & 1] = j; break; } }",
    "behind a return": "if (t < 16) { if (t == n) return; s[t] = 1; } if (t >= 16) v = s[t - 16];",
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("body", PARTED.values(), ids=PARTED)
def test_what_lanes_do_before_they_meet_again_is_in_no_order(body: str) -> None:
    proof = _proof(f"threadgroup uint s[32]; uint v = 0; s[t] = 0; ALL; {body} y[t] = v;")
    assert _verdict(proof, "threadgroup races") != "proved"


TOGETHER = {
    "on one side": "if (t < 16) { v = s[t ^ 1]; s[t] = v; }",
    "in each iteration": "for (uint j = 0; j < t; ++j) { v += s[t ^ 1]; s[t] = v; }",
    "behind a return": "if (t >= n) return; v = s[t ^ 1]; s[t] = v;",
    "before they part": "v = s[t ^ 1]; if (t < 9) s[t] = v; else s[t] = 1;",
}


@pytest.mark.parametrize("body", TOGETHER.values(), ids=TOGETHER)
def test_what_all_lanes_of_one_side_do_is_in_order(body: str) -> None:
    proof = _proof(f"threadgroup uint s[32]; uint v = 0; s[t] = 0; ALL; {body} y[t] = v;")
    assert _verdict(proof, "threadgroup races") == "proved"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("body", STORES.values(), ids=STORES)
def test_stores_of_lanes_to_one_place_race_though_one_comes_first_in_the_program(body: str) -> None:
    proof = _proof(f"threadgroup uint s; {body}")
    assert _verdict(proof, "threadgroup races") == "refuted"
    assert proof.findings


def test_stores_of_lanes_to_one_place_of_a_buffer_race_as_well() -> None:
    assert _verdict(_proof("y[0] = 0; if (t < 5) y[0] = 1;"), "buffer races") == "refuted"


ORDERED = {
    "by one of the simdgroup": "s[sg] = 0; LANES; if (lane == 5) s[sg] = 1; ALL; y[t] = s[sg];",
    "by a barrier": "s[sg] = 0; ALL; if (lane == 5) s[sg] = 1; ALL; y[t] = s[sg];",
    "as each thread has its own": "s[t] = t; if (t < 9) s[t] = 1; ALL; y[t] = s[63 - t];",
    "as they store the same": "s[sg] = n; if (lane < 9) s[sg] = n; ALL; y[t] = s[sg];",
}


@pytest.mark.parametrize("body", ORDERED.values(), ids=ORDERED)
def test_stores_that_are_ordered_by_more_than_lock_step_are_proved(body: str) -> None:
    assert _proof(f"threadgroup uint s[64]; {body}", threads=64).is_proved


def test_what_lanes_read_of_each_other_is_no_race_in_lock_step_but_may_be_read_too_soon() -> None:
    tree = (
        "threadgroup uint s[32]; s[t] = t; {0} if (t < 16) s[t] += s[t + 16]; {0}"
        " if (t < 8) s[t] += s[t + 8]; y[t] = s[t];"
    )
    # To a compiler, no thread reads what it wrote itself: it may read first.
    unordered = _proof(tree.format(""))
    assert _verdict(unordered, "threadgroup races") == "proved"
    assert _verdict(unordered, "initialised") != "proved"
    racing = _proof(tree.format(""), lanes=True)
    assert _verdict(racing, "threadgroup races") == "refuted"
    assert _proof(tree.format("LANES;")).is_proved


def test_barriers_of_the_simdgroup_that_some_lanes_skip_order_no_stores() -> None:
    proof = _proof("threadgroup uint s; s = 0; if (t < 7) LANES; if (t == 9) s = 1; ALL; y[t] = s;")
    assert _verdict(proof, "threadgroup races") != "proved"


def test_the_optimised_reading_takes_no_lock_step_for_granted() -> None:
    """To the optimiser a thread is alone, so that it makes one of both iterations."""
    taken = "for (uint j = 0; j < 2; ++j) if ((t & 1) == j) { a = s; s = 1; } if (a) ALL;"
    proof = _proof(f"threadgroup uint s; s = 0; ALL; uint a = 0; {taken}")
    assert _verdict(proof, "barriers") != "proved"


# -- copies and matrices --------------------------------------------------------------------------

_INTO = "e = copy_in(4, 4, s, x, 32); wait(1, &e);"


def _tile(to_row: int) -> str:
    return (
        "threadgroup float s[256]; if (sg == 0) {"
        f"e = copy_tile(4, 4, s, {to_row}, 1, ulong2(48, 2), x, 48, 1, ulong2(48, 2), long2(0), 0);"
        "wait(1, &e); } ALL; y[t] = s[t];"
    )


@pytest.mark.sampled(2)
@pytest.mark.parametrize("row", [0, 8, 16, 47])
def test_a_copy_whose_rows_overlap_races_with_itself(row: int) -> None:
    assert _verdict(_proof(_tile(row)), "threadgroup races") != "proved"


def test_a_copy_of_rows_beside_each_other_is_proved() -> None:
    assert _verdict(_proof(_tile(48)), "threadgroup races") == "proved"


def test_a_copy_by_part_of_a_simdgroup_is_not_proved_to_stay_inside() -> None:
    few = _proof(f"threadgroup float s[16]; {_INTO} y[t] = s[t];", threads=16, x="64")
    assert _verdict(few, "bounds") != "proved"
    one = _proof(f"threadgroup float s[1]; if (t == 0) {{ {_INTO} }}", x="4")
    assert _verdict(one, "bounds") != "proved"
    some = f"threadgroup float s[64]; if (sg == 1) {{ {_INTO} }} else if (lane >= 16) s[lane] = 3;"
    assert _verdict(_proof(some, threads=48), "threadgroup races") != "proved"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("who", ["sg == 0", "t < 32", "t / 32 == 0", "n > 3"])
def test_a_copy_by_whole_simdgroups_is_proved_to_stay_inside(who: str) -> None:
    body = f"threadgroup float s[32]; if ({who}) {{ {_INTO} }}"
    assert _verdict(_proof(body, threads=64, x="128"), "bounds") == "proved"


def test_a_matrix_by_part_of_a_simdgroup_is_not_proved_to_stay_inside() -> None:
    store = "simdgroup_store(make_filled_simdgroup_matrix<float, 8, 8>(1), s, 8);"
    assert _verdict(_proof(f"threadgroup float s[64]; {store}"), "bounds") == "proved"
    few = _proof(f"threadgroup float s[32]; {store}", threads=16)
    assert _verdict(few, "bounds") != "proved"
    one = _proof(f"threadgroup float s[8]; if (lane == 0) {store}")
    assert _verdict(one, "bounds") != "proved"


@pytest.mark.parametrize(
    "before", [pytest.param("s[t] = t;", marks=pytest.mark.slow), "s[t ^ 1] = t;"]
)
def test_without_lock_step_a_copy_is_not_ordered_with_what_a_lane_did_before(before: str) -> None:
    body = f"threadgroup uint s[32]; {before} {{}} e = copy_out(4, 4, y, s, 32); wait(1, &e);"
    assert _verdict(_proof(body.format("LANES;"), lanes=True), "threadgroup races") == "proved"
    assert _verdict(_proof(body.format(""), lanes=True), "threadgroup races") != "proved"
