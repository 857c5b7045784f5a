from collections.abc import Mapping

import numpy as np
import pytest

from assay.compiler.msl import CompileError, CompileOptions, compile_library
from assay.compiler.msl.rewrite import rewrite as rewriting
from assay.compiler.msl.rewrite.function_constants import ConstantValue
from assay.compiler.msl.source.lexer import TokenStream
from tests.support.msl import PRELUDE, run_kernel

INSTANCES = """
namespace deep {
template <typename T, int N>
[[kernel, max_total_threads_per_threadgroup(N * 32)]] void scale(
    device T* x [[buffer(0)]], constant float& by [[buffer(1)]],
    uint i [[thread_position_in_grid]]) {
  x[i] = T(float(x[i]) * by) + T(N);
}
#define instance(name, T, n) template [[host_name(name)]] [[kernel]] \\
  decltype(scale<T, n>) scale<T, n>;
instance("scale_float_2", float, 2)
instance("scale_half_1", half, 1)
template [[host_name("written_out")]] [[kernel]] void scale<int, 4>(
    device int* x [[buffer(0)]], constant float& by [[buffer(1)]],
    uint i [[thread_position_in_grid]]);
}
template <typename T>
[[kernel]] void fill(device T* x, constant T& value, uint i [[thread_position_in_grid]]) {
  x[i] = value;
}
template [[host_name("fill" "_" "int")]] [[kernel]] void fill(
    device int* x, constant int& value, uint i [[thread_position_in_grid]]);
[[host_name("other")]] kernel void named(device int* x) { x[0] = 1; }
kernel void plain(device int* x) { x[0] = 2; }
"""


def test_library_lists_kernels_and_instantiations_by_their_host_names() -> None:
    library = compile_library(PRELUDE + INSTANCES)
    assert set(library.function_names) == {
        "scale_float_2",
        "scale_half_1",
        "written_out",
        "fill_int",
        "other",
        "plain",
    }


@pytest.mark.parametrize(
    ("name", "dtype", "expected"),
    [
        ("scale_float_2", np.float32, [2, 5, 8]),
        ("scale_half_1", np.float16, [1, 4, 7]),
        ("written_out", np.int32, [4, 7, 10]),
    ],
)
def test_instantiations_run(name: str, dtype: type, expected: list[int]) -> None:
    x = np.arange(3).astype(dtype)
    run_kernel(INSTANCES, x, np.array([3], np.float32), threads=3, name=name)
    assert x.tolist() == expected


def test_template_arguments_of_an_instantiation_follow_from_its_parameters() -> None:
    x = np.zeros(2, np.int32)
    run_kernel(INSTANCES, x, np.array([9], np.int32), threads=2, name="fill_int")
    assert x.tolist() == [9, 9]


def test_thread_limit_may_depend_on_template_parameters() -> None:
    library = compile_library(PRELUDE + INSTANCES)
    limits = {
        n: library.function(n).max_total_threads_per_threadgroup for n in library.function_names
    }
    assert limits["scale_float_2"] == 64
    assert limits["written_out"] == 128
    assert limits["plain"] is None


def test_missing_function_is_answered_with_the_names_there_are() -> None:
    library = compile_library(PRELUDE + "kernel void here(device int* x) {}")
    with pytest.raises(
        CompileError, match="no kernel function 'there' in this library; did you mean 'here'"
    ):
        library.function("there")


CONSTANTS = """
constant int count [[function_constant(0)]];
constant float factor [[function_constant(1)]];
constant bool wide [[function_constant(2)]];
constant bool has_factor = is_function_constant_defined(factor);
constant float used = has_factor ? factor : 2.0f;
constant int twice = count * 2;
kernel void k(device float* x [[buffer(0)]],
              device float* extra [[buffer(1), function_constant(wide)]]) {
  for (int i = 0; i < twice; i++) x[i] = used;
  if (wide) x[0] = extra[0];
}
"""


def test_function_constants_take_values_by_index_and_by_name() -> None:
    x = np.zeros(4, np.float32)
    run_kernel(CONSTANTS, x, constants={0: 2, "factor": 0.1, 2: False}, threads=1)
    assert x.tolist() == [np.float32(0.1)] * 4


def test_undefined_function_constants_fall_back_where_the_program_asks() -> None:
    x = np.zeros(4, np.float32)
    run_kernel(CONSTANTS, x, constants={0: 1, 2: False}, threads=1)
    assert x.tolist() == [2, 2, 0, 0]


def test_argument_exists_only_when_its_function_constant_holds() -> None:
    library = compile_library(PRELUDE + CONSTANTS)
    names = [a.name for a in library.function("k", {0: 1, 2: True}).arguments]
    assert names == ["x", "extra"]
    names = [a.name for a in library.function("k", {0: 1, 2: False}).arguments]
    assert names == ["x"]
    x, extra = np.zeros(2, np.float32), np.array([7], np.float32)
    run_kernel(CONSTANTS, x, extra, constants={0: 1, 2: True}, threads=1)
    assert x.tolist() == [7, 2]


def test_reading_a_function_constant_without_value_is_an_error_that_names_it() -> None:
    library = compile_library(PRELUDE + CONSTANTS)
    with pytest.raises(CompileError, match=r"constant 'wide' \(index 2\)"):
        library.function("k", {0: 1})
    library = compile_library(
        PRELUDE
        + "constant int n [[function_constant(5)]];\nkernel void k(device int* x) { x[0] = n; }"
    )
    with pytest.raises(CompileError, match=r"'k' uses function constant 'n' \(index 5\)"):
        library.function("k")


