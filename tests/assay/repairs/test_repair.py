"""Repairs: the smallest change after which a kernel is proved."""

from __future__ import annotations

from dataclasses import replace

import pytest

from assay.proofs import ProofOptions, prove_source
from assay.repairs import Repair, repaired
from tests.checks.mutation.campaign import KERNELS
from tests.compiler.verify.sources import BARRIER, without_barrier

TREE = next(path.read_text() for path in KERNELS if path.stem == "tree_reduction")
HEAD = "#include <metal_stdlib>\nusing namespace metal;\n//! [kernel.k]\n//! threadgroup = 64\n"
LEFT = """\
kernel void k(device const float* x, device float* y, uint t [[thread_index_in_threadgroup]],
              uint i [[thread_position_in_grid]]) {
    threadgroup float s[64];
    s[t] = x[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    y[i] = s[t + 1];
}
"""
ONE_PLACE = """\
kernel void k(device uint* y, uint i [[thread_position_in_grid]]) {
    y[0] = i;
}
"""
TWICE = """\
kernel void k(device float* y, constant uint& n, uint2 at [[thread_position_in_grid]]) {
    y[at.y * n + at.x] += 1;
}
"""
OF_GROUPS = """\
struct Args { uint n; };
kernel void k(device uint* y, constant Args& args, uint t [[thread_position_in_threadgroup]],
              uint g [[threadgroup_position_in_grid]]) {
    y[(g % args.n) * 64 + t] = g;
}
"""
OF_PAIRS = """\
kernel void k(device uint* y, constant uint& n, uint i [[thread_position_in_grid]]) {
    y[2 * i % n] = i;
}
"""
TWO_FAULTS = """\
kernel void k(device float* y, constant uint& n, uint t [[thread_index_in_threadgroup]],
              uint i [[thread_position_in_grid]]) {
    threadgroup float s[64];
    s[t] = i;
    y[i % n] = s[t ^ 32];
}
"""
OF_MEMBERS = """\
struct Args { uint ne[4]; };
kernel void k(device uint* y, constant Args* args, uint i [[thread_position_in_grid]]) {
    y[i % args->ne[1]] = i;
}
"""
CHANGED = """\
kernel void k(device uint* x, constant uint& n, uint i [[thread_position_in_grid]]) {
    STEP;
    x[i % n] = i;
}
"""
IN_PART = """\
kernel void k(device uint* y, device const float* x, uint i [[thread_position_in_threadgroup]],
              uint g [[thread_position_in_grid]]) {
    threadgroup uint a[64];
    uint z = uint(clamp(sin(x[i]), 0.0f, 0.5f));
    a[i] = x[g];
    uint v = a[63 - i];
    y[g + z * 3] = v;
}
"""
SETUPS = """\
#include <metal_stdlib>
using namespace metal;
constant uint LAST [[function_constant(0)]];
//! [[kernel.k]]
//! threadgroup = 64
//! threadgroups = 1
//! constants.LAST = {0}
//! [[kernel.k]]
//! threadgroup = 64
//! threadgroups = 1
//! constants.LAST = {1}
kernel void k(device uint* y, device const uint* x, uint i [[thread_position_in_threadgroup]],
              uint g [[thread_position_in_grid]]) {{
    threadgroup uint a[64];
    a[i] = x[g];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    y[g] = {2};
}}
"""


def mended(source: str, **options: object) -> Repair | None:
    given = ProofOptions(**options)  # type: ignore[arg-type]
    proofs = list(prove_source(source, "k.metal", given, workers=1))
    assert any(each.is_refuted for each in proofs)
    found = repaired(source, "k.metal", given, proofs)
    if found is not None:
        again = replace(given, offers=False)
        after = prove_source(found.source, "k.metal", again, workers=1)
        assert not any(each.is_refuted for each in after)
    return found


def test_a_barrier_that_is_missing_is_inserted() -> None:
    found = mended(without_barrier(TREE, 1))
    assert found is not None
    assert found.what[0].startswith("insert a barrier")
    assert found.source.count(BARRIER) == TREE.count(BARRIER)


