"""Kernels of many gathers call them, and do what they did."""

import re

import numpy as np
import pytest

from assay.checks import check_kernel
from assay.compiler.msl import compile_library
from assay.sim.simt import KernelFault, Memory, dispatch
from assay.sim.simt.emit.gathers import with_gathers_called
from assay.sim.simt.run import generation

TIMES = 40
SOURCE = f"""
#include <metal_stdlib>
kernel void walk(device const int *next [[buffer(0)]], device const half *cost [[buffer(1)]],
                 device float *total [[buffer(2)]], device int *last [[buffer(3)]],
                 uint i [[thread_position_in_grid]]) {{
    int at = next[i];
    float sum = 0;
#pragma unroll
    for (int n = 0; n < {TIMES}; ++n) {{
        sum += float(cost[at]);
        at = next[at];
    }}
    total[i] = sum;
    last[at] = int(i);
}}
"""
COUNT = 64


def _given() -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(3)
    return draw.permutation(COUNT).astype(np.int32), draw.integers(0, 9, COUNT).astype(np.float16)


def _expected(next: np.ndarray, cost: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    at, total = next.copy(), np.zeros(COUNT, np.float32)
    for _ in range(TIMES):
        total += cost[at].astype(np.float32)
        at = next[at]
    last = np.empty(COUNT, np.int32)
    last[at] = np.arange(COUNT)
    return total, last


def _accesses(text: str) -> list[str]:
    return re.findall(r"call [^@]*@(llvm\.masked\.(?:gather|scatter)[\w.]*)", text)


def test_each_type_of_many_gathers_is_written_out_once() -> None:
    text = compile_library(SOURCE).function("walk").program().llvm_text((64, 1, 1))
    assert len(_accesses(text)) >= 2 * TIMES
    called = _accesses(with_gathers_called(text))
    assert len(called) == len(set(called)) == 3  # gathers of words and halves, scatters of words


def test_a_few_gathers_stay_where_they_are() -> None:
    few = compile_library(SOURCE.replace(f"n < {TIMES}", "n < 8")).function("walk").program()
    text = few.llvm_text((64, 1, 1))
    assert len(_accesses(text)) >= 16
    assert with_gathers_called(text) == text


def test_called_gathers_load_and_store_what_the_kernel_says() -> None:
    executable = compile_library(SOURCE).function("walk").program().specialise((32, 1, 1))
    next, cost = _given()
    total, last = np.zeros(COUNT, np.float32), np.full(COUNT, -1, np.int32)
    memory = Memory()
    arguments = [
        memory.register(each.view(np.uint8), name=name)
        for name, each in (("next", next), ("cost", cost), ("total", total), ("last", last))
    ]
    dispatch(executable, memory, arguments, threads=(COUNT, 1, 1))
    expected = _expected(next, cost)
    assert np.array_equal(total, expected[0])
    assert np.array_equal(last, expected[1])


def test_called_gathers_never_leave_their_buffer() -> None:
    executable = compile_library(SOURCE).function("walk").program().specialise((32, 1, 1))
    next, cost = _given()
    next[5] = 1 << 20
    memory = Memory()
    arguments = [
        memory.register(each.view(np.uint8), name=name)
        for name, each in (
            ("next", next),
            ("cost", cost),
            ("total", np.zeros(COUNT, np.float32)),
            ("last", np.zeros(COUNT, np.int32)),
        )
    ]
    with pytest.raises(KernelFault, match="cost"):
        dispatch(executable, memory, arguments, threads=(COUNT, 1, 1))


def test_code_too_large_to_be_optimised_is_checked_with_the_same_results(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(generation, "_MOST_WATCHED_TEXT", 1000)
    source = SOURCE.replace("walk", "slow_walk")  # nothing else has put its code into the cache
    next, cost = _given()
    total, last = np.zeros(COUNT, np.float32), np.full(COUNT, -1, np.int32)
    report = check_kernel(source, "slow_walk", next, cost, total, last, threads=COUNT)
    assert not report.findings
    expected = _expected(next, cost)
    assert np.array_equal(total, expected[0])
    assert np.array_equal(last, expected[1])

    next[5] = COUNT
    report = check_kernel(source, "slow_walk", next, cost, total, last, threads=COUNT)
    assert {finding.kind for finding in report.findings} >= {"out-of-bounds-read"}
