"""Grids, positions and workers, seen through small Metal kernels."""

import numpy as np
import pytest

from assay.compiler.msl import compile_library
from assay.sim.simt import DispatchError, Executable, Memory, dispatch

POSITIONS = """
#include <metal_stdlib>
using namespace metal;
kernel void positions(device uint* out [[buffer(0)]],
                      uint3 inside [[thread_position_in_threadgroup]],
                      uint3 at [[thread_position_in_grid]],
                      uint3 group [[threadgroup_position_in_grid]],
                      uint3 size [[threads_per_threadgroup]],
                      uint3 grid [[threads_per_grid]],
                      uint index [[thread_index_in_threadgroup]],
                      uint lane [[thread_index_in_simdgroup]],
                      uint simdgroup [[simdgroup_index_in_threadgroup]]) {
    uint place = at.x + grid.x * (at.y + grid.y * at.z);
    device uint* row = out + place * 12;
    row[0] = inside.x; row[1] = inside.y; row[2] = inside.z;
    row[3] = group.x;  row[4] = group.y;  row[5] = group.z;
    row[6] = size.x;   row[7] = size.y;   row[8] = size.z;
    row[9] = index;    row[10] = lane;    row[11] = simdgroup;
}
"""


def executable(source: str, name: str, size: tuple[int, int, int]) -> Executable:
    return compile_library(source).function(name).program().specialise(size)


def register(memory: Memory, array: np.ndarray, name: str) -> int:
    return memory.register(array.reshape(-1).view(np.uint8), name=name)


def expected_positions(grid: tuple[int, int, int], nominal: tuple[int, int, int]) -> np.ndarray:
    rows = []
    for z, y, x in np.ndindex(grid[2], grid[1], grid[0]):
        at = (x, y, z)
        group = [a // n for a, n in zip(at, nominal, strict=True)]
        inside = [a % n for a, n in zip(at, nominal, strict=True)]
        size = [min(n, total - g * n) for n, total, g in zip(nominal, grid, group, strict=True)]
        index = inside[0] + size[0] * (inside[1] + size[1] * inside[2])
        rows.append([*inside, *group, *size, index, index % 32, index // 32])
    return np.array(rows, np.uint32)


@pytest.mark.parametrize(
    ("grid", "size"),
    [
        ((64, 1, 1), (32, 1, 1)),
        ((32, 16, 2), (16, 8, 1)),
        ((8, 8, 8), (4, 4, 4)),
        ((48, 6, 2), (24, 3, 2)),
        ((10, 14, 3), (5, 7, 3)),
        ((1, 1, 128), (1, 1, 64)),
        ((128, 4, 1), (64, 2, 1)),
        ((100, 3, 1), (32, 2, 1)),
        ((33, 17, 5), (16, 8, 2)),
        ((7, 1, 1), (32, 1, 1)),
    ],
)
def test_every_thread_sees_its_positions_and_sizes(
    grid: tuple[int, int, int], size: tuple[int, int, int]
) -> None:
    memory = Memory()
    threads = grid[0] * grid[1] * grid[2]
    out = np.full((threads, 12), 0xFFFFFFFF, np.uint32)
    kernel = executable(POSITIONS, "positions", size)
    dispatch(kernel, memory, [register(memory, out, "out")], threads=grid)
    np.testing.assert_array_equal(out, expected_positions(grid, size))


SUMS = """
#include <metal_stdlib>
using namespace metal;
kernel void sums(device const float* in [[buffer(0)]], device atomic_float* total [[buffer(1)]],
                 device atomic_uint* tickets [[buffer(2)]], device uint* order [[buffer(3)]],
                 device float* rows [[buffer(4)]],
                 uint at [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]],
                 uint group [[threadgroup_position_in_grid]]) {
    float sum = simd_sum(in[at]);
    if (lane == 0) {
        atomic_fetch_add_explicit(total, sum, memory_order_relaxed);
        order[group] = atomic_fetch_add_explicit(tickets, 1u, memory_order_relaxed);
        rows[group] = sum;
    }
}
"""


def run_sums(workers: int) -> list[bytes]:
    memory = Memory()
    values = np.random.default_rng(7).standard_normal(32 * 500).astype(np.float32)
    arrays = [
        values,
        np.zeros(1, np.float32),
        np.zeros(1, np.uint32),
        np.zeros(500, np.uint32),
        np.zeros(500, np.float32),
    ]
    addresses = [register(memory, a, f"buffer {i}") for i, a in enumerate(arrays)]
    kernel = executable(SUMS, "sums", (32, 1, 1))
    dispatch(kernel, memory, addresses, threadgroups=(500, 1, 1), workers=workers)
    return [a.tobytes() for a in arrays]


def test_results_are_the_same_bits_for_any_number_of_workers() -> None:
    alone = run_sums(1)
    for workers in (2, 3, 5):
        assert run_sums(workers) == alone


FIRST_FAULT = """
kernel void faulty(device uint* out [[buffer(0)]], uint at [[thread_position_in_grid]]) {
    if (at % 1000 == 700) out[at + 100000] = at; else out[at] = at;
}
"""


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_the_first_fault_in_grid_order_is_the_one_reported(workers: int) -> None:
    memory = Memory()
    out = np.zeros(32 * 400, np.uint32)
    kernel = executable(FIRST_FAULT, "faulty", (32, 1, 1))
    with pytest.raises(Exception, match=r"thread \(700, 0, 0\) in grid"):
        dispatch(
            kernel,
            memory,
            [register(memory, out, "out")],
            threadgroups=(400, 1, 1),
            workers=workers,
        )


def test_a_wrong_number_of_arguments_is_refused() -> None:
    kernel = executable(FIRST_FAULT, "faulty", (32, 1, 1))
    with pytest.raises(DispatchError, match="takes 1 arguments, 2 given"):
        dispatch(kernel, Memory(), [0, 0], threadgroups=(1, 1, 1))


def test_a_grid_beyond_what_indices_can_hold_is_refused() -> None:
    kernel = executable(FIRST_FAULT, "faulty", (32, 1, 1))
    with pytest.raises(DispatchError, match="threadgroups of 1 threads in y"):
        dispatch(kernel, Memory(), [0], threadgroups=(1, 1 << 30, 1))


NEGATIVE_BASE = """
#include <metal_stdlib>
using namespace metal;
kernel void shifted(device float2* in [[buffer(0)]], device uint* out [[buffer(1)]],
                    constant uint& n [[buffer(2)]], uint2 at [[thread_position_in_grid]]) {
    uint sum = 1;
    for (uint k = 0; k < n; k++) {
        long i = (long)(int)((int)(-1 + (int)(at.x) * 1) + (int)(at.y) * 1);
        if (i >= 0 && i < 64) sum = sum * 31 + (uint)in[i].y;
    }
    out[at.x] = sum;
}
"""


def test_an_index_whose_first_lane_is_negative_reads_the_right_elements() -> None:
    memory = Memory()
    source = np.arange(128, dtype=np.float32) + 100
    out, count = np.zeros(32, np.uint32), np.array([1], np.uint32)
    kernel = executable(NEGATIVE_BASE, "shifted", (32, 1, 1))
    arrays = {"in": source, "out": out, "n": count}
    addresses = [register(memory, array, name) for name, array in arrays.items()]
    dispatch(kernel, memory, addresses, threads=(32, 1, 1))
    np.testing.assert_array_equal(out, [1, *(31 + source[1:63:2].astype(np.uint32))])
