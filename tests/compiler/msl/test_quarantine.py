"""An error in one function is told of the kernels that use it; the others compile."""

import pytest

from assay.compiler.msl import CompileError, compile_library
from assay.compiler.msl.rewrite.quarantine import quarantined

SOURCE = """#include <metal_stdlib>
using namespace metal;
float helper(float x) { return y + x; }
kernel void good(device float* x, uint i [[thread_position_in_grid]]) { x[i] = 1; }
kernel void bad(device float* x, uint i [[thread_position_in_grid]]) { x[i] = z; }
kernel void user(device float* x, uint i [[thread_position_in_grid]]) { x[i] = helper(2); }
"""


def test_an_error_in_one_kernel_is_that_kernels() -> None:
    library = compile_library(SOURCE, each_alone=True)
    assert library.function("good").name == "good"
    with pytest.raises(CompileError, match="5:79: error: use of undeclared identifier 'z'"):
        library.function("bad")
    with pytest.raises(CompileError, match="3:32: error: use of undeclared identifier 'y'"):
        library.function("user")


def test_metal_refuses_the_whole_text_also_after_it_was_taken_in_parts() -> None:
    compile_library(SOURCE, each_alone=True)
    with pytest.raises(CompileError, match="undeclared identifier 'y'"):
        compile_library(SOURCE)


def test_a_text_without_a_kernel_that_compiles_is_refused() -> None:
    with pytest.raises(CompileError, match="undeclared identifier 'z'"):
        compile_library("kernel void k(device float* x) { x[0] = z; }", each_alone=True)


def test_a_compiler_that_broke_off_is_told_of_as_it_is() -> None:
    with pytest.raises(CompileError, match="the compiler was stopped after 15 s"):
        quarantined(SOURCE, "the compiler was stopped after 15 s", 0)
