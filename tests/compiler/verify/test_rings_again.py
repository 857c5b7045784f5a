"""Rings whose loop is come to more than once, and what reaches their arrays by other ways."""

from __future__ import annotations

import pytest

from assay.compiler.msl import compile_library
from assay.compiler.verify import Launch
from assay.compiler.verify.rings import Rings, rings_of, rotations_of
from assay.proofs.names import names_of

from .sources import NO_RACES

_HEAD = """\
#include <metal_stdlib>
using namespace metal;
#define ALL threadgroup_barrier(mem_flags::mem_threadgroup)
#define TURNS for (uint k = 0; k < n; ++k) { \\
    if (k + 1 < n) a[(k + 1) % 2][t] = x[(k + 1 + off) * 64 + t]; \\
    BEFORE sum += a[k % 2][63 - t]; ALL; }
#define BEFORE
kernel void k(device const float* x, device float* y, device atomic_uint* c, constant uint& n,
              constant uint& m, uint t [[thread_index_in_threadgroup]],
              uint i [[thread_position_in_grid]]) {
    threadgroup float a[2][64];
    threadgroup float b[128];
    float sum = 0;
    uint off = 0;
"""
_LOAD = "a[0][t] = x[t]; ALL;"
RIGHT = {
    "once": f"{_LOAD} TURNS",
    "loaded again each time": f"uint o = 0; do {{ {_LOAD} TURNS }} while (++o < m);",
}
STALE = {
    "loaded once for many times": f"{_LOAD} uint o = 0; do {{ ALL; TURNS }} while (++o < m);",
    "written behind the loop": f"{_LOAD} uint o = 0;"
    "do { ALL; TURNS a[0][t] = 7; ALL; } while (++o < m);",
    "by a pointer that is chosen": f"b[t] = 0; b[t + 64] = 0; {_LOAD}\n"
    "#undef BEFORE\n#define BEFORE ALL; threadgroup float* p = m > 3 ? &a[0][0] : b; p[t] = 7; ALL;"
    "\nTURNS",
    "by a pointer that is chosen before": f"b[t] = 0; {_LOAD}"
    "threadgroup float* p = b; if (m > 3) p = &a[0][0]; p[t] = 7; ALL; TURNS",
    "through what settles": "a[0][t] = x[m * 64 + t]; ALL;\n"
    "#undef BEFORE\n#define BEFORE off = m;\nTURNS",
}
_HOLDS = ("n > 2", "n <= 1000000", "1 < m", "m <= 1000000")


def _rings(body: str, *, needs: bool = False) -> Rings:
    kernel = compile_library(f"{_HEAD}{body}\ny[i] = sum; }}").function("k")
    launch = Launch(size=(64, 1, 1), names=names_of(kernel), holds=_HOLDS)
    if needs:
        return rings_of(kernel.program(), launch, NO_RACES)
    return Rings(rotations=tuple(rotations_of(kernel.program(), launch, NO_RACES)))


def _are_in_order(body: str) -> list[bool]:
    rotations = _rings(body).rotations
    return [each.tiles is not None and each.tiles.are_in_order for each in rotations]


@pytest.mark.parametrize("body", RIGHT.values(), ids=RIGHT)
def test_tiles_that_are_loaded_whenever_the_loop_begins_are_in_order(body: str) -> None:
    assert _are_in_order(body) == [True]


@pytest.mark.parametrize("body", STALE.values(), ids=STALE)
def test_tiles_that_something_else_may_replace_are_not(body: str) -> None:
    assert True not in _are_in_order(body)


ATOMIC = {
    "in a loop": "for (uint k = 0; k < 4; ++k) { q = ADD; BARRIER; }",
    "in some iterations": "for (uint k = 0; k < 4; ++k) { q = ADD; if (k == 0) BARRIER; }",
    "that names other memory": "for (uint k = 0; k < 4; ++k) { q = ADD;"
    "threadgroup_barrier(mem_flags::mem_threadgroup); }",
    "in a loop within": "for (uint k = 0; k < 4; ++k) {"
    "for (uint j = 0; j < 3; ++j) q = ADD; BARRIER; }",
}


@pytest.mark.parametrize("body", ATOMIC.values(), ids=ATOMIC)
def test_the_only_barrier_of_a_loop_with_atomics_is_not_called_redundant(body: str) -> None:
    add = "atomic_fetch_add_explicit(c, 1u, memory_order_relaxed)"
    barrier = "threadgroup_barrier(mem_flags::mem_device)"
    text = body.replace("ADD", add).replace("BARRIER", barrier)
    rings = _rings(f"uint q = 0; {text} sum = q;", needs=True)
    assert [each.is_redundant for each in rings.needs] == [False]
