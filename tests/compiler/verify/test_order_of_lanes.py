"""What rests on the order of a simdgroup's lanes, which compilers do not keep, is no proof."""

from __future__ import annotations

import pytest

from assay.proofs import ProofOptions, prove_source

_HEAD = """\
#include <metal_stdlib>
using namespace metal;
kernel void k(device uint* y, constant uint& p, constant uint& q,
              uint t [[thread_index_in_threadgroup]],
              uint i [[thread_position_in_grid]], uint g [[threadgroup_position_in_grid]],
              uint lane [[thread_index_in_simdgroup]],
              uint sg [[simdgroup_index_in_threadgroup]]) {
    threadgroup uint s[64];
    threadgroup uint z[64];
"""
_B = "threadgroup_barrier(mem_flags::mem_threadgroup);"
_S = "simdgroup_barrier(mem_flags::mem_threadgroup);"
_FLAG = f"if (t == 0) s[0] = 0; {_B} if (t == 0) s[0] = 1;"
_SAME = f"s[t] = t; z[t] = 0; {_B} if (p >= 32 || q >= 32) return; uint v = s[p];"
_WRONG = "if (p == q && v != w) z[0] = t;"
# To a compiler, a thread is alone between barriers.
IN_ORDER = {
    "initialised": [
        "if (t < 16) s[t] = i; {} if (t >= 16) y[i] = s[31 - t];",
        f"if (t == 0) s[32] = 0; {_B} uint all = 0; for (uint n = 0; n < p; ++n) {{{{"
        f" (s + t)[0] = n; {{}} all += (s + t)[1]; {{}} }}}} y[i] = all;",
    ],
    "barriers": [f"{_FLAG} {{}} if (s[0] == 1) {_B} y[i] = 1;"],
    "threadgroup races": [
        f"{_FLAG} {{}} uint v = s[0]; z[v == 1 ? t : 31 - t] = t;",
    ],
    "buffer races": [f"{_FLAG} {{}} uint v = s[0]; y[32 * g + (v == 1 ? t : 31 - t)] = t;"],
}
_OF_EACH = f"if (lane == 0) s[sg] = 0; {_B} if (lane == 0) s[sg] = 1;"
_MADE = "uint v = uint(float(s[sg])), at = v == 1 ? lane : 31 - lane;"
"""Of which the solver knows no more than that lanes of a simdgroup agree on it."""
OF_SIMDGROUPS = {
    "barriers": [f"{_OF_EACH} {{}} {_MADE} if (v == 1) {_S} y[i] = 1;"],
    "threadgroup races": [f"{_OF_EACH} {{}} {_MADE} z[32 * sg + at] = t;"],
    "buffer races": [f"{_OF_EACH} {{}} {_MADE} y[i - lane + at] = t;"],
}
CASES = [(about, body) for about, bodies in IN_ORDER.items() for body in bodies]
CASES += [(about, body) for about, bodies in OF_SIMDGROUPS.items() for body in bodies]
READS = [
    f"{_SAME} if (t >= 16) {{{{ uint w = s[q]; {_WRONG} }}}} {{}} if (t < 16) s[p] = 99;",
    f"{_SAME} for (uint n = 0; n < 4; ++n) {{{{ v = s[p]; {{}}"
    f" if (t < 8 + n) {{{{ s[p] = 99; break; }}}} uint w = s[q]; {_WRONG} }}}}",
]


def _verdict(body: str, about: str) -> str:
    size = 64 if "sg" in body else 32
    options = ProofOptions(cache=False, threadgroup=(size, 1, 1), offers=False)
    (proof,) = prove_source(f"{_HEAD}{body}}}\n", "k.metal", options, workers=1)
    return next(each.verdict for each in proof.answers if each.about == about)


@pytest.mark.parametrize(("about", "body"), CASES)
def test_without_a_barrier_lanes_do_not_find_what_others_wrote_before(
    about: str, body: str
) -> None:
    assert _verdict(body.format("", ""), about) != "proved"
    assert _verdict(body.format(_S, _S), about) == "proved"


@pytest.mark.parametrize("body", READS)
def test_reads_find_the_same_only_if_no_lane_writes_there_between_barriers(body: str) -> None:
    assert _verdict(body.format(""), "threadgroup races") != "proved"


@pytest.mark.parametrize(
    "body",
    [
        f"if (lane < 16) {_S} y[i] = 1;",
        f"for (uint n = 0; n < lane; ++n) {_S} y[i] = 1;",
        f"if (lane == p) return; {_S} y[i] = 1;",
    ],
)
def test_lanes_have_to_come_to_the_same_barriers_of_the_simdgroup(body: str) -> None:
    assert _verdict(body, "barriers") == "refuted"


def test_simdgroups_need_not_come_to_the_same_ones() -> None:
    assert _verdict(f"if (t / 32 == p) {_S} y[i] = 1;", "barriers") == "proved"


@pytest.mark.parametrize(
    ("body", "is_proved"),
    [
        ("if (t < 16) s[t + 16] = 7; else y[i] = s[t];", False),
        ("if (t < 16) s[t + 16] = 7; else y[i] = s[t - 16];", True),
        (f"if (t < 16) s[t + 16] = 7; {_S} if (t >= 16) y[i] = s[t];", True),
    ],
)
def test_of_two_sides_of_a_branch_neither_is_in_front(body: str, is_proved: bool) -> None:
    assert (_verdict(body, "threadgroup races") == "proved") is is_proved
