"""Barriers that are redundant, and those that only seem so."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from assay.compiler.msl import compile_library
from assay.compiler.verify import Launch
from assay.compiler.verify.assumed.contents import Contents
from assay.compiler.verify.assumed.launch import assumed_of
from assay.compiler.verify.rings import Need, rings_of
from assay.compiler.verify.rings.redundant import needs_of
from assay.proofs.names import names_of
from assay.sim.site import Site

from .sources import NO_RACES

_HEAD = """\
#include <metal_stdlib>
using namespace metal;
#define PUT(p, v) atomic_store_explicit(&(p), v, memory_order_relaxed)
#define GET(p) atomic_load_explicit(&(p), memory_order_relaxed)
#define ADD(p, v) atomic_fetch_add_explicit(&(p), v, memory_order_relaxed)
#define DEVICE threadgroup_barrier(mem_flags::mem_device)
#define ALL threadgroup_barrier(mem_flags::mem_threadgroup)
void sync() { ALL; }
kernel void k(device atomic_uint* part, device atomic_uint* flag, device uint* plain,
              device const uint* given, device uint* out,
              uint group [[threadgroup_position_in_grid]], uint groups [[threadgroups_per_grid]],
              uint t [[thread_index_in_threadgroup]]) {
    threadgroup uint s[64];
    uint i = group * 64 + t, v = 0;
"""


def _needs(body: str, *holds: str) -> tuple[Need, ...]:
    kernel = compile_library(f"{_HEAD}{body}\n}}").function("k")
    launch = Launch(size=(64, 1, 1), names=names_of(kernel), holds=holds)
    return rings_of(kernel.program(), launch, NO_RACES).needs


def _redundant(body: str, *holds: str) -> list[bool]:
    return [each.is_redundant for each in _needs(body, *holds)]


_MESSAGE = """\
if (group == 0) { PUT(part[t], 1u); DEVICE; if (t == 0) PUT(flag[0], 1u); }
else { v = 2 * GET(flag[0]); v += GET(part[t]); out[i] = v; }
"""
HANDED_OVER = {
    "a message": _MESSAGE,
    "the answer to a message": """\
if (group == 0) { PUT(part[t], 1u); PUT(flag[0], 1u); }
else { if (t == 0) v = GET(flag[0]); DEVICE; out[i] = v + GET(part[t]); }
""",
    "plain data": "plain[i] = t; DEVICE; if (t == 0) ADD(flag[0], 1u);",
    "plain data that is read when a counter says so": """\
if (t == 0) while (GET(flag[0]) < groups) {}
DEVICE; out[i] = plain[i]; plain[i] = 3;
""",
    "with a barrier that names other memory": _MESSAGE.replace("DEVICE", "ALL"),
    "in a loop": """\
for (uint k = 0; k < 4; ++k) { if (t == 0) PUT(flag[group], k); DEVICE; PUT(part[i], k); }
""",
}


@pytest.mark.parametrize("body", HANDED_OVER.values(), ids=HANDED_OVER)
def test_a_barrier_that_orders_atomics_for_other_threadgroups_is_not_redundant(body: str) -> None:
    assert _redundant(body) == [False]


def test_neither_barrier_of_a_barrier_of_the_grid_is_redundant() -> None:
    body = """\
PUT(part[i], t + 1); DEVICE;
if (t == 0) { ADD(flag[0], 1u); while (GET(flag[0]) < groups) {} }
DEVICE; out[i] = GET(part[(group + 1 < groups ? group + 1 : 0) * 64 + 63 - t]);
"""
    assert _redundant(body) == [False, False]


def test_a_barrier_between_atomics_of_one_threadgroup_on_different_memory_is_redundant() -> None:
    assert _redundant(_MESSAGE, "groups.x == 1") == [True]


def test_a_barrier_between_reads_of_what_nobody_writes_and_atomics_is_redundant() -> None:
    assert _redundant("v = given[i]; DEVICE; ADD(part[v], 1u);") == [True]


def test_a_barrier_of_which_another_orders_the_atomics_is_redundant() -> None:
    body = "PUT(part[i], t); DEVICE; v = given[i]; DEVICE; ADD(flag[0], v);"
    assert _redundant(body) == [True, True]


BETWEEN = {
    "that write the same place": "s[t] = t; ALL; plain[t] = s[63 - t];",
    "of which one reads what the other wrote": """\
if (group == 0) plain[t] = 1u; else v = plain[t];
ALL; out[i] = v;
""",
}


@pytest.mark.parametrize("body", BETWEEN.values(), ids=BETWEEN)
def test_no_barrier_is_called_redundant_where_threadgroups_race(body: str) -> None:
    assert _needs(body) == ()


def test_where_there_is_one_threadgroup_none_race() -> None:
    assert _redundant("s[t] = t; ALL; plain[t] = s[63 - t];", "groups.x == 1") == [False]


def test_a_barrier_is_redundant_only_as_long_as_threadgroups_do_not_race() -> None:
    # The product of a size that is not known may wrap.
    body = "uint n = groups; ALL;\nif (t == 0) plain[group * n * 64] = 1u;"
    (need,) = _needs(body)
    assert need.is_redundant
    assert [each.line - _HEAD.count("\n") for each in need.rests_on] == [2]


def test_what_is_assumed_of_numbers_in_buffers_counts_where_threadgroups_might_race() -> None:
    source = f"{_HEAD} plain[given[i]] = i; ALL; }}"
    kernel = compile_library(source).function("k")
    names, size = names_of(kernel), (64, 1, 1)
    launch = Launch(size=size, names=names, holds=("distinct(given)",))

    def needs(contents: Contents | None) -> list[Need]:
        return needs_of(
            kernel.program(), size, lambda other: assumed_of(other, launch), contents=contents
        )

    assert needs(None) == []
    assert [each.is_redundant for each in needs(names.contents(launch.holds, {}))] == [True]


def test_a_barrier_of_a_function_is_redundant_only_if_all_its_calls_are() -> None:
    (need,) = _needs("sync(); s[t] = t; sync(); out[i] = s[63 - t];")
    assert need.site.line == _HEAD[: _HEAD.index("void sync")].count("\n") + 1
    assert not need.is_redundant


def test_calls_of_a_barrier_that_cannot_go_together_are_no_rivals() -> None:
    (need,) = _needs("s[t] = t; sync(); sync(); out[i] = s[63 - t];")
    assert not need.is_redundant
    assert need.not_with == ()


def test_a_barrier_of_a_function_that_no_call_needs_is_redundant() -> None:
    (need,) = _needs("sync(); s[t] = t; sync(); out[i] = s[t];")
    assert need.is_redundant


def _companies(body: str) -> list[tuple[list[int], list[int], list[int]]]:
    """For each redundant barrier the lines of those that can go with it, and that cannot."""
    first = _HEAD.count("\n") + 1

    def lines(some: Iterable[Site]) -> list[int]:
        return [each.line - first for each in some]

    return [
        (lines(need.together), lines(need.not_with), lines(need.not_with_all))
        for need in _needs(body)
        if need.is_redundant
    ]


def test_two_of_three_barriers_in_a_row_can_go_but_not_all() -> None:
    found = _companies("s[t] = t; ALL;\nALL;\nALL; out[i] = s[63 - t];")
    assert found == [([1], [], []), ([0], [], []), ([], [], [0, 1])]


def test_barriers_of_which_none_is_needed_can_all_go_at_once() -> None:
    body = "".join(f"ALL; v += given[{n}];\n" for n in range(6))
    every = list(range(6))
    assert _companies(f"{body} out[i] = v;") == [
        ([other for other in every if other != each], [], []) for each in every
    ]


def test_of_more_barriers_than_are_tried_in_pairs_a_set_that_can_go_is_told() -> None:
    body = "ALL;\nALL;\nALL;\nALL;\ns[t] = t; ALL;\nALL; out[i] = s[63 - t];"
    found = _companies(body)
    assert [each[0] for each in found[:5]] == [
        [other for other in range(5) if other != each] for each in range(5)
    ]
    assert found[4:] == [([0, 1, 2, 3], [5], []), ([], [4], [])]


@pytest.mark.parametrize(
    ("body", "redundant"),
    [
        ("s[t] = 0; ALL; s[t] = given[i]; ALL; out[i] = s[t ^ 1];", [True, False]),
        ("s[t] = given[i]; ALL; v = s[t ^ 1]; ALL; s[t] = v; out[i] = s[t];", [False, False]),
    ],
)
def test_a_barrier_is_not_redundant_because_lanes_run_in_lock_step(
    body: str, redundant: list[bool]
) -> None:
    assert _redundant(body) == redundant
