import re

import pytest

from assay.compiler.msl import CompileError, CompileOptions, compile_library
from assay.compiler.msl.front import diagnostics


def error_of(source: str, **options: object) -> str:
    with pytest.raises(CompileError) as caught:
        library = compile_library(source, file_name="mine.metal", options=CompileOptions(**options))
        library.function(library.function_names[0])
    return str(caught.value)


HEAD = "#include <metal_stdlib>\nusing namespace metal;\n"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "kernel void k(device float* x) {\n  x[0] = y;\n}",
            "mine.metal:4:10: error: use of undeclared identifier 'y'\n  x[0] = y;\n         ^",
        ),
        (
            "#define ADD(a, b) a + /* c */ b\nkernel void k(device float* x) {\n  float z = ADD(1, "
            "2); x[0] = z + q;\n}",
            "mine.metal:5:35: error: use of undeclared identifier 'q'",
        ),
        (
            "kernel void k(device float* x) {\n  threadgroup float* t = x;\n}",
            "mine.metal:4:22: error: cannot initialize a variable of type 'threadgroup float *' "
            "with an "
            "lvalue of type 'device float *'",
        ),
        (
            "kernel void k(constant float* x) {\n  x[0] = 1;\n}",
            "mine.metal:4:8: error: read-only variable is not assignable",
        ),
        (
            "kernel void k(device float* x) { x[0] = sqrt(float4(1)); }",
            "mine.metal:3:41: error: assigning to 'float' from incompatible type",
        ),
        (
            "kernel void k(device float2* x) { x[0] = x[0].xyz; }",
            "mine.metal:3:47: error: no member named 'xyz' in 'metal::vec<float, 2>'",
        ),
        ("kernel void k(device float* x) { x[0] = 1 }", "mine.metal:3:42: error: expected ';'"),
        ("kernel void k(device float* x) {\n", "mine.metal:3:32: error: this '{' is never closed"),
        (
            "kernel void k(float x) {}",
            "mine.metal:3:15: error: kernel parameter 'x' has neither an address space nor a known "
            "attribute",
        ),
        (
            "kernel void k(texture2d<float, access::write> t) { t.read(uint2(0)); }",
            "mine.metal:3:54: error: no matching member function for call to 'read'",
        ),
        (
            "kernel void k(instance_acceleration_structure s [[buffer(0)]]) {}",
            "mine.metal:3:15: error: 'instance_acceleration_structure': ray "
            "tracing is not supported",
        ),
        (
            "using namespace metal::raytracing;\nkernel void k() {}",
            "mine.metal:3:24: error: 'raytracing': ray tracing is not supported",
        ),
        (
            "struct P { float4 c; };\nkernel void k(imageblock<P> b) {}",
            "mine.metal:4:15: error: 'imageblock': imageblocks and tile "
            "functions are not supported",
        ),
        (
            "struct I { float2 p [[attribute(0)]]; };\nkernel void k(I i [[stage_in]]) {}",
            "mine.metal:4:15: error: '[[stage_in]]' parameters are not supported",
        ),
        ('kernel void k(device float* x) { asm("nop"); }', "mine.metal:3:34: error: 'asm'"),
        ("#error too old\nkernel void k() {}", "mine.metal:3:2: error: too old"),
        (
            "#include <no_such>\nkernel void k() {}",
            "mine.metal:3:10: fatal error: 'no_such' file not found",
        ),
        ("kernel void k(device float* x [[buffer(first)]]) {}", "undeclared identifier 'first'"),
    ],
)
def test_error_stands_at_the_users_place_in_clangs_words(source: str, expected: str) -> None:
    assert expected in error_of(HEAD + source)


@pytest.mark.parametrize(
    "source",
    [
        "kernel void k(device float* x) { x[0] = max(float3(1), float2(2)).x; }",
        "kernel void k(device float4* x) { x[0] = float4(float3(1), float3(1)); }",
        "kernel void k(device float* x) { x[0] = simd_sum(x); }",
        "struct S { float a; };\nkernel void k(device S* s) { s[0] = s[0] + s[1]; }",
        "kernel void k(device half* x) { simdgroup_matrix<int, 8, 8> m; }",
        "template <typename T> T f(T x) { return x.nothing; }\nkernel void k(device float* x) { "
        "x[0] = f(x[0]); }",
    ],
)
def test_nothing_of_our_own_headers_or_names_is_shown(source: str) -> None:
    text = error_of(HEAD + source)
    assert re.match(r"mine\.metal:[34]:\d+: error: ", text)
    assert not re.search(r"__assay|__ASSAY|/include/|opencl_|_Float16|__global|built-in", text)


def test_an_error_without_a_place_is_told_in_clangs_words() -> None:
    said = "fatal error: file 'all.h' has been modified since it was read\n1 error generated.\n"
    told = diagnostics.readable(said, [], {}, "k.metal:1:1")
    assert told == "k.metal:1:1: error: file 'all.h' has been modified since it was read"


def test_error_in_an_included_file_stands_in_that_file(tmp_path) -> None:
    (tmp_path / "part.h").write_text("\nint broken() { return nothing; }\n")
    text = error_of(HEAD + '#include "part.h"\nkernel void k() {}', include_paths=(tmp_path,))
    assert f"{tmp_path}/part.h:2:23: error: use of undeclared identifier 'nothing'" in text


def test_error_of_an_instantiation_names_who_asked_for_it() -> None:
    text = error_of(
        HEAD + "template <typename T> void f(T x) {\n  x.nothing();\n}\n"
        "kernel void k(device float* x) {\n  f(x[0]);\n}"
    )
    assert "mine.metal:4:4: error: member reference base type 'float' is not a structure" in text
    assert "mine.metal:7:3: note: in instantiation of" in text


def test_error_in_an_uncalled_kernel_is_found_when_the_library_is_made() -> None:
    text = error_of(
        HEAD + "kernel void a(device int* x) {}\nkernel void b(device int* x) { oops; }"
    )
    assert "mine.metal:4:32: error: use of undeclared identifier 'oops'" in text
