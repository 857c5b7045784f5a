"""Barriers that all but the last iteration of a loop end in."""

from __future__ import annotations

import pytest

from .sources import BARRIER, proved

SOURCE = f"""\
#include <metal_stdlib>
using namespace metal;
//! [kernel.k]
//! threadgroup = 64
kernel void k(device uint* to, constant uint& n, uint t [[thread_index_in_threadgroup]],
              uint row [[threadgroup_position_in_grid]]) {{
    threadgroup uint tile[64];
    uint sum = 0;
    for (uint i = 0; i < n; ++i) {{
        tile[t] = i;
        {BARRIER}
        sum += tile[63 - t];
        if (i + 1 < n) {{
            {BARRIER}
        }}
    }}
    to[row * 64 + t] = sum;
}}
"""
_RACES = "threadgroup races"


def test_the_last_iteration_needs_no_barrier_at_its_end() -> None:
    found = proved(SOURCE, "initialised")
    assert {each: answer.verdict for each, answer in found.items()} == dict.fromkeys(
        found, "proved"
    )


@pytest.mark.parametrize(
    "new",
    ["if (i + 2 < n)", "if (i % 2 == 0)", "if (i > 0)", "if (i + 1 < n - 1)", "if (n == 5)"],
)
def test_any_other_iteration_does(new: str) -> None:
    assert proved(SOURCE.replace("if (i + 1 < n)", new))[_RACES].verdict == "refuted"


def test_what_comes_behind_the_loop_is_not_ordered_with_its_last_iteration() -> None:
    source = SOURCE.replace("to[row * 64", "tile[t] = 0; to[row * 64")
    assert proved(source)[_RACES].verdict == "refuted"


def test_a_barrier_before_the_one_that_was_passed_orders_nothing() -> None:
    source = SOURCE.replace(f"if (i + 1 < n) {{\n            {BARRIER}", "{").replace(
        "tile[t] = i;", f"if (i + 1 < n) {{ {BARRIER} }} tile[t] = i;"
    )
    assert proved(source)[_RACES].verdict == "refuted"


def test_a_barrier_of_device_memory_orders_nothing() -> None:
    source = SOURCE.replace(f"if (i + 1 < n) {{\n            {BARRIER}", "if (i + 1 < n) { DEVICE")
    source = source.replace("DEVICE", "threadgroup_barrier(mem_flags::mem_device);")
    assert proved(source)[_RACES].verdict == "refuted"
