"""A simdgroup's asynchronous copies in compiled libraries move what they say."""

from __future__ import annotations

import numpy as np
import pytest

from tests.compiler.air.test_lowering import FLOATS, run
from tests.support.metallib import kernel, library

EVENTS = ["ptr", "ptr addrspace(3)"]  # as older and newer compilers declare them
TILE = "@tile = internal addrspace(3) global [64 x float] undef, align 16\n"


@pytest.mark.parametrize("event", EVENTS)
def test_a_tile_is_copied_to_threadgroup_memory_and_back(event: str) -> None:
    pair = "<2 x i64>"
    into = "@air.simdgroup_async_copy_2d.p3i8.p1i8"
    back = "@air.simdgroup_async_copy_2d.p1i8.p3i8"
    rest = f"i64, i64, {pair}"
    declared = (
        f"{TILE}declare {event} {into}(i64, i64, ptr addrspace(3), {rest}, ptr addrspace(1), "
        f"{rest}, {pair}, i32)\n"
        f"declare {event} {back}(i64, i64, ptr addrspace(1), {rest}, ptr addrspace(3), {rest}, "
        f"{pair}, i32)\ndeclare void @air.wait_simdgroup_events(i32, ptr)"
    )
    body = f"""  %e = alloca [1 x {event}]
  %a = call {event} {into}(i64 4, i64 4, ptr addrspace(3) @tile, i64 8, i64 1, \
{pair} <i64 8, i64 4>, ptr addrspace(1) %b0, i64 16, i64 1, \
{pair} <i64 6, i64 4>, {pair} zeroinitializer, i32 0)
  store {event} %a, ptr %e
  call void @air.wait_simdgroup_events(i32 1, ptr %e)
  %b = call {event} {back}(i64 4, i64 4, ptr addrspace(1) %b1, i64 8, i64 1, \
{pair} <i64 8, i64 4>, \
ptr addrspace(3) @tile, i64 8, i64 1, {pair} <i64 8, i64 4>, {pair} zeroinitializer, i32 0)
  store {event} %b, ptr %e
  call void @air.wait_simdgroup_events(i32 1, ptr %e)"""
    x = np.arange(64, dtype=np.float32).reshape(4, 16)
    data = library({"k": kernel("k", body, FLOATS, declared=declared)})
    _, found = run(data, "k", [x, np.ones((4, 8), np.float32)])
    expected = np.zeros((4, 8), np.float32)
    expected[:, :6] = x[:, :6]  # what the source has not is zero
    np.testing.assert_array_equal(found, expected)


def test_a_line_is_copied_and_a_load_sees_it() -> None:
    name = "@air.simdgroup_async_copy_1d.p3i8.p1i8"
    declared = (
        f"{TILE}declare ptr {name}(i64, i64, ptr addrspace(3), ptr addrspace(1), i64)\n"
        "declare void @air.wait_simdgroup_events(i32, ptr)"
    )
    body = f"""  %e = alloca ptr
  %a = call ptr {name}(i64 4, i64 4, ptr addrspace(3) @tile, ptr addrspace(1) %b0, i64 32)
  store ptr %a, ptr %e
  call void @air.wait_simdgroup_events(i32 1, ptr %e)
  %r = sub i32 31, %p0
  %from = getelementptr float, ptr addrspace(3) @tile, i32 %r
  %v = load float, ptr addrspace(3) %from
  %to = getelementptr float, ptr addrspace(1) %b1, i32 %p0
  store float %v, ptr addrspace(1) %to"""
    x = np.arange(32, dtype=np.float32)
    data = library({"k": kernel("k", body, FLOATS, declared=declared)})
    assert np.array_equal(run(data, "k", [x, np.zeros(32, np.float32)])[1], x[::-1])
