"""Macros in the arguments of pragmas mean what they mean elsewhere."""

import re

import llvmlite.binding as llvm
import pytest

from assay.compiler.msl import CompileError, compile_library

COUNTS = {
    "#pragma unroll (COUNT)": 3,
    "#pragma unroll(COUNT)": 3,
    "#pragma unroll COUNT": 3,
    "#pragma unroll (COUNT * 2)": 6,
    "#pragma unroll (number)": 5,
    'UNROLLED("unroll (COUNT)")': 3,
    "#pragma clang loop unroll_count(COUNT)": 3,
    "#pragma clang loop unroll_count(number)": 5,
}
SOURCE = """#include <metal_stdlib>
#define COUNT 3
#define UNROLLED(text) _Pragma(text)
constant constexpr int number = 5;
kernel void k(device float* x, constant int& n) {{
    {pragma}
    for (int i = 0; i < n; i++) x[i] += 1;
}}
"""


def unrolled(source: str) -> list[int]:
    """How often loops are to be unrolled, by what the compiler is told."""
    bitcode = compile_library(source).function("k").bitcode
    with llvm.parse_bitcode(bitcode, llvm.create_context()) as module:
        return [int(n) for n in re.findall(r'"llvm.loop.unroll.count", i32 (\d+)', str(module))]


@pytest.mark.parametrize("pragma", COUNTS)
def test_counts_of_unrolling_may_be_macros(pragma: str) -> None:
    assert unrolled(SOURCE.format(pragma=pragma)) == [COUNTS[pragma]]


def test_macros_may_be_made_of_macros() -> None:
    more = "#define COUNT 3\n#define TWICE (COUNT + COUNT)"
    source = SOURCE.format(pragma="#pragma unroll (TWICE)").replace("#define COUNT 3", more)
    assert unrolled(source) == [6]


def test_a_name_that_nothing_defines_is_named_at_its_line() -> None:
    with pytest.raises(CompileError, match=r":6:\d+: error: use of undeclared identifier 'OTHER'"):
        unrolled(SOURCE.format(pragma="#pragma unroll (OTHER)"))


def test_programs_see_nothing_of_how_that_is_done() -> None:
    source = SOURCE.format(pragma="") + "#ifdef _MSC_EXTENSIONS\n#error seen\n#endif\n"
    assert unrolled(source) == []


@pytest.mark.parametrize("pragma", ["#pragma mark - it's a mark", "#pragma region one"])
def test_pragmas_that_say_nothing_to_the_compiler_are_left_out(pragma: str) -> None:
    assert unrolled(SOURCE.format(pragma=pragma)) == []
