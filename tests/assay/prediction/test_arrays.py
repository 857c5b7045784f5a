"""Threadgroup arrays on the timeline: which stage of a ring is written and read in which epoch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import assay
from assay.hal.metal.timed import Dispatched
from assay.prediction.result import TimeResult
from assay.prediction.timelines.arrays import ArrayUse, array_uses
from assay.prediction.timelines.core_rows import rows_of
from assay.prediction.timelines.epochs import barrier_waits
from assay.traces import Role
from tests.support.msl import PRELUDE

PIPELINE = Path(__file__).parent / "kernels" / "pipeline.metal"
STAGE = 32 * 32 * 4  # bytes
STEPS = 24


def uses(result: TimeResult) -> list[ArrayUse]:
    """Those of the first threadgroup."""
    [item] = result.scheduled.work
    assert isinstance(item, Dispatched) and item.prediction.tape is not None
    return [use for use in array_uses(item.prediction.tape) if use.threadgroup == 0]


def test_a_ring_shows_which_stage_is_written_and_read_between_which_barriers() -> None:
    found = uses(assay.time(PIPELINE, chip="m1", timeline=True))
    assert {use.name for use in found} == {"ring"}
    written = {(use.epoch, use.stage): use.written for use in found if use.written}
    read = {(use.epoch, use.stage): use.read for use in found if use.read}
    # Two stages before the loop, then one ahead of what is read.
    assert written == {
        (0, 0): STAGE,
        (0, 1): STAGE,
        **{(step + 1, (step + 2) % 3): STAGE for step in range(STEPS - 2)},
    }
    assert read == {(step + 1, step % 3): 2 * STAGE for step in range(STEPS)}


def test_a_ring_in_a_loop_that_the_compiler_unrolls_has_stages_too() -> None:
    source = (
        PRELUDE
        + """
    kernel void k(device float* x, uint t [[thread_index_in_threadgroup]]) {
        threadgroup float ring[3][64];
        float sum = 0;
        for (uint step = 0; step < 6; step++) {
            if (step < 4) ring[step % 3][t] = x[t] + step;
            if (step >= 2) sum += ring[(step - 2) % 3][63 - t];
            threadgroup_barrier(mem_flags::mem_threadgroup);
        }
        x[t] = sum;
    }"""
    )
    found = uses(assay.time(source, chip="m1", threadgroups=1, threadgroup=64, timeline=True))
    assert {(use.epoch, use.label) for use in found if use.written} == {
        (step, f"ring[{step % 3}]") for step in range(4)
    }
    assert {(use.epoch, use.label) for use in found if use.read} == {
        (step + 2, f"ring[{step % 3}]") for step in range(4)
    }


@pytest.mark.parametrize("stages", [2, 3, 4, 6])
def test_a_ring_that_a_loop_fills_first_has_its_stages(stages: int) -> None:
    source = (
        PRELUDE
        + f"constant uint STAGES = {stages};"
        + """
    static void load(threadgroup float (&ring)[STAGES][256], device float* x, uint step, uint t) {
        for (uint i = t; i < 256; i += 64) ring[step % STAGES][i] = x[i] + step;
    }
    kernel void k(device float* x, uint t [[thread_index_in_threadgroup]]) {
        threadgroup float ring[STAGES][256];
        float sum = 0;
        for (uint step = 0; step < STAGES - 1; step++) load(ring, x, step, t);
        for (uint step = 0; step < 12; step++) {
            threadgroup_barrier(mem_flags::mem_threadgroup);
            if (step + STAGES - 1 < 12) load(ring, x, step + STAGES - 1, t);
            sum += ring[step % STAGES][255 - t] + ring[step % STAGES][t];
        }
        x[t] = sum;
    }"""
    )
    found = uses(assay.time(source, chip="m1", threadgroups=1, threadgroup=64, timeline=True))
    written = {(use.epoch, use.stage): use.written for use in found if use.written}
    assert written == {
        **{(0, stage): 1024 for stage in range(stages - 1)},
        **{(step, (step + stages - 2) % stages): 1024 for step in range(1, 14 - stages)},
    }
    assert {(use.epoch, use.stage) for use in found if use.read} == {
        (step + 1, step % stages) for step in range(12)
    }


def test_what_is_filled_once_and_read_part_by_part_is_no_ring() -> None:
    source = (
        PRELUDE
        + """
    kernel void k(device float* x, uint t [[thread_index_in_threadgroup]]) {
        threadgroup float table[256];
        for (uint i = t; i < 256; i += 64) table[i] = x[i];
        float sum = 0;
        for (uint step = 0; step < 4; step++) {
            threadgroup_barrier(mem_flags::mem_threadgroup);
            sum += table[64 * step + 63 - t];
        }
        x[t] = sum;
    }"""
    )
    found = uses(assay.time(source, chip="m1", threadgroups=1, threadgroup=64, timeline=True))
    assert {use.label for use in found} == {"table"}


def test_an_array_that_is_used_as_a_whole_has_no_stages() -> None:
    source = (
        PRELUDE
        + """
    kernel void k(device float* x, uint t [[thread_index_in_threadgroup]]) {
        threadgroup float tile[256];
        for (uint step = 0; step < 4; step++) {
            for (uint i = t; i < 256; i += 64) tile[i] = x[i] + step;
            threadgroup_barrier(mem_flags::mem_threadgroup);
            x[t] = tile[255 - t];
            threadgroup_barrier(mem_flags::mem_threadgroup);
        }
    }"""
    )
    found = uses(assay.time(source, chip="m1", threadgroups=1, threadgroup=64, timeline=True))
    assert {use.label for use in found} == {"tile"}
    accesses = [(use.epoch, use.access) for use in found]
    assert accesses == [(epoch, "read" if epoch % 2 else "write") for epoch in range(8)]


def test_stages_are_tracks_of_the_trace() -> None:
    trace = assay.time(PIPELINE, chip="m1", timeline=True).trace()
    tracks = [track.name for track in trace.tracks if track.parent >= 0]
    place = "threadgroup place 0"
    memory = [t for t in trace.tracks if t.path[-2:] == (place, "threadgroup memory")]
    assert len(memory) == 1
    stages = [name for name in tracks if name.startswith("ring")]
    assert stages[:3] == ["ring[0]", "ring[1]", "ring[2]"]


def test_a_timeline_does_not_change_the_prediction() -> None:
    plain = assay.time(PIPELINE, chip="m1")
    assert assay.time(PIPELINE, chip="m1", timeline=True).cycles == plain.cycles


TILES = (
    PRELUDE
    + """