@pytest.mark.parametrize(
    "weak",
    [
        "threadgroup_barrier(mem_flags::mem_none);",
        pytest.param("simdgroup_barrier(mem_flags::mem_none);", marks=pytest.mark.slow),
    ],
)
def test_flags_are_mended(weak: str) -> None:
    found = mended(TREE.replace(BARRIER, weak, 1))
    assert found is not None
    assert found.what[0].startswith("mend the barrier")
    assert found.source == TREE


def test_a_barrier_in_a_branch_is_moved_out() -> None:
    found = mended(TREE.replace("if (t == 0) {", f"if (t == 0) {{\n{BARRIER}"))
    assert found is not None
    assert found.what[0].startswith("move the barrier")


def test_an_index_that_leaves_its_array_is_clamped() -> None:
    found = mended(HEAD + LEFT)
    assert found is not None
    assert "y[i] = s[min(uint(t + 1), uint(64) - 1u)];" in found.source


def test_a_store_behind_a_buffer_is_guarded() -> None:
    source = HEAD + "kernel void k(device float* y, constant uint& n,\n"
    source += "              uint i [[thread_position_in_grid]]) {\n    y[i] = i;\n}\n"
    found = mended(source, buffers={"y": "4*n"})
    assert found is not None
    assert "if (uint(i) < uint(n)) y[i] = i;" in found.source


def test_the_assumption_that_helps_becomes_a_guard() -> None:
    found = mended(HEAD.replace("= 64", "= [8, 8]") + TWICE)
    assert found is not None
    assert "if (at.x < n) y[at.y * n + at.x] += 1;" in found.source


def test_limits_of_threadgroups_become_guards() -> None:
    of_groups = mended(HEAD + OF_GROUPS)
    assert of_groups is not None
    assert "if (g < args.n) y[(g % args.n) * 64 + t] = g;" in of_groups.source


@pytest.mark.slow
def test_limits_of_pairs_and_of_members_become_guards() -> None:
    of_pairs = mended(HEAD + OF_PAIRS)
    assert of_pairs is not None
    assert "if (i < n / 2) y[2 * i % n] = i;" in of_pairs.source
    of_members = mended(HEAD + OF_MEMBERS)
    assert of_members is not None
    assert "if (i < args->ne[1]) y[i % args->ne[1]] = i;" in of_members.source


@pytest.mark.slow
def test_what_a_macro_may_change_is_in_no_guard() -> None:
    step = "#define STEP i += 1\n" + HEAD + CHANGED
    assert mended(step) is None
    found = mended(step.replace("    STEP;\n", ""))
    assert found is not None
    assert "if (i < n) x[i % n] = i;" in found.source


def test_two_faults_take_two_steps() -> None:
    found = mended(HEAD + TWO_FAULTS)
    assert found is not None
    assert len(found.what) == 2
    assert "if (i < n) y[i % n] = s[t ^ 32];" in found.source


def test_what_no_small_change_mends_is_left() -> None:
    assert mended(HEAD + ONE_PLACE) is None


@pytest.mark.parametrize(
    "last", [(63, 70), *(pytest.param((70, n), marks=pytest.mark.slow) for n in (63, 71))]
)
def test_all_setups_of_a_kernel_are_mended(last: tuple[int, int]) -> None:
    found = mended(SETUPS.format(*last, "a[min(i + 30, LAST)]"))
    assert found is not None
    assert "y[g] = a[min(uint(min(i + 30, LAST)), uint(64) - 1u)];" in found.source


def test_what_mends_another_setup_only_is_not_offered() -> None:
    source = SETUPS.format(63, 70, "a[min(i + 30, LAST)] + a[min(i + 20, LAST)]")
    assert mended(source) is None


def test_what_a_repair_leaves_undecided_is_known() -> None:
    source = HEAD + IN_PART
    found = mended(source)
    assert found is not None
    assert found.proved == ("threadgroup races", "initialised")
    assert found.undecided == ("buffer races",)
