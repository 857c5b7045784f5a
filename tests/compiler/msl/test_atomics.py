import numpy as np
import pytest

from tests.support.msl import run_kernel


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [
        ("atomic_int", np.int32),
        ("atomic_uint", np.uint32),
        ("atomic_float", np.float32),
        ("atomic<ulong>", np.uint64),
    ],
)
def test_additions_of_all_threads_arrive(kind: str, dtype: type) -> None:
    out = np.zeros(1, dtype)
    run_kernel(
        f"kernel void k(device {kind}* o, uint i [[thread_position_in_grid]])"
        "{ atomic_fetch_add_explicit(o, i, memory_order_relaxed); }",
        out,
        threads=100,
    )
    assert out[0] == 4950


def test_operations_give_the_value_before_them() -> None:
    out = np.array([5, 0, 0, 0, 0, 0, 0], np.int32)
    run_kernel(
        "kernel void k(device atomic_int* a, device int* o) {"
        " o[1] = atomic_exchange_explicit(a, 9, memory_order_relaxed);"
        " o[2] = atomic_fetch_max_explicit(a, 12, memory_order_relaxed);"
        " o[3] = atomic_fetch_and_explicit(a, 8, memory_order_relaxed);"
        " int e = 1; o[4] = atomic_compare_exchange_weak_explicit(a, &e, 3, memory_order_relaxed,"
        " memory_order_relaxed); o[5] = e;"
        " o[6] = atomic_compare_exchange_weak_explicit(a, &e, 4, memory_order_relaxed,"
        " memory_order_relaxed); atomic_store_explicit(a, atomic_load_explicit(a,"
        " memory_order_relaxed) + 1, memory_order_relaxed); }",
        out,
        out,
        threads=1,
    )
    assert out.tolist() == [5, 5, 9, 12, 0, 8, 1]


def test_threadgroup_atomics_count_the_threads_of_a_group() -> None:
    out = np.zeros(2, np.uint32)
    run_kernel(
        "kernel void k(device uint* o, uint i [[thread_index_in_threadgroup]],"
        " uint g [[threadgroup_position_in_grid]]) { threadgroup atomic_uint n; threadgroup "
        "atomic_bool b;"
        " if (i == 0) { atomic_store_explicit(&n, 0, memory_order_relaxed);"
        " atomic_store_explicit(&b, false, memory_order_relaxed); }"
        " threadgroup_barrier(mem_flags::mem_threadgroup);"
        " atomic_fetch_add_explicit(&n, 1u, memory_order_relaxed);"
        " if (i == 3) atomic_store_explicit(&b, true, memory_order_relaxed);"
        " threadgroup_barrier(mem_flags::mem_threadgroup);"
        " o[g] = atomic_load_explicit(&n, memory_order_relaxed)"
        " + 100 * atomic_load_explicit(&b, memory_order_relaxed); }",
        out,
        threads=128,
        group=64,
    )
    assert out.tolist() == [164, 164]