kernel void product(device const float* a, device const float* b, device float* c,
                    uint2 at [[thread_position_in_grid]],
                    uint2 own [[thread_position_in_threadgroup]]) {
    threadgroup float left[16][16], right[16][16];
    float sum = 0;
    for (uint k = 0; k < 256; k += 16) {
        left[own.y][own.x] = a[at.y * 256 + k + own.x];
        right[own.y][own.x] = b[(k + own.y) * 256 + at.x];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint i = 0; i < 16; i++) sum += left[own.y][i] * right[i][own.x];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    c[at.y * 256 + at.x] = sum;
}"""
)


@pytest.fixture(scope="module")
def product() -> TimeResult:
    a, b, c = (np.zeros((256, 256), np.float32) for _ in range(3))
    return assay.time(
        TILES,
        None,
        a,
        b,
        c,
        threadgroups=(16, 16),
        threadgroup=(16, 16),
        chip="m4-max-32",
        timeline=True,
    )


def test_waits_at_one_barrier_share_an_instant_also_if_some_hardly_wait(
    product: TimeResult,
) -> None:
    [dispatch] = product.dispatches
    assert dispatch.time.timeline is not None
    rows = rows_of(
        dispatch.time.timeline, kernel="product", sources=dispatch.sources, per_group=8, at=0
    )
    waits = barrier_waits(rows)
    meetings: dict[tuple[int, int], tuple[int, int]] = {}
    for first, last, epoch in zip(waits.first, waits.last, waits.epoch, strict=True):
        key = int(rows.group[first]), int(epoch)
        begin, end = meetings.get(key, (0, 1 << 62))
        meetings[key] = max(begin, int(rows.begin[first])), min(end, int(rows.end[last]))
    assert {epoch for _, epoch in meetings} == set(range(32))
    assert all(begin < end for begin, end in meetings.values())


def test_arrays_are_written_and_read_in_turn_without_gap(product: TimeResult) -> None:
    trace = product.trace()
    slices = trace.slices
    arrays = [n for n, track in enumerate(trace.tracks) if track.role is Role.ARRAY]
    assert {trace.tracks[number].name for number in arrays} == {"left", "right"}
    for number in arrays:
        mine = np.flatnonzero(slices.track == number)
        access = [str(trace.slice_arguments(int(each))["access"]) for each in mine]
        assert access == ["write", "read"] * (len(mine) // 2)
        written, read = mine[::2], mine[1::2]
        assert (slices.begin[read] == slices.end[written]).all()
