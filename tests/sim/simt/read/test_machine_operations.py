"""Machine operations on the reference engine: positions, barriers, simdgroups, atomics."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.kernels import ENGINES, Runner, compile_cpp

_LANES = np.arange(32)


@pytest.fixture(params=sorted(ENGINES))
def run(request: pytest.FixtureRequest) -> Runner:
    return ENGINES[request.param]


def test_edge_threadgroups_are_smaller_and_know_it(run: Runner) -> None:
    kernel = compile_cpp(
        """KERNEL(DEVICE uint* out) {
            uint x = __assay_thread_position_in_grid(0), y = __assay_thread_position_in_grid(1);
            uint at = (y * __assay_threads_per_grid(0) + x) * 8;
            out[at] = __assay_thread_position_in_threadgroup(0);
            out[at + 1] = __assay_thread_position_in_threadgroup(1);
            out[at + 2] = __assay_threadgroup_position_in_grid(0);
            out[at + 3] = __assay_threads_per_threadgroup(0);
            out[at + 4] = __assay_dispatch_threads_per_threadgroup(0);
            out[at + 5] = __assay_threadgroups_per_grid(1);
            out[at + 6] = __assay_thread_index_in_threadgroup();
            out[at + 7] = __assay_simdgroups_per_threadgroup();
        }""",
        "out",
    )
    (out,) = run(
        kernel, [np.zeros((5, 19, 8), np.uint32)], threadgroup_size=(16, 4, 1), threads=(19, 5, 1)
    )
    y, x = np.mgrid[0:5, 0:19]
    width, height = np.where(x < 16, 16, 3), np.where(y < 4, 4, 1)
    expected = [x % 16, y % 4, x // 16, width, np.full_like(x, 16), np.full_like(x, 2)]
    expected += [x % 16 + y % 4 * width, -(-width * height // 32)]
    assert (out == np.stack(expected, axis=-1)).all()


def test_a_barrier_makes_threadgroup_memory_visible_to_all_simdgroups(run: Runner) -> None:
    kernel = compile_cpp(
        """KERNEL(DEVICE uint* out, THREADGROUP uint* shared) {
            uint x = __assay_thread_index_in_threadgroup();
            for (uint round = 0; round < 3; round++) {
                shared[x] = thread_x() * 10 + round;
                barrier();
                out[thread_x()] += shared[127 - x];
                barrier();
            }
        }""",
        "out shared:threadgroup",
    )
    (out,) = run(
        kernel,
        [np.zeros(256, np.uint32), 512],
        threadgroup_size=(128, 1, 1),
        threadgroups=(2, 1, 1),
    )
    x = np.arange(256)
    assert (out == 3 * 10 * (x // 128 * 128 + 127 - x % 128) + 3).all()


def test_lanes_that_return_early_do_not_hold_up_a_barrier(run: Runner) -> None:
    kernel = compile_cpp(
        """KERNEL(DEVICE uint* out, THREADGROUP uint* shared) {
            if (thread_x() >= 40) return;
            shared[thread_x()] = thread_x();
            barrier();
            out[thread_x()] = shared[39 - thread_x()];
        }""",
        "out shared:threadgroup",
    )
    (out,) = run(kernel, [np.zeros(64, np.uint32), 256], threadgroup_size=(64, 1, 1))
    assert (out[:40] == np.arange(40)[::-1]).all()
    assert (out[40:] == 0).all()


def test_sums_go_over_active_lanes_and_in_clusters(run: Runner) -> None:
    kernel = compile_cpp(
        """KERNEL(DEVICE int* out) {
            int x = thread_x();
            out[x] = __assay_simd_sum_i32(x, 32);
            out[32 + x] = __assay_simd_sum_i32(x, 4);
            if (x % 3) out[64 + x] = __assay_simd_sum_i32(x, 32);
            out[96 + x] = __assay_simd_prefix_exclusive_sum_i32(x, 32);
            out[128 + x] = __assay_simd_prefix_inclusive_sum_i32(x, 4);
            out[160 + x] = __assay_simd_max_i32(-x, 32);
            out[192 + x] = __assay_simd_xor_u32(1u << x, 32);
        }""",
        "out",
    )
    (out,) = run(kernel, [np.zeros(224, np.int32)])
    x, rows = _LANES, out.reshape(7, 32)
    assert (rows[0] == x.sum()).all()
    assert (rows[1] == x.reshape(8, 4).sum(1).repeat(4)).all()
    assert (rows[2] == np.where(x % 3, x[x % 3 > 0].sum(), 0)).all()
    assert (rows[3] == np.cumsum(x) - x).all()
    assert (rows[4] == np.cumsum(x.reshape(8, 4), axis=1).ravel()).all()
    assert (rows[5] == 0).all()
    assert (rows[6] == -1).all()


def test_float_sums_halve_the_lanes(run: Runner) -> None:
    kernel = compile_cpp(
        "KERNEL(DEVICE float* a) { a[thread_x()] = __assay_simd_sum_f32(a[thread_x()], 32); }", "a"
    )
    a = np.random.default_rng(3).standard_normal(32).astype(np.float32)
    (out,) = run(kernel, [a])
    tree = a
    while len(tree) > 1:
        tree = tree[: len(tree) // 2] + tree[len(tree) // 2 :]
    assert (out == tree[0]).all()


def test_lanes_meet_again_behind_a_loop_of_different_lengths(run: Runner) -> None:
    kernel = compile_cpp(
        """KERNEL(DEVICE int* out) {
            int x = thread_x(), n = 0;
            for (int i = 0; i < x; i++) { if (i == 20) break; n += i; }
            out[x] = __assay_simd_sum_i32(n, 32);
            out[32 + x] = __assay_simd_active_mask() == 0xFFFFFFFFul;
        }""",
        "out",
    )
    (out,) = run(kernel, [np.zeros(64, np.int32)])
    assert (out[:32] == sum(sum(range(min(x, 20))) for x in range(32))).all()
    assert (out[32:] == 1).all()


def test_shuffles_ballots_and_broadcasts(run: Runner) -> None:
    kernel = compile_cpp(
        """KERNEL(DEVICE ulong* out) {
            uint x = thread_x();
            out[x] = __assay_simd_shuffle_i32(x * x, x * 7 + 40);
            out[32 + x] = __assay_simd_ballot(x % 5 == 1);
            if (x >= 9) {
                out[64 + x] = __assay_simd_broadcast_first_i64(x * 100l);
                out[96 + x] = __assay_simd_ballot(1);
            }
        }""",
        "out",
    )
    (out,) = run(kernel, [np.zeros(128, np.uint64)])
    x = _LANES
    assert (out[:32] == ((x * 7 + 40) & 31) ** 2).all()
    assert (out[32:64] == sum(1 << lane for lane in range(1, 32, 5))).all()
    assert (out[64:96] == np.where(x >= 9, 900, 0)).all()
    assert (out[96:] == np.where(x >= 9, 0xFFFFFE00, 0)).all()


def test_matrices_multiply_and_accumulate(run: Runner) -> None:
    kernel = compile_cpp(
        """KERNEL(DEVICE float* a, DEVICE float* b, DEVICE float* c) {
            uint at = __assay_matrix_row() * 8 + __assay_matrix_column();
            float d0 = __assay_mma_f32(0, a[at], a[at + 1], b[at], b[at + 1], c[at], c[at + 1]);
            float d1 = __assay_mma_f32(1, a[at], a[at + 1], b[at], b[at + 1], c[at], c[at + 1]);
            c[at] = d0;
            c[at + 1] = d1;
        }""",
        "a b c",
    )
    a, b, c = np.random.default_rng(4).integers(-9, 9, (3, 8, 8)).astype(np.float32)
    *_, out = run(kernel, [a, b, c])
    assert (out == a @ b + c).all()


def test_atomics_return_the_old_value_and_lose_no_update(run: Runner) -> None:
    kernel = compile_cpp(
        """KERNEL(DEVICE uint* count, DEVICE uint* seen, DEVICE float* total) {
            uint old = __assay_atomic_add_u32((uint*)count, 1);
            seen[old] = 1;
            __assay_atomic_add_f32((float*)total, 0.5f);
            __assay_atomic_max_i32((int*)count + 1, -5 + (int)(thread_x() % 3));
            __assay_atomic_cmpxchg_u32((uint*)count + 2, 0, thread_x() + 1);
        }""",
        "count seen total",
    )
    count, seen, total = run(
        kernel,
        [np.array([0, -100, 0], np.int32), np.zeros(96, np.uint32), np.zeros(1, np.float32)],
        threadgroup_size=(48, 1, 1),
        threadgroups=(2, 1, 1),
    )
    assert (list(count[:2]), total[0]) == ([96, -3], 48.0)
    assert 1 <= count[2] <= 96
    assert seen.all()
