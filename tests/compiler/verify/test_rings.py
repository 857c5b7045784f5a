"""Rings of buffers: who has which buffer when, and which barriers can go."""

from __future__ import annotations

import pytest

from assay.compiler.msl import compile_library
from assay.compiler.verify import Launch
from assay.compiler.verify.rings import Rings, rings_of
from assay.proofs.names import names_of
from assay.proofs.rings import rings_json, rings_text

from .sources import NO_RACES, RING

SMALL = """\
#include <metal_stdlib>
using namespace metal;
kernel void k(device const float* x, device float* y, constant uint& n,
              uint t [[thread_index_in_threadgroup]], uint g [[thread_position_in_grid]]) {
    threadgroup float tiles[3][64];
    float sum = 0;
    tiles[0][t] = x[t];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    tiles[1][t] = x[64 + t];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint k = 0; k < n; ++k) {
        tiles[(k + 2) % 3][t] = x[64 * (k + 2) + t];
        sum += tiles[k % 3][63 - t];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    y[g] = sum;
}
"""


def found(source: str, threads: int, *holds: str) -> Rings:
    library = compile_library(source)
    (name,) = library.function_names
    kernel = library.function(name)
    size = (threads, 1, 1)
    return rings_of(
        kernel.program(), Launch(size=size, names=names_of(kernel), holds=holds), NO_RACES
    )


def test_a_ring_of_three_is_written_two_iterations_ahead() -> None:
    rings = found(SMALL, 64, "n <= 1000000")
    (ring,) = rings.rotations
    assert (ring.array, ring.buffers, ring.stride) == ("tiles", 3, 256)
    assert [sorted(each) for each in ring.written] == [[2], [0], [1]]
    assert [sorted(each) for each in ring.read] == [[0], [1], [2]]
    assert [sorted(each) for each in ring.idle] == [[1], [2], [0]]
    assert ring.is_distinct
    assert ring.ahead == 2
    assert "    what iteration k writes is read by iteration k + 2" in rings_text(rings)


def test_a_counter_that_may_wrap_leaves_the_ring_undecided() -> None:
    # 2**32 is no multiple of 3.
    (ring,) = found(SMALL, 64).rotations
    assert not ring.is_proved
    assert not ring.is_distinct


def test_either_barrier_before_the_loop_is_redundant_but_not_both() -> None:
    one, other, last = found(SMALL, 64, "n <= 1000000").needs
    assert one.is_redundant
    assert other.is_redundant
    assert not last.is_redundant
    assert one.not_with == (other.site,)
    assert other.not_with == (one.site,)


def test_no_barrier_is_called_redundant_in_a_kernel_that_races() -> None:
    racing = SMALL.replace("(k + 2) % 3", "k % 3")
    rings = found(racing, 64)
    assert rings.needs == ()
    assert rings_json(rings)["barriers"] == []


def test_a_ring_whose_buffers_meet_is_not_distinct() -> None:
    (ring,) = found(SMALL.replace("(k + 2) % 3", "(k + 3) % 3"), 64, "n <= 1000000").rotations
    assert ring.is_proved
    assert not ring.is_distinct


@pytest.mark.slow
def test_the_pages_ring_needs_one_of_its_first_barriers() -> None:
    rings = found(RING, 128, "grid.x <= N")
    assert [each.is_redundant for each in rings.needs] == [True, True, False]
    assert all(len(each.not_with) == 1 for each in rings.needs[:2])
    assert [(each.array, each.ahead, each.is_distinct) for each in rings.rotations] == [
        ("A_buf", 2, True),
        ("B_buf", 2, True),
    ]


def test_a_barrier_between_atomics_is_not_called_redundant() -> None:
    source = """\
#include <metal_stdlib>
using namespace metal;
//! [kernel.k]
//! threadgroup = 64
kernel void k(device uint* y, uint t [[thread_index_in_threadgroup]],
              uint g [[threadgroup_position_in_grid]]) {
    threadgroup atomic_uint total;
    if (t == 0) atomic_store_explicit(&total, 0u, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    atomic_fetch_add_explicit(&total, t, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    y[64 * g + t] = atomic_load_explicit(&total, memory_order_relaxed);
}
"""
    assert [each.is_redundant for each in found(source, 64).needs] == [False, False]


_WITHOUT = """\
#include <metal_stdlib>
using namespace metal;
kernel void k(device uint* a, device uint* b, constant uint& n, device uint* out,
              uint t [[thread_index_in_threadgroup]], uint g [[threadgroup_position_in_grid]]) {
    BODY
}
"""


def test_no_barrier_is_called_redundant_where_it_is_not_known_what_is_accessed() -> None:
    body = (
        "device uint* p = n > 5 ? a : b; p[g * 64 + t] = t;"
        "threadgroup_barrier(mem_flags::mem_device); out[g * 64 + t] = p[g * 64 + (t ^ 32)];"
    )
    assert found(_WITHOUT.replace("BODY", body), 64).needs == ()


def test_a_barrier_that_is_redundant_only_if_nothing_wraps_says_so() -> None:
    body = (
        "uint at = t * n, x = 0; if (t < 32) a[at] = t;\n"
        "threadgroup_barrier(mem_flags::mem_device); if (t >= 32) x = a[at]; out[t] = x;"
    )
    rings = found(_WITHOUT.replace("BODY", body), 64, "n >= 1", "groups.x == 1")
    (need,) = rings.needs
    assert need.is_redundant
    assert [each.line for each in need.rests_on] == [5]
    assert "if what is computed at" in "\n".join(rings_text(rings))


def test_no_barrier_is_called_redundant_for_threadgroups_that_are_not_full() -> None:
    program = compile_library(SMALL).function("k").program()
    assert rings_of(program, Launch(size=(64, 1, 1), ragged=True), NO_RACES).needs == ()
