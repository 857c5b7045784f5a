"""Tables of constants hold the addresses of other ones."""

from __future__ import annotations

import numpy as np
import pytest

from assay.sim.simt.ir.faults import UnsupportedKernel
from tests.support.kernels import ENGINES, compile_cpp

_TABLES = """
    static const CONSTANT float one[4] = {1, 2, 3, 4};
    static const CONSTANT float two[4] = {5, 6, 7, 8};
    struct Table { const CONSTANT float* of; int count; };
    static const CONSTANT Table tables[4] = {{one, 4}, {two + 1, 3}, {two, 4}, {nullptr, 0}};
"""


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_a_table_s_pointers_lead_to_other_tables_and_into_them(engine: str) -> None:
    kernel = compile_cpp(
        _TABLES
        + """KERNEL(DEVICE float* out, DEVICE uint* which) {
            uint number = which[thread_x()];
            float sum = 0;
            for (int j = 0; j < tables[number].count; ++j) sum = sum * 10 + tables[number].of[j];
            out[thread_x()] = sum;
        }""",
        "out which",
    )
    arguments = [np.zeros(32, np.float32), np.arange(32, dtype=np.uint32) % 4]
    size = (32, 1, 1)
    out = ENGINES[engine](kernel, arguments, threadgroup_size=size, threads=size)[0]
    np.testing.assert_array_equal(out, np.tile(np.float32([1234, 678, 5678, 0]), 8))


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_a_table_s_pointers_lead_to_threadgroup_memory(engine: str) -> None:
    kernel = compile_cpp(
        """KERNEL(DEVICE float* out, DEVICE uint* which) {
            static THREADGROUP float first[32], second[64];
            THREADGROUP float* const halves[3] = {first, second, second + 32};
            uint t = thread_x();
            first[t] = t, second[t] = 100 + t, second[t + 32] = 200 + t;
            halves[which[0]][t] += 1000;
            out[t] = halves[which[t]][t];
        }""",
        "out which",
    )
    arguments = [np.zeros(32, np.float32), (np.arange(32, dtype=np.uint32) + 1) % 3]
    size = (32, 1, 1)
    out = ENGINES[engine](kernel, arguments, threadgroup_size=size, threads=size)[0]
    which = (np.arange(32) + 1) % 3
    np.testing.assert_array_equal(out, which * 100 + np.arange(32) + 1000 * (which == 1))


def test_what_is_no_table_is_refused_by_the_table_s_name() -> None:
    kernel = compile_cpp(
        """static DEVICE float given[4];
        struct Table { DEVICE float* of; int count; };
        static const CONSTANT Table tables[2] = {{given, 4}, {given + 1, 3}};
        KERNEL(DEVICE float* out, DEVICE uint* which) { out[0] = *tables[which[0]].of; }""",
        "out which",
    )
    with pytest.raises(UnsupportedKernel, match="'tables' cannot be a table of constants"):
        kernel.function()


def test_arithmetic_of_addresses_that_is_known_before_the_run_is_refused_by_its_name() -> None:
    kernel = compile_cpp(
        """KERNEL(DEVICE float* out, DEVICE uint* which) {
            static THREADGROUP float first[32], second[64];
            out[0] = first[(second - first) * which[0]];
        }""",
        "out which",
    )
    with pytest.raises(UnsupportedKernel, match="a constant is computed by 'sub'"):
        kernel.function()
