"""Shifts count modulo the width, whoever wrote the count."""

from __future__ import annotations

import numpy as np
import pytest

from assay.sim.simt.ir.operations.integers import AND
from tests.support.kernels import Kernel, assemble, on_engine, on_reference

_KERNEL = """
define void @kernel_entry(ptr addrspace(1) %x, ptr addrspace(1) %y) {{
  %n = load i32, ptr addrspace(1) %x
  %m = and i32 %n, {mask}
  %q = getelementptr i32, ptr addrspace(1) %x, i64 1
  %v = load i32, ptr addrspace(1) %q
  %a = lshr i32 %v, %m
  %b = shl i32 %v, {count}
  %c = add i32 %a, %b
  store i32 %c, ptr addrspace(1) %y
  ret void
}}
"""


def _kernel(mask: int, count: int) -> Kernel:
    return assemble(_KERNEL.format(mask=mask, count=count), "x y")


@pytest.mark.parametrize(("mask", "count", "expected"), [(31, 33, 4 + 128), (15, 2, 4 + 256)])
def test_a_count_is_taken_modulo_the_width(mask: int, count: int, expected: int) -> None:
    kernel = _kernel(mask, count)
    for run in (on_engine, on_reference):
        columns = [np.array([36, 64], np.int32), np.zeros(1, np.int32)]
        found = run(kernel, columns, threadgroup_size=(1, 1, 1), threads=(1, 1, 1))
        assert found[1][0] == expected


def test_a_mask_of_a_count_is_left_out_where_it_says_no_more_than_the_width() -> None:
    functions = [_kernel(mask, 1).function() for mask in (31, 15)]
    operations = [{i.operation for i in function.instructions()} for function in functions]
    assert [AND in each for each in operations] == [False, True]


def test_a_count_that_the_optimiser_left_unknown_is_taken_modulo_the_width_too() -> None:
    text = """
declare i32 @llvm.udiv.fix.i32(i32, i32, i32 immarg)
define void @kernel_entry(ptr addrspace(1) %y) {
  %n = call i32 @llvm.udiv.fix.i32(i32 -1, i32 1, i32 0)
  %m = and i32 %n, 31
  %v = shl i32 3, %m
  store i32 %v, ptr addrspace(1) %y
  ret void
}
"""
    for run in (on_engine, on_reference):
        kernel = assemble(text, "y")
        found = run(kernel, [np.zeros(1, np.int32)], threadgroup_size=(1, 1, 1), threads=(1, 1, 1))
        assert found[0][0] == -(2**31)
