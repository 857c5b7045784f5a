"""Switches: of any number of cases the right one, by a logarithmic number of comparisons."""

from __future__ import annotations

import numpy as np
import pytest

from assay.compiler.msl import compile_library
from assay.sim.simt import UnsupportedKernel
from assay.sim.simt.ir.nodes import Function
from assay.sim.simt.read.call_graph import MOST_CASES
from tests.support.msl import PRELUDE, run_kernel


def switch_of(values: list[int], type: str = "int") -> str:
    """Cases that lanes have to go through one by one: no table can stand for them."""
    cases = "\n".join(
        f"    case {value}: r = (r * {place % 7 + 3}u) ^ {place}u; {'break;' if place % 5 else ''}"
        for place, value in enumerate(values)
    )
    return f"""kernel void f(device const {type}* a [[buffer(0)]], device uint* o [[buffer(1)]],
              uint i [[thread_position_in_grid]]) {{
    uint r = i;
    switch (a[i]) {{
{cases}
    default: r += 100000u;
    }}
    o[i] = r;
}}"""


def expected(values: list[int], given: np.ndarray) -> np.ndarray:
    found = []
    for thread, value in enumerate(given.tolist()):
        r = thread
        place = values.index(value) if value in values else len(values)
        while place < len(values):
            r = (r * (place % 7 + 3)) ^ place
            place += 1
            if (place - 1) % 5:
                break
        else:
            r += 100000
        found.append(r & 0xFFFFFFFF)
    return np.array(found, np.uint32)


@pytest.mark.parametrize(
    ("values", "type"),
    [
        (list(range(5)), "int"),
        (list(range(-20, 20)), "int"),
        ([7, -(2**31), 3, 2**31 - 1, 900, -5, 12, 11, 10, 9, 14, 77], "int"),
        (list(range(0, 255, 9)), "uchar"),
        ([5 * n * n for n in range(140)], "int"),
    ],
)
def test_every_thread_takes_its_case(values: list[int], type: str) -> None:
    chosen = np.random.default_rng(3)
    kind = np.uint8 if type == "uchar" else np.int32
    others = chosen.integers(0, 255, 40)
    given = chosen.permutation(np.concatenate([chosen.choice(values, 88), others])).astype(kind)
    out = np.zeros(given.size, np.uint32)
    run_kernel(switch_of(values, type), given, out, threads=given.size)
    np.testing.assert_array_equal(out, expected(values, given))


def function_of(cases: int) -> Function:
    return compile_library(PRELUDE + switch_of(list(range(cases)))).function("f").program().function


def test_a_case_is_found_by_halves() -> None:
    function = function_of(128)
    depth = {function.blocks[0]: 0}
    for block in function.blocks:
        for target in block.targets:
            if "case" in target.name:
                depth[target] = depth[block] + 1
    assert len(depth) > 100
    assert max(depth.values()) <= 8


def test_code_grows_with_the_number_of_cases() -> None:
    programs = [
        compile_library(PRELUDE + switch_of(list(range(cases)))).function("f").program()
        for cases in (64, 256)
    ]
    small, large = (len(program.llvm_text((32, 1, 1)).splitlines()) for program in programs)
    assert large < 6 * small


def test_a_switch_that_is_too_large_is_refused_where_it_is() -> None:
    with pytest.raises(
        UnsupportedKernel, match=r"the switch has 1025 cases; at most 1024"
    ) as caught:
        function_of(MOST_CASES + 1)
    assert caught.value.site.line == 6
