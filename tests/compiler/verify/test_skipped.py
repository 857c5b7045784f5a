"""Barriers that a thread did not come to: at the end of a loop's iterations, or behind an if."""

from __future__ import annotations

import pytest

from .sources import BARRIER, proved

_HEAD = """\
#include <metal_stdlib>
using namespace metal;
//! [kernel.k]
//! threadgroup = 64
kernel void k(device uint* to, constant uint& n, uint t [[thread_index_in_threadgroup]],
              uint row [[threadgroup_position_in_grid]]) {
    threadgroup uint tile[64];
    uint sum = 0;
"""
SOURCE = f"""\
{_HEAD}\
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


# -- behind an if ---------------------------------------------------------------------------------

_READ = "if (n > 1) sum = tile[63 - t];"
_BEHIND_IF = f"""\
{_HEAD}\
    tile[t] = t;
    if (n > 1) {{
        {BARRIER}
    }}
    {_READ}
    to[row * 64 + t] = sum;
}}
"""
_LOOP = """for (uint i = 0; i < n; ++i) {
    if (i < 5) tile[t] = i;
    if (i < 3 && n > 4) { BARRIER }
    if (READS) sum += tile[63 - t];
    if (i < 9) { BARRIER }
}""".replace("BARRIER", BARRIER)


@pytest.mark.parametrize("properties", [(), ("initialised",)])
def test_a_barrier_behind_the_same_condition_is_passed(properties: tuple[str, ...]) -> None:
    found = proved(_BEHIND_IF, *properties)
    assert {each: answer.verdict for each, answer in found.items()} == dict.fromkeys(
        found, "proved"
    )


@pytest.mark.parametrize("new", ["if (n > 0)", "if (n != 1)", "if (true)", "if (n > 1 || t > 5)"])
def test_a_barrier_behind_another_condition_may_not_be(new: str) -> None:
    found = proved(_BEHIND_IF.replace("if (n > 1) sum", f"{new} sum"), "initialised")
    assert found[_RACES].verdict == found["initialised"].verdict == "refuted"


def test_a_barrier_before_a_store_does_not_order_what_is_read_behind_it() -> None:
    store = "tile[t] = t;"
    source = _BEHIND_IF.replace(f"    {store}\n", "").replace(_READ, f"{store} {_READ}")
    assert proved(source)[_RACES].verdict == "refuted"


@pytest.mark.parametrize(
    ("reads", "verdict"),
    [("i < 3 && n > 4", "proved"), ("i < 4 && n > 4", "refuted"), ("i < 3 && n > 3", "refuted")],
)
def test_a_barrier_of_the_same_iteration_is_passed(reads: str, verdict: str) -> None:
    source = _BEHIND_IF.replace(_READ, _LOOP.replace("READS", reads))
    assert proved(source)[_RACES].verdict == verdict


def test_a_barrier_behind_a_loop_does_not_order_what_is_in_it() -> None:
    loop = "for (uint i = 0; i < n; ++i) { sum += tile[63 - t]; if (sum > 99) break; }"
    source = _BEHIND_IF.replace(_READ, f"if (n > 1) {{ {BARRIER} }}")
    source = source.replace(f"if (n > 1) {{\n        {BARRIER}\n    }}", loop, 1)
    assert proved(source)[_RACES].verdict == "refuted"
