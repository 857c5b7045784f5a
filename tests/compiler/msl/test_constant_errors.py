"""Errors in constant expressions do not turn into nothing: not the store, nor what it stores."""

from __future__ import annotations

import numpy as np
import pytest

from assay.compiler.msl import CompileError, compile_library
from assay.sim.simt import KernelFault
from assay.sim.simt.read.importer import optimised_text
from tests.support.msl import PRELUDE, run_kernel

_OLD = 0x7777


def _stored(body: str) -> int:
    y = np.full(1, _OLD, np.int32)
    run_kernel(f"kernel void k(device int* y [[buffer(0)]]) {{ {body} }}", y, threads=1, group=1)
    return int(y[0])


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("y[0] = 1 << 33;", 2),
        ("y[0] = -16 >> 34;", -4),
        ("y[0] = 3 << -31;", 6),
        ("y[0] = int(1e30f);", 2**31 - 1),
        ("y[0] = int(NAN);", 0),
        ("y[0] = uint(-5.f);", 0),
        ("y[0] = 7 / 0;", 0),
        ("y[0] = 7 % 0;", 7),
        ("y[0] = (-2147483647 - 1) / -1;", -(2**31)),
        ("int n = 3; y[0] = 7 / (n - 3);", 0),
        ("int n = 33; y[0] = 1 << n;", 2),
        ("y[0] = 1024 >> (5 - 2147483647 - 2147483640 >> 33);", 1024 >> 7),
        ("int x = 1; x <<= 33; x *= 12; x /= 5 - 3; x %= 7; y[0] = x;", 5),
        ("y[0] = (1 << 33) + is_same<int, vec<int, 2>>::value;", 2),
        ("int4 v = int4(8) / int4(1, 2, 0, 4); y[0] = v.z + 10 * v.w;", 20),
        ("int4 v = int4(1) << int4(33); y[0] = v.y;", 2),
        ("int s = 0; for (int i = 0; i < 3; i++) s += 12 / i; y[0] = s;", 18),
    ],
)
def test_an_operation_of_constants_gives_what_it_gives_of_values(body: str, expected: int) -> None:
    assert _stored(body) == expected


@pytest.mark.parametrize(
    "body",
    [
        "int a[4]; for (int j = 0; j < 4; j++) a[j] = j; int s = 0; "
        "for (int j = 0; j <= 4; j++) s += a[j]; y[0] = s;",
        "int a[4]; for (int j = 0; j <= 4; j++) a[j] = j; y[0] = a[0] + a[3];",
        "int s = 0; for (int j = 0; j <= 4; j++) s += table[j]; y[0] = s;",
        "y[0] = table[4];",
        "int4 v = int4(1); y[0] = v[4];",
        "float2x2 m = float2x2(1); y[0] = m[2][0];",
        "int i = 5; y[0] = (&i)[1];",
        "int i = 5; (&i)[1] = 3; y[0] = i;",
        "int i = 5; int n = table[0]; y[0] = (&i)[n];",
        "int a[4] = {}; thread int* p = a + 3; y[0] = p[1];",
        "int a[4] = {}; y[0] = third(a + 2);",
        "int a[4] = {}; Window w = {a}; y[0] = w.data[7] > 0 ? 1 : 2;",
        "Pair a[2] = {}; Pair b = a[2]; y[0] = b.v > 0 ? 1 : 2;",
    ],
)
def test_an_access_by_a_constant_outside_of_its_object_is_a_fault(body: str) -> None:
    head = (
        "constant int table[4] = {1, 2, 3, 4};\n"
        "struct Pair { int u, v; };\nstruct Window { thread int* data; };\n"
        "static int third(thread const int* p) { return p[3]; }\n"
    )
    y = np.full(1, _OLD, np.int32)
    with pytest.raises(KernelFault) as caught:
        run_kernel(
            f"{head}kernel void k(device int* y [[buffer(0)]]) {{ {body} }}", y, threads=1, group=1
        )
    assert caught.value.kind.startswith("out-of-bounds")
    assert caught.value.site.line > 0


def test_a_function_that_ends_without_a_value_ends() -> None:
    head = "static int f(int x) { if (x > 0) return 1; }\n"
    y = np.full(1, -3, np.int32)
    run_kernel(
        f"{head}kernel void k(device int* y [[buffer(0)]]) {{ y[0] = f(y[0]); }}",
        y,
        threads=1,
        group=1,
    )
    assert y[0] == 0


def test_a_kernel_that_stores_only_what_was_never_set_still_stores() -> None:
    source = "kernel void k(device float* y) { float v; y[0] = v; }"
    function = compile_library(PRELUDE + source).function("k")
    assert "store float" in optimised_text(function.bitcode, function.entry, "k")


@pytest.mark.parametrize(
    "value", ["endless()", "1 / zero", "plain(2)"], ids=["endless", "by zero", "no constexpr"]
)
def test_a_variable_of_a_program_without_a_constant_value_is_an_error(value: str) -> None:
    source = (
        "constexpr int endless() { int i = 0; for (;;) i ^= 1; return i; }\n"
        "static int plain(int x) { return x; }\n"
        "constant int zero = 0;\n"
        f"constant int k = {value};\n"
        "kernel void f(device int* y) { y[0] = k; }"
    )
    with pytest.raises(CompileError, match=r":4:14: error: .*no constant expression"):
        compile_library(source)


def test_what_the_compiler_warns_of_is_told_once_for_the_kernel_that_does_it() -> None:
    source = (
        "kernel void a(device int* y) { y[0] = 1 << 33; }\n"
        "kernel void b(device int* y) { y[0] = 7 / 0; }\n"
        "kernel void c(device int* y) { int a[2] = {}; y[0] = a[2]; }\n"
        "kernel void d(device int* y) { y[0] = 1 << 31; }\n"
        "kernel void e(device int* y) { y[0] = 1 << 33; y[1] = 7 / 0; }\n"
    )
    library = compile_library(source)
    told = {
        name: [(e.kind, e.line, e.column) for e in library.function(name).errors]
        for name in library.function_names
    }
    assert told == {
        "a": [("shift-count", 1, 41)],
        "b": [("division-by-zero", 2, 41)],
        "c": [("constant-index", 3, 54)],
        "e": [("shift-count", 5, 41), ("division-by-zero", 5, 57)],
        "d": [],
    }
