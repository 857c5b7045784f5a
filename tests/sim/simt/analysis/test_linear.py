"""Indices that differ by a pattern from lane to lane reach what each lane's own would reach."""

import numpy as np
import pytest

from tests.support.kernels import Kernel, compile_cpp, on_engine, on_reference

THREADS = (96, 1, 1)
# Only lanes that may do so subtract; what all have in common is below zero by itself.
_CASES = {
    "a scan": "for (uint d = 1; d < n; d <<= 1) if (t >= d) sum += tile[t - d];",
    "a stride": "for (uint d = 1; d < n; d += 7) if (t * 3 >= d && t < 32) sum += tile[t * 3 - d];",
    "a mirror": "for (uint d = n; d < 120; d += 5) if (d - t < n) sum += tile[d - t];",
    "a window": "for (uint d = 1; d < 9; d++) if (t >= d && t < 80) sum += tile[t - d + 2 * d];",
    "device memory": "for (uint d = 1; d < n; d <<= 1) if (t >= d) sum += in[t - d];",
}


def assert_engines_agree(kernel: Kernel) -> None:
    """On `in` of 96 numbers and `out` of as many."""
    buffers = [np.arange(7, 7 + 96 * 3, 3, dtype=np.uint32), np.zeros(96, np.uint32)]
    expected = on_reference(kernel, [b.copy() for b in buffers], threadgroup_size=THREADS)
    found = on_engine(kernel, [b.copy() for b in buffers], threadgroup_size=THREADS)
    np.testing.assert_array_equal(found[1], expected[1])


@pytest.mark.parametrize("name", _CASES)
def test_differences_of_positions_are_extended_as_they_are(name: str) -> None:
    kernel = compile_cpp(
        f"""KERNEL(DEVICE uint* in, DEVICE uint* out) {{
            static THREADGROUP uint tile[96];
            uint t = __assay_thread_index_in_threadgroup(), n = __assay_threads_per_grid(0);
            uint sum = 0;
            tile[t] = in[t];
            barrier();
            {_CASES[name]}
            out[t] = sum;
        }}""",
        "in out",
    )
    assert_engines_agree(kernel)


# Indices into the middle of `in`, and 64-bit numbers: lanes get them by what wraps or is negative.
_SIGNED = {
    "a complement": "sum = end[~(int)t];",
    "a complement of the lane": "sum = middle[~(int)lane()];",
    "a multiple below zero": "sum = middle[((int)lane() - 5) & ~3];",
    "bits of the sign": "sum = middle[(int)lane() | -16];",
    "a shift of what is negative": "sum = middle[((int)t - 64) >> 2];",
    "a shift by all of the lane": "sum = middle[((int)t - 64) >> 5];",
    "a shift of what all share": "sum = middle[((int)t - (int)n) >> 3];",
    "the sign of shifted bits": "sum = middle[(int)((t - 16) << 28) >> 28];",
    "a half after overflow": "sum = in[(t << 27) >> 27];",
    "the top bit": "sum = (ulong)((t & 1u) << 31) >> 30;",
    "the top bit by a product": "sum = (ulong)((t & 1u) * 0x80000000u) >> 30;",
    "a large factor": "if (t >= 24 && t < 39) sum = (long)(((int)t - 24) * 134217728) >> 20;",
    "reversed and wrapped": "if (t > 16) sum = (ulong)((n - 1 - t) + (n * -1u + 17)) >> 4;",
}


@pytest.mark.parametrize("name", _SIGNED)
def test_indices_that_wrap_or_are_negative_are_extended_as_they_are(name: str) -> None:
    kernel = compile_cpp(
        f"""KERNEL(DEVICE uint* in, DEVICE uint* out) {{
            uint t = __assay_thread_index_in_threadgroup(), n = __assay_threads_per_grid(0);
            uint sum = 0;
            DEVICE uint* middle = in + 48;
            DEVICE uint* end = in + 96;
            {_SIGNED[name]}
            out[t] = sum;
        }}""",
        "in out",
    )
    assert_engines_agree(kernel)
