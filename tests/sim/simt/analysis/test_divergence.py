"""Lanes that go different ways meet again with the values that each of them brought along."""

import numpy as np
import pytest

from tests.support.kernels import compile_cpp, on_engine, on_reference

# Neither exit is the same branch's other side: the first is taken by all lanes that are left.
_LOOPS = {
    "the exit that all take comes first": """
        uint i = 0, r;
        do {
            if (in[i] > 900) { r = 10; counts[x] = 5; goto found; }
            if (in[x + i] > 800) { r = 20; ADD(64, i); goto found; }
            i++;
        } while (in[i] != 701);
        counts[x] = 1;
        return;
    found:
        ADD(65, r);
        out[x] = r * in[3];""",
    "three ways out of two loops": """
        uint r = 0;
        for (uint j = 0; j < 3; j++) {
            uint i = 0;
            do {
                if (in[i + j] > 900) { r += 10; counts[x] += 5; goto next; }
                if (in[x + i] > 800) { r = 20; counts[x] += 6; goto found; }
                i++;
            } while (in[i] != 701);
            counts[x] += 7;
            continue;
        next:
            out[x] += r;
        }
        r = 40;
        counts[x] ^= 1;
    found:
        ADD(65, r);
        out[x] += r * in[3];""",
}


@pytest.mark.parametrize("name", _LOOPS)
@pytest.mark.parametrize("threads", [64, 45])
def test_lanes_that_leave_a_loop_by_different_ways_meet_behind_it(name: str, threads: int) -> None:
    kernel = compile_cpp(
        f"""#define ADD(at, number) __assay_atomic_add_u32((uint*)counts + (at), number)
        KERNEL(DEVICE uint* in, DEVICE uint* counts, DEVICE uint* out) {{
            uint x = thread_x();
            {_LOOPS[name]}
        }}""",
        "in counts out",
    )
    numbers = np.random.default_rng(0).integers(0, 700, 128).astype(np.uint32)
    numbers[[3, 50]], numbers[20] = 810, 950
    buffers = [numbers, np.zeros(66, np.uint32), np.zeros(64, np.uint32)]
    size = {"threadgroup_size": (threads, 1, 1), "threads": (64, 1, 1)}

    expected = on_reference(kernel, buffers, **size)
    found = on_engine(kernel, buffers, **size)

    for left, right in zip(found, expected, strict=True):
        np.testing.assert_array_equal(left, right)