def test_unknown_function_constant_is_refused_by_name() -> None:
    library = compile_library(PRELUDE + CONSTANTS)
    with pytest.raises(CompileError, match=r"no function constant 'none'.*count \(0\)"):
        library.function("k", {"none": 1})


def test_options_bring_macros_includes_and_versions(tmp_path) -> None:
    (tmp_path / "inner.h").write_text("#define INNER 30\n")
    source = (
        '#include <metal_stdlib>\n#include "inner.h"\n'
        "kernel void k(device int* x) { x[0] = INNER + OUTER + __METAL_VERSION__; }"
    )
    options = CompileOptions(
        macros={"OUTER": "4"}, include_paths=(tmp_path,), language_version=(3, 1)
    )
    text = compile_library(source, options=options).function("k")
    assert text.arguments[0].name == "x"
    (tmp_path / "inner.h").write_text("#define INNER nonsense\n")
    with pytest.raises(CompileError, match="nonsense"):
        compile_library(source, options=options).function("k")


MEMBERS = """
struct Pair { int a; int b;
  int sum() const device { return a + b; }
  int sum() const thread { return a - b; }
  int sum() const constant { return a * b; }
  int sum() const threadgroup { return a ^ b; }
  device int& first() device { return this->a; }
};
kernel void k(device Pair* p, constant Pair& q, device int* o) {
  threadgroup Pair t; t = p[0];
  Pair own = p[0];
  o[0] = p->sum(); o[1] = own.sum(); o[2] = q.sum(); o[3] = t.sum();
  p->first() = 77;
}
"""


def test_member_functions_are_chosen_by_address_space() -> None:
    pair, out = np.array([6, 3], np.int32), np.zeros(4, np.int32)
    run_kernel(MEMBERS, pair, np.array([6, 3], np.int32), out, threads=1)
    assert out.tolist() == [9, 3, 18, 5]
    assert pair.tolist() == [77, 3]


def test_overloads_differ_by_address_space_alone() -> None:
    out = np.zeros(4, np.int32)
    run_kernel(
        "int f(device int*) { return 1; } int f(threadgroup int*) { return 2; }"
        "int f(constant int*) { return 3; } int f(thread int*) { return 4; }"
        "constant int table[2] = {5, 6};"
        "kernel void k(device int* o) { threadgroup int t[3]; int own = table[1] - 6;"
        " o[0] = f(o); o[1] = f(t); o[2] = f(table); o[3] = f(&own) + own; }",
        out,
        threads=1,
    )
    assert out.tolist() == [1, 2, 3, 4]


def test_conditional_takes_objects_of_device_memory_and_values() -> None:
    x, out = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    run_kernel(
        "kernel void k(const device float4* x, device float4* o, uint i "
        "[[thread_position_in_grid]])"
        "{ o[0] = i > 5 ? float4(9) : i == 0 ? x[i] : float4(8); }",
        x,
        out,
        threads=1,
    )
    assert out.tolist() == [0, 1, 2, 3]


def test_literals_of_half_and_bfloat_have_their_types() -> None:
    out = np.zeros(4, np.uint16)
    run_kernel(
        "kernel void k(device ushort* o) { o[0] = as_type<ushort>(1.5h); o[1] = "
        "as_type<ushort>(1.5bf);"
        " o[2] = sizeof(1.0) * 10 + sizeof(1.h); bfloat b = 3.0bf; half h = half(b); o[3] = "
        "ushort((half)b + h); }",
        out,
        threads=1,
    )
    assert out.tolist() == [0x3E00, 0x3FC0, 42, 6]


def test_threadgroup_array_parameters_are_pointers() -> None:
    out = np.zeros(32, np.int32)
    run_kernel(
        "void put(threadgroup int a[2][32], uint i) { a[1][i] = i; }"
        "int get(threadgroup int a[32], uint i) { return a[i]; }"
        "kernel void k(device int* o, threadgroup int* extra [[threadgroup(0)]], uint i "
        "[[thread_position_in_threadgroup]])"
        "{ threadgroup int a[2][32]; put(a, i); extra[i] = get(a[1], i) * 2;"
        " threadgroup_barrier(mem_flags::mem_threadgroup); o[i] = extra[31 - i]; }",
        out,
        128,
    )
    assert out.tolist() == [2 * (31 - i) for i in range(32)]


def test_the_text_is_rewritten_once_for_all_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def counted(
        stream: TokenStream, values: Mapping[int | str, ConstantValue]
    ) -> rewriting.Rewritten:
        made.append(stream.render())
        return original(stream, values)

    original = rewriting.rewritten
    monkeypatch.setattr(rewriting, "rewritten", counted)
    kernels = "".join(f"kernel void k{n}(device int* o) {{ *o = {n}; }}\n" for n in range(5))
    library = compile_library(kernels, file_name="five.metal")
    for name in library.function_names:
        library.function(name)
    assert len(made) == 1


def test_an_instantiation_has_the_parameters_of_its_template() -> None:
    text = "template <class T> kernel void k(device T* y) { *y = 1; }\n"
    with pytest.raises(CompileError, match=r":2:.*this instantiates no template 'k'"):
        compile_library(f"{text}template kernel void k<float>(device float*, uint);\n")
