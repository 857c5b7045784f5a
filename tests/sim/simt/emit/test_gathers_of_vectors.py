"""Loads of vectors at places that no rule gives: several components come with one gather."""

from __future__ import annotations

import re

import numpy as np
import pytest

from assay.sim.simt import KernelFault, Program
from tests.support.kernels import ENTRY, Kernel, assemble, on_engine, on_reference

_KERNEL = """
declare i32 @__assay_thread_position_in_grid(i32)
define void @kernel_entry(ptr addrspace(1) %order, ptr addrspace(1) %x, ptr addrspace(1) %y) {{
  %i = call i32 @__assay_thread_position_in_grid(i32 0)
  %w = zext i32 %i to i64
  %o = getelementptr i32, ptr addrspace(1) %order, i64 %w
  %place = load i32, ptr addrspace(1) %o
  %at = zext i32 %place to i64
  %p = getelementptr i8, ptr addrspace(1) %x, i64 %at
  %v = load <{count} x {type}>, ptr addrspace(1) %p, align 1
  %r = getelementptr [{count} x {type}], ptr addrspace(1) %y, i64 %w
  store <{count} x {type}> %v, ptr addrspace(1) %r, align 1
  ret void
}}
"""
_BYTES = {"i8": 1, "i16": 2, "half": 2, "bfloat": 2, "i32": 4, "float": 4, "i64": 8, "double": 8}
_THREADS = 75  # the last simdgroup is not full


def _kernel(type: str, count: int) -> Kernel:
    return assemble(_KERNEL.format(type=type, count=count), "order x y")


def _columns(size: int, places: np.ndarray) -> list[np.ndarray]:
    data = np.random.default_rng(1).integers(0, 256, 4096, np.uint8)
    return [places.astype(np.uint32), data, np.zeros(_THREADS * size, np.uint8)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("type", _BYTES)
@pytest.mark.parametrize("count", [2, 3, 4])
def test_each_lane_has_its_bytes(type: str, count: int) -> None:
    size = _BYTES[type] * count
    places = np.random.default_rng(2).integers(0, 4097 - size, _THREADS)
    places[-1] = 4096 - size
    expected = _columns(size, places)[1][places[:, None] + np.arange(size)]
    for run in (on_engine, on_reference):
        found = run(
            _kernel(type, count),
            _columns(size, places),
            threadgroup_size=(64, 1, 1),
            threads=(_THREADS, 1, 1),
        )
        assert np.array_equal(found[2].reshape(_THREADS, size), expected)


@pytest.mark.parametrize(("type", "count"), [("i8", 4), ("half", 4), ("float", 4)])
def test_the_last_byte_of_a_vector_must_be_inside(type: str, count: int) -> None:
    size = _BYTES[type] * count
    places = np.random.default_rng(2).integers(0, 4097 - size, _THREADS)
    places[70] = 4097 - size
    for run in (on_engine, on_reference):
        with pytest.raises(KernelFault) as caught:
            run(
                _kernel(type, count),
                _columns(size, places),
                threadgroup_size=(64, 1, 1),
                threads=(_THREADS, 1, 1),
            )
        assert caught.value.place.thread_position_in_grid == (70, 0, 0)


@pytest.mark.parametrize(
    ("type", "count", "word"),
    [("i8", 2, "i16"), ("i8", 4, "i32"), ("half", 2, "i32"), ("i16", 4, "i64"), ("i32", 4, "i64")],
)
def test_gathers_are_as_wide_as_they_can_be(type: str, count: int, word: str) -> None:
    kernel = _kernel(type, count)
    program = Program(kernel.bitcode, ENTRY, name="test_kernel", parameters=kernel.parameters)
    text = program.llvm_text((64, 1, 1))
    gathers = re.findall(r"call <32 x (\w+)> @llvm.masked.gather", text)
    assert gathers == [word] * (_BYTES[type] * count * 8 // int(word[1:]))
