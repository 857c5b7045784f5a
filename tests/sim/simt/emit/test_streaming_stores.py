"""Stores that go past the caches write what plain stores write."""

import numpy as np
import pytest

from assay.compiler.msl import compile_library
from assay.sim.check import Checker
from assay.sim.simt import Memory, dispatch
from assay.sim.simt.emit.vectorise import Vectoriser
from assay.sim.simt.ir.shape import Shape

COUNT = (9 << 20) + 32 * 5  # threads; 36 MB, more than the engine keeps in caches
SOURCE = """
#include <metal_stdlib>
kernel void twice(device const float *x [[buffer(0)]], device float *y [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
    y[i] = 2.0f * x[i];
}
"""


def _bytes_at(offset: int, count: int) -> np.ndarray:
    room = np.zeros(count * 4 + 128, np.uint8)
    start = -room.ctypes.data % 64 + offset
    return room[start : start + count * 4]


@pytest.mark.parametrize("offset", [0, 4])
def test_a_large_dispatch_writes_every_element_whatever_the_alignment(offset: int) -> None:
    executable = compile_library(SOURCE).function("twice").program().specialise((256, 1, 1))
    x = np.arange(COUNT, dtype=np.float32)
    y = _bytes_at(offset, COUNT)
    memory = Memory()
    arguments = [
        memory.register(x.view(np.uint8), name="x"),
        memory.register(y, name="y"),
    ]
    dispatch(executable, memory, arguments, threads=(COUNT, 1, 1), workers=2)
    assert np.array_equal(y.view(np.float32), 2 * x)


def test_streaming_code_is_used_where_each_thread_writes_whole_lines_once() -> None:
    program = compile_library(SOURCE).function("twice").program()
    assert "!nontemporal" in program.llvm_text((256, 1, 1))


@pytest.mark.parametrize("check", ["race", "lanes", "init"])
def test_streaming_code_is_used_under_checks_too(check: str) -> None:
    program = compile_library(SOURCE).function("twice").program()
    size = (256, 1, 1)
    code = Vectoriser(program.function, Shape(size=size, nominal=size), frozenset({check})).run()
    assert "!nontemporal" in code.text
    assert code.streams


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("offset", [0, 4])
def test_a_large_checked_dispatch_writes_every_element(offset: int, workers: int) -> None:
    executable = compile_library(SOURCE).function("twice").program().specialise((256, 1, 1))
    x = np.arange(COUNT, dtype=np.float32)
    y = _bytes_at(offset, COUNT)
    memory = Memory()
    arguments = [memory.register(each.view(np.uint8), name="b") for each in (x, y)]
    checker = Checker(frozenset({"race", "init", "bounds"}))
    for _ in range(2):
        dispatch(
            executable, memory, arguments, threads=(COUNT, 1, 1), workers=workers, checker=checker
        )
        assert np.array_equal(y.view(np.float32), 2 * x)
        y[:] = 0
    assert not checker.findings
