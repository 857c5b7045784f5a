import re

import pytest

from assay.compiler.msl import CompileOptions, compile_library
from tests.support.msl_host import optimised

HEAD = "#include <metal_stdlib>\nusing namespace metal;\n"


def ir(source: str, name: str = "k", **options: object) -> str:
    library = compile_library(HEAD + source, options=CompileOptions(**options))
    return str(optimised(library.function(name).bitcode))


AXPY = "kernel void k(device float* x) {{ {pragma}\n x[0] = x[1] * x[2] + x[3]; }}"


def test_fast_math_licenses_contraction_alone() -> None:
    text = ir(AXPY.format(pragma=""))
    assert "contract" in text
    assert not re.search(r"\b(fast|nnan|ninf|nsz|reassoc|arcp|afn)\b", text)


def test_contraction_is_off_where_the_program_says_so() -> None:
    text = ir(AXPY.format(pragma="\n#pragma METAL fp contract(off)"))
    assert "contract" not in text and "fmuladd" not in text


@pytest.mark.parametrize(
    ("pragma", "fast"), [("\n#pragma METAL fp math_mode(safe)", True), ("", False)]
)
def test_without_fast_math_clang_contracts_within_expressions(pragma: str, fast: bool) -> None:
    text = ir(AXPY.format(pragma=pragma), fast_math=fast)
    assert "contract" not in text and "llvm.fmuladd.f32" in text


@pytest.mark.parametrize(("space", "number"), [("device", 1), ("constant", 6), ("threadgroup", 3)])
def test_vectors_are_loaded_whole_and_aligned(space: str, number: int) -> None:
    parameter = f"{space} float4* p"
    text = ir(f"kernel void k({parameter}, device float4* q) {{ q[0] = p[5].wzyx * 2.0f; }}")
    assert re.search(r"load <4 x float>, ptr .*align 16", text)
    assert f"ptr addrspace({number})" in text


def test_instructions_of_our_headers_carry_the_users_line() -> None:
    text = ir("kernel void k(device float4* p) {\n  p[0] = exp(p[1]);\n}")
    files = set(re.findall(r'!DIFile\(filename: "([^"]*)"', text))
    assert files <= {"program_source.metal", "-", "<stdin>"}
    lines = {int(line) for line in re.findall(r"!DILocation\(line: (\d+)", text)}
    assert lines <= {3, 4, 5}


def test_elementary_functions_have_no_branches() -> None:
    names = "exp exp2 exp10 log log2 log10 tanh sinh cosh asin acos atan sinpi cospi"
    for name in names.split():
        text = ir(f"kernel void k(device float* p) {{ p[0] = {name}(p[1]); }}")
        assert "br i1" not in text, name


def test_threadgroup_variables_are_uninitialised_globals() -> None:
    library = compile_library(
        HEAD + "kernel void k(device float* p) { threadgroup float t[7]; t[0] = p[0]; p[1] = "
        "t[1]; }"
    )
    import llvmlite.binding as llvm

    text = str(llvm.parse_bitcode(library.function("k").bitcode))
    assert re.search(r"= internal addrspace\(3\) global \[7 x float\] undef", text)


def test_overloaded_kernels_and_helpers_are_told_apart() -> None:
    library = compile_library(
        HEAD + "void work(thread int& x) { x += 1; }\n"
        "kernel void work(device int* x [[buffer(0)]], uint i [[thread_position_in_grid]])"
        "{ int y = x[i]; work(y); x[i] = y; }"
    )
    assert [a.name for a in library.function("work").arguments] == ["x"]
