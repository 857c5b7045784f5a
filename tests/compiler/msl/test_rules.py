"""What Apple's compiler refuses and C++ would take is refused at the line that does it."""

import pytest

from assay.compiler.msl import CompileError, compile_library
from tests.support.msl import PRELUDE

FIRST = PRELUDE.count("\n") + 1
KERNEL = "kernel void k(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
POINTER = "pointer type must have explicit address space qualifier"
REFERENCE = "reference type must have explicit address space qualifier"


def refusal(source: str) -> str:
    with pytest.raises(CompileError) as caught:
        library = compile_library(PRELUDE + source, file_name="mine.metal")
        for name in library.function_names:
            library.function(name)
    return str(caught.value)


@pytest.mark.parametrize(
    ("source", "line", "message"),
    [
        ("kernel void k(float* x [[buffer(0)]]) { x[0] = 1; }", 1, POINTER),
        ("float f(const float* p) { return *p; }\n" + KERNEL + "x[0] = f(x); }", 1, POINTER),
        ("void f(float4& p) { p = 1; }\n" + KERNEL + "float4 v; f(v); x[0] = v.x; }", 1, REFERENCE),
        ("struct S { int a; };\nint f(S* s) { return s->a; }\nkernel void k() {}", 2, POINTER),
        ("struct S { int n;\n  float* p; };\n" + KERNEL + "}", 2, POINTER),
        (KERNEL + "float v = 1;\nfloat* p = &v;\nx[0] = *p; }", 3, POINTER),
        (KERNEL + "uint* bits = (uint*)x;\nx[0] = bits[1]; }", 2, POINTER),
        (KERNEL + "x[0] = *((uint*)x + 1); }", 2, POINTER),
        (
            "float f() {\n  threadgroup float t[4];\n  return t[0]; }\n" + KERNEL + "x[0] = f(); }",
            2,
            "non-kernel function variable cannot be declared in threadgroup address space",
        ),
        (
            "threadgroup float t[4];\n" + KERNEL + "x[0] = t[0]; }",
            1,
            "program scope variable must reside in constant address space",
        ),
        (
            "int counter = 3;\n" + KERNEL + "x[0] = counter; }",
            1,
            "program scope variable must reside in constant address space",
        ),
        ("constant float c = 1;\n" + KERNEL + "\nc = 2; }", 4, "cannot assign to variable 'c'"),
        (KERNEL + "double d = 1;\nx[0] = d; }", 2, "'double': MSL has no double"),
        (KERNEL + "thread float* p = new float[2];\nx[0] = p[0]; }", 2, "no dynamic memory"),
        (KERNEL + "try { x[0] = 1; } catch (...) {} }", 2, "exceptions are not part of MSL"),
        (KERNEL + "thread_local int n = 1;\nx[0] = n; }", 2, "'thread_local'"),
        ("struct S {\n  virtual int f() { return 1; } };\n" + KERNEL + "}", 2, "virtual functions"),
        ("kernel float k(device float* x) { return 1; }", 1, "kernel must have void return type"),
        (
            "kernel void k(device float* a [[buffer(2)]],\n  device float* b [[buffer(2)]]) {}",
            1,
            "[[buffer(2)]] is given to both 'a' and 'b'",
        ),
        (
            "kernel void k(device float* a [[buffer(31)]]) {}",
            1,
            "'a': [[buffer(31)]] is out of bounds, the last is 30",
        ),
        (
            "kernel void k(device float* x, float i [[thread_position_in_grid]]) { x[0] = i; }",
            1,
            "the type of this parameter is not valid for its attribute",
        ),
        (
            KERNEL + "simdgroup_half8x8 m;\nsimdgroup_load(m, x, 8); }",
            3,
            "no matching function for call to 'simdgroup_load'",
        ),
        (KERNEL + "x[0] = exp(missing); }", 2, "use of undeclared identifier 'missing'"),
        (
            "float f(thread const float* p) { return *p; }\n" + KERNEL + "x[0] = f(x); }",
            3,
            "the argument lies in device memory, not in the thread's",
        ),
        (
            "template <typename T> void f(thread T& v) { v = 0; }\n" + KERNEL + "f(x[i]); }",
            3,
            "the argument lies in device memory, not in the thread's",
        ),
        (
            "float f(threadgroup float* p) { return *p; }\n" + KERNEL + "x[0] = f(x); }",
            3,
            "no matching function for call to 'f'",
        ),
    ],
)
def test_error_is_refused_at_its_line(source: str, line: int, message: str) -> None:
    text = refusal(source)
    assert text.startswith(f"mine.metal:{FIRST + line - 1}:")
    assert message in text


def test_words_that_c_plus_plus_gives_other_meanings_stay_usable() -> None:
    source = (
        "struct Box { device float* operator->() = delete; };\n"
        "struct Plain { Plain() = default; Plain(device const Plain&) = delete; int n; };\n"
        + KERNEL
        + "float a = 2; x[0] = a * x[1]; int b = int(a) & int(x[1]); x[1] = b; }"
    )
    assert compile_library(PRELUDE + source).function_names == ("k",)


def test_functions_of_thread_pointers_take_what_threads_own_and_serve_as_values() -> None:
    source = (
        "float sum(thread float* v, int n) { return n ? v[n - 1] + v[0] : 0; }\n"
        "template <typename T, int N> void clear(thread T (&v)[N]) { for (auto& x : v) x = 0; }\n"
        "void once(thread float& v) { v += 1; }\n"
        "void both(thread float* v) { *v = 1; }\n"
        "void both(device float* v) { *v = 2; }\n"
        "template <void (*F)(thread float&)> void apply(thread float& v) { F(v); }\n"
        + KERNEL
        + "float own[4]; clear(own); once(own[1]); apply<once>(own[2]); both(own); both(x);\n"
        "thread float* p = own; x[i] = sum(p, 4) + sum(&own[1], 2) + sum(own, 0); }"
    )
    assert compile_library(PRELUDE + source).function_names == ("k",)
