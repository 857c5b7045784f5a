"""Which kernels of source are meant, and what is said where there are none."""

from __future__ import annotations

import pytest

from assay.compiler.msl import compile_library
from assay.launches.errors import LaunchInputError
from assay.launches.source import chosen_kernels
from tests.support.msl import PRELUDE

KERNEL = "kernel void {name}(device float* x, uint i [[thread_position_in_grid]]) {{ x[i] = 1; }}"


def said(source: str, *patterns: str) -> str:
    with pytest.raises(LaunchInputError) as found:
        chosen_kernels(compile_library(source), patterns)
    return str(found.value)


@pytest.mark.parametrize("marked", ["[[kernel]]", "kernel", '[[kernel, host_name("scale")]]'])
def test_a_template_that_nobody_instantiates_comes_with_the_line_that_does(marked: str) -> None:
    source = (
        f"{PRELUDE}template <typename T, int N = 2>\n{marked} void scale(device T* x [[buffer(0)]],"
        " uint i [[thread_position_in_grid]]) { x[i] *= N; }\n"
    )
    message = said(source)
    assert "there is no kernel in it: 'scale' is a template; instantiate it" in message
    if "host_name" not in marked:
        line = message.partition("such as ")[2]
        assert compile_library(source + line).function_names == ("scale_float",)


def test_source_without_any_kernel_says_no_more() -> None:
    assert said(f"{PRELUDE}template <typename T> T twice(T x) {{ return x + x; }}").endswith(
        "there is no kernel in it"
    )


def test_of_many_kernels_those_are_named_first_that_hold_what_was_asked_for() -> None:
    names = [f"add_{n}" for n in range(20)] + [f"mul_mv_q4_{n}" for n in range(4)]
    source = PRELUDE + "\n".join(KERNEL.format(name=name) for name in names)
    message = said(source, "mul_mv_q4")
    assert "there are mul_mv_q4_0, mul_mv_q4_1, mul_mv_q4_2, mul_mv_q4_3, add_0" in message
    assert message.endswith("and 14 more")
