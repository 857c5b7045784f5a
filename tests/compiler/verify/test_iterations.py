"""Which iterations of loops decide what is in a block."""

from __future__ import annotations

from assay.compiler.msl import compile_library
from assay.compiler.verify.counts import Count
from assay.compiler.verify.facts import Facts
from assay.compiler.verify.kernel import Kernel, prepared
from assay.compiler.verify.walks.iterations import Iterations

SOURCE = """\
#include <metal_stdlib>
using namespace metal;
kernel void k(device uint* y, constant uint& n, uint t [[thread_position_in_grid]]) {
    for (uint row = 0; row < n; ++row) {
        for (uint i = 0; i < t; ++i) y[t] += i;
        for (uint j = 0; j < row; ++j) y[t] += j;
    }
}
"""


def _kernel() -> Kernel:
    return prepared(compile_library(SOURCE).function("k").program(), (64, 1, 1))


def test_loops_that_come_later_in_an_iteration_decide_nothing_before() -> None:
    kernel = _kernel()
    rows, *inner = sorted(kernel.cfg.loops, key=lambda loop: kernel.cfg.index[loop.header])
    first, second = inner
    assert kernel.behind[kernel.cfg.order[0]] == frozenset()
    assert kernel.behind[rows.header] == {rows}
    assert kernel.behind[first.header] == {rows, first}
    assert kernel.behind[second.header] == {rows, first, second}


def test_what_is_computed_is_one_for_iterations_that_do_not_decide_it() -> None:
    kernel = _kernel()
    rows, first, second = sorted(kernel.cfg.loops, key=lambda loop: kernel.cfg.index[loop.header])
    iterations = Iterations(kernel, "a", Facts(kernel.function.instructions()))
    row = {rows: Count("row")}
    keys = {
        iterations.deciding(first.header, {**row, first: Count(), **more})[1]
        for more in ({}, {second: Count()}, {second: Count("any")})
    }
    assert len(keys) == 1
    keys = {
        iterations.deciding(second.header, {**row, second: Count(), **more})[1]
        for more in ({first: Count()}, {first: Count("any")})
    }
    assert len(keys) == 2
