"""Kernels of a text, run with what is given and with what is assumed."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
from assay.checks import (
    CheckInputError,
    Inputs,
    Report,
    Setup,
    SourceOptions,
    check_source,
    read_annotations,
)
from assay.checks.registers import register_finding
from assay.compiler.msl import CompileError, compile_library

PRELUDE = "#include <metal_stdlib>\nusing namespace metal;\n"
KERNELS = (
    PRELUDE
    + """
kernel void add(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                constant uint& n [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    if (i < n) y[i] = x[i] + 1.0f;
}
kernel void fill(device half4* out, constant float& value, ushort2 p [[thread_position_in_grid]],
                 ushort2 size [[threads_per_grid]]) {
    out[p.y * size.x + p.x] = half4(value);
}
kernel void sum(device const float* x, device float* y, threadgroup float* s [[threadgroup(0)]],
                uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]],
                uint n [[threads_per_threadgroup]], uint g [[threadgroup_position_in_grid]]) {
    s[l] = x[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint k = n / 2; k > 0; k /= 2) {
        if (l < k) s[l] += s[l + k];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (l == 0) y[g] = s[0];
}
"""
)
SHIFT = (
    PRELUDE
    + """kernel void shift(device const float* x, device float* y,
                  uint i [[thread_position_in_grid]]) { y[i] = x[i + 1]; }
"""
)


def check(source: str, *, seeds: tuple[int, ...] = (), **options: object) -> Report:
    report = Report(seeds=seeds)
    check_source(source, "k.metal", report, SourceOptions(**options))  # type: ignore[arg-type]
    return report


def setups(text: str) -> Inputs:
    return read_annotations("".join(f"//! {line}\n" for line in text.splitlines()), "k.metal")


def test_correct_kernels_run_on_assumed_grids_and_arguments_without_findings() -> None:
    report = check(KERNELS)
    assert report.findings == () and report.problems == ()
    add, fill, total = report.kernels
    assert add.runs == ("639 threads in threadgroups of 256",)
    assert add.assumptions == (
        "threadgroups of 256 threads",
        "639 threads",
        "x: 4096 x float, random",
        "y: 4096 x float, random",
        "n = 639",
    )
    assert fill.runs == ("39x23 threads in threadgroups of 16x16",)
    assert "value = 0.5" in fill.assumptions
    assert total.runs == ("3 threadgroups of 256",)
    assert "s: 4096 bytes" in total.assumptions
    assert (add.file, add.line) == ("k.metal", 4)


def test_threads_and_threadgroups_that_are_not_told_apart_are_not_multiplied() -> None:
    source = (
        PRELUDE
        + """
kernel void one(device uint* x) { x[0] += 1; }
kernel void lanes(device uint* x, uint l [[thread_index_in_simdgroup]]) { x[l] = simd_sum(x[l]); }
kernel void group(device uint* x, uint i [[thread_index_in_threadgroup]]) { x[i] += 1; }
kernel void count(device atomic_uint* c) { atomic_fetch_add_explicit(c, 1, memory_order_relaxed); }
"""
    )
    report = check(source)
    assert report.findings == ()
    assert [kernel.runs[0] for kernel in report.kernels] == [
        "1 threadgroup of 1",
        "1 threadgroup of 32",
        "1 threadgroup of 256",
        "639 threads in threadgroups of 256",
    ]


def test_what_is_given_is_not_assumed() -> None:
    inputs = setups(
        "[kernel.add]\nthreads = 64\nthreadgroup = 32\narguments.n = 64\n"
        "arguments.x = { shape = 64 }\narguments.y = { shape = 64, fill = 'zeros' }"
    )
    report = check(KERNELS, inputs=inputs, functions=("add",))
    [add] = report.kernels
    assert add.runs == ("64 threads in threadgroups of 32",)
    assert add.assumptions == () and add.assumed_memory == frozenset()


def test_an_access_beyond_what_was_given_is_an_error() -> None:
    report = check(
        SHIFT,
        inputs=setups(
            "[kernel.shift]\nthreads = 64\narguments.x = {shape = 64}\narguments.y = {shape = 64}"
        ),
    )
    [finding] = report.findings
    assert (finding.kind, finding.severity) == ("out-of-bounds-read", "error")
    assert (finding.memory, finding.offset, finding.site.line) == ("x", 256, 4)
    assert report.assumptions_of(finding) == ("threadgroups of 64 threads",)


def test_assumed_buffers_grow_with_what_the_kernel_touches() -> None:
    source = PRELUDE + (
        "kernel void far(device int* x, uint i [[thread_position_in_grid]]) { x[i * 300] = 1; }"
    )
    [far] = check(source).kernels
    assert "x: 1048576 x int, random" in far.assumptions


def test_members_of_a_struct_are_assumed_by_name_and_type() -> None:
    source = PRELUDE + (
        "struct Sizes { uint n; ulong stride; float scale; };\n"
        "kernel void k(constant Sizes& s, device float* x, uint i [[thread_position_in_grid]])"
        " { if (i < s.n) x[i * s.stride] = s.scale; }"
    )
    report = check(source)
    assert report.findings == ()
    assert "s: { n = 639, stride = 16, scale = 0.5 }" in report.kernels[0].assumptions


def test_assumed_threadgroups_fit_the_kernels_own_arrays() -> None:
    source = PRELUDE + (
        "kernel void k(device float* x, uint i [[thread_position_in_grid]],"
        " uint l [[thread_index_in_threadgroup]]) {\n"
        " threadgroup float t[64]; t[l] = x[i];\n"
        " threadgroup_barrier(mem_flags::mem_threadgroup); x[i] = t[63 - l]; }"
    )
    report = check(source)
    assert report.findings == ()
    assert report.kernels[0].runs == ("3 threadgroups of 64",)
    wrong = check(source.replace("[64]", "[256]").replace("63 - l", "256 - l"))
    assert [finding.kind for finding in wrong.findings] == ["out-of-bounds-read"]
    assert wrong.kernels[0].runs == ("3 threadgroups of 256",)


def test_an_access_beyond_any_assumed_size_is_a_warning_that_says_so() -> None:
    source = PRELUDE + (
        "kernel void far(device int* x, uint i [[thread_position_in_grid]])"
        " { x[i * 100000000u] = 1; }"
    )
    report = check(source)
    [finding] = report.findings
    assert finding.severity == "warning" and report.errors == ()
    assert any(text.startswith("x: ") for text in report.assumptions_of(finding))


def test_zeros_in_assumed_memory_hide_no_race() -> None:
    source = PRELUDE + (
        "kernel void clear(device float* x, device int* y, device atomic_uint* n,"
        " texture2d<float, access::write> t, uint i [[thread_index_in_threadgroup]],"
        " uint g [[threadgroup_position_in_grid]]) { if (g == 1) x[i] = 0.0f; else x[i] = 1.0f;"
        " y[0] = 0; t.write(float4(g), uint2(i & 1, 0));"
        " atomic_fetch_add_explicit(n, 1u, memory_order_relaxed); }"
    )
    report = check(source)
    assert {f.memory for f in report.findings} >= {"'x'", "'t'"}
    assert {"n: 4096 x atomic_uint, zeros"} <= set(report.kernels[0].assumptions)


def test_bank_conflicts_of_one_line_are_one_finding() -> None:
    source = (
        PRELUDE
        + """
    //! [kernel.columns]
    //! threads = 32
    //! threadgroup = 32
    kernel void columns(device float* y, uint t [[thread_position_in_threadgroup]]) {
        threadgroup float a[1024];
        for (uint k = 0; k < 32; ++k) a[k * 32 + t] = t;
        simdgroup_barrier(mem_flags::mem_threadgroup);
        y[t] = a[t * 16] + a[t * 32] + a[t * 32 + 1];
    }"""
    )
    report = Report(["banks"])
    check_source(source, "k.metal", report, SourceOptions())
    [finding] = report.findings
    assert finding.message.startswith("32 lanes") and finding.count == 2


BARRIERS = """
//! [kernel.k]
//! threads = 64
//! threadgroup = 64
//! arguments.n = 40
kernel void k(device float* y, constant uint& n, uint t [[thread_index_in_threadgroup]]) {
    threadgroup float a[64];
    BODY
}"""
ELEMENTS = """
struct Place { uint row, index; };
struct Hit { float depth; Place at; };
//! [kernel.k]
//! threads = 64
//! threadgroup = 64
//! arguments.u = { shape = 64, fill = "uninitialised" }
//! arguments.d = { bytes = 256 }
kernel void k(device float* y, device float* u, threadgroup float* d [[threadgroup(0)]],
              uint t [[thread_index_in_threadgroup]]) {
    threadgroup float before[32], a[64];
    before[t & 31] = 1;
    BODY
}"""
WAIT = "threadgroup_barrier(mem_flags::mem_threadgroup);"


@pytest.mark.parametrize(
    ("body", "column"),
    [
        (f"for (uint k = 0; k < n; ++k) {{ if (t > 10) {WAIT} y[t] += 1; }}", "t > 10"),
        (f"if (t < 40) for (uint k = 0; k < n; ++k) {{ {WAIT} y[t] += 1; }}", "t < 40"),
        (f"for (uint k = 0; k < t; ++k) {{ {WAIT} y[t] += 1; }}", "for ("),
    ],
    ids=["a branch in a loop", "a branch around a loop", "the loop itself"],
)
def test_a_barrier_that_some_miss_names_what_decides(body: str, column: str) -> None:
    source = PRELUDE + BARRIERS.replace("BODY", body)
    report = Report(["barrier"])
    check_source(source, "k.metal", report, SourceOptions())
    other = report.findings[0].parties[1].site
    start = source.splitlines()[other.line - 1].index(column)
    assert start < other.column <= start + len(column)


@pytest.mark.parametrize(
    ("body", "memory", "element", "thread"),
    [
        # Lane 0 decides; lane 4 is the first that read what was not written.
        ("if (t < 4) a[t] = t; float s = simd_sum(a[t]); if (t == 0) y[0] = s;", "a", 4, 4),
        ("if (t != 7) a[t] = t; float s = simd_shuffle(a[t], 7); if (t == 3) y[0] = s;", "a", 7, 7),
        ("if (t > 50) a[t] = t; y[t] = simd_prefix_inclusive_sum(t < 40 ? 0 : a[t]);", "a", 40, 40),
        ("if (t != 9) a[t ^ 5] = t; y[t] = t == 20 ? a[12] : 0;", "a", 12, 20),
        ("if (t < 8) d[t] = t; y[t] = t == 3 ? d[t + 5] : 0;", "d", 8, 3),
        ("float o[9]; for (uint k = t; k < 9; ++k) o[k] = 1; y[t] = o[min(t, 5u)];", "o", 5, 6),
        ("float own[16]; for (uint k = t; k < 16; ++k) own[k] = k; y[t] = own[5];", "own", 5, 6),
        ("float own[4]; own[t & 1] = t; y[t] = own[t % 3];", "own", 2, 2),
        ("float own[3]; own[0] = own[1] = t; y[t] = own[0] + (t > 5 ? own[2] : 0);", "own", 2, 6),
        (
            "if (t < 4) a[t] = t; float s = 0; for (uint k = 0; k < 8; ++k) s += a[k]; y[t] = s;",
            "a",
            4,
            0,
        ),
        ("y[t] = t < 30 ? 0 : u[t];", "u", 30, 30),
    ],
)
def test_an_uninitialised_read_names_the_element_and_a_thread_that_read_it(
    body: str, memory: str, element: int, thread: int
) -> None:
    source = PRELUDE + ELEMENTS.replace("BODY", body)
    report = Report(["init"])
    check_source(source, "k.metal", report, SourceOptions())
    [finding] = report.findings
    assert f"'{memory}', whose element {element} was not written" in finding.message
    assert finding.memory == f"'{memory}'" and finding.offset == 4 * element
    assert finding.parties[1].thread == (thread, 0, 0)


def test_a_member_without_a_value_is_called_by_its_name() -> None:
    body = "Hit hit; hit.depth = 1; if (t < 4) hit.at.index = t; y[t] = hit.depth + hit.at.index;"
    source = PRELUDE + ELEMENTS.replace("BODY", body)
    report = Report(["init"])
    check_source(source, "k.metal", report, SourceOptions())
    [finding] = report.findings
    assert "'hit.at.index', which was not written before" in finding.message


def test_a_variable_without_a_value_is_called_by_its_name() -> None:
    body = "float best; if (t < 4) best = y[t];\n y[t] = best;"
    source = PRELUDE + BARRIERS.replace("BODY", body)
    report = Report(["init"])
    check_source(source, "k.metal", report, SourceOptions())
    [finding] = report.findings
    assert finding.message == "the value depends on 'best', which was not written before"


@pytest.mark.parametrize(
    ("first", "loop", "statement"),
    [
        ("", "for (uint k = 0; k < n; ++k)", "if (k == 0)\na[t] = t; else\na[t] = a[t] * 0.5f;"),
        ("\n#pragma unroll 4\n", "for (uint k = 0; k < 7; ++k)", "a[t] = sin(float(k * 64 + t));"),
        ("", "for (uint k = 0; k < 3; ++k)", "a[t] = sin(float(k * 64 + t));"),
        (
            "float last = 0; uint k = 0;",
            "while (k++ < n)",
            "a[t] = float(k * t) - last; last = a[t];",
        ),
    ],
)
def test_a_missing_barrier_of_a_loop_that_is_taken_apart_is_one_finding(
    first: str, loop: str, statement: str
) -> None:
    body = f"float s = 0; {first} {loop} {{ {statement}\n{WAIT}\ns += a[63 - t];\n}} y[t] = s;"
    source = PRELUDE + BARRIERS.replace("BODY", body)
    report = Report(["race"])
    check_source(source, "k.metal", report, SourceOptions())
    [finding] = report.findings
    lines = source.splitlines()
    told = {lines[party.site.line - 1].strip() for party in finding.parties}
    assert finding.kind == "race-read-write" and "s += a[63 - t];" in told


def test_a_missing_barrier_between_two_lines_is_one_finding() -> None:
    body = "a[t] = y[t];\ny[t] = a[(t + 33) & 63] + a[(t + 34) & 63] * a[63 - t];"
    source = PRELUDE + BARRIERS.replace("BODY", body)
    report = Report(["race"])
    check_source(source, "k.metal", report, SourceOptions())
    [finding] = report.findings
    assert finding.kind == "race-read-write" and finding.count > 64


def test_an_early_return_is_one_finding_however_many_barriers_follow() -> None:
    body = f"if (t >= n) return; a[t] = y[t]; {WAIT} y[t] = a[t ^ 1];\n{WAIT} a[t] = y[t];\n{WAIT}"
    source = PRELUDE + BARRIERS.replace("BODY", body)
    report = Report(["barrier"])
    check_source(source, "k.metal", report, SourceOptions())
    [finding] = report.findings
    assert "2 further barriers" in finding.message and finding.count == 3
    assert finding.parties[0].epoch == 0


@pytest.mark.parametrize("index", ["int(i) - 1", "i - 1", "(1ul << 60) + i"])
def test_an_access_beyond_every_size_is_an_error_at_once(index: str) -> None:
    source = PRELUDE + (
        f"kernel void far(device int* x, uint i [[thread_position_in_grid]]) {{ x[{index}] = 1; }}"
    )
    report = check(source)
    [finding] = report.findings
    assert (finding.kind, finding.severity) == ("out-of-bounds-write", "error")
    assert finding.memory == "x" and not report.passed
    assert "which has 16384 bytes" in finding.message


def test_function_constants_are_given_or_assumed() -> None:
    source = PRELUDE + (
        "constant uint N [[function_constant(3)]];\nconstant bool flag [[function_constant(4)]];\n"
        "kernel void k(device uint* x, uint i [[thread_position_in_grid]])"
        " { x[i % N] = flag ? 1u : 1u; }"
    )
    assert {"N = 1", "flag = false"} <= set(check(source).kernels[0].assumptions)
    given = setups("[kernel.k]\nconstants.N = 4\nconstants.4 = true")
    said = check(source, inputs=given).kernels[0].assumptions
    assert not any("N =" in text or "flag" in text for text in said)


def test_findings_are_warnings_while_numbers_that_choose_the_program_are_assumed() -> None:
    source = PRELUDE + (
        "constant uint N [[function_constant(0)]];\nconstant bool twice [[function_constant(1)]];\n"
        "kernel void k(device uint* x, uint i [[thread_position_in_threadgroup]]) {\n"
        "  threadgroup uint t[64]; t[i / 2 * N % 64] = i;\n"
        "  x[i] = t[0] + uint(twice); }"
    )
    finding = check(source).findings[0]
    assert (finding.check, finding.severity) == ("race", "warning")
    assert "or state the function constants N in --args or //! lines" in finding.hint
    for given in ("constants.N = 2", "constants.N = 2\nconstants.twice = true"):
        report = check(source, inputs=setups(f"[kernel.k]\n{given}"))
        assert {each.severity for each in report.findings} == {"error"}


def test_constants_that_count_simdgroups_fit_the_threadgroup() -> None:
    source = PRELUDE + (
        "constant short FC_nsg [[function_constant(0)]];\n"
        "constant short FC_nwg [[function_constant(1)]];\n"
        "kernel void k(device uint* x, uint g [[threadgroup_position_in_grid]],"
        " uint i [[thread_index_in_threadgroup]]) { x[(g * FC_nsg * 32 + i) * FC_nwg] = i; }"
    )
    report = check(source)
    assert {"FC_nsg = 8", "FC_nwg = 1"} <= set(report.kernels[0].assumptions)
    assert not report.findings
    given = setups("[kernel.k]\nthreadgroup = 64")
    assert "FC_nsg = 2" in check(source, inputs=given).kernels[0].assumptions


def test_pointers_of_an_argument_buffer_lead_to_assumed_buffers() -> None:
    source = PRELUDE + (
        "struct A { device float* x [[id(0)]]; device float* y [[id(1)]]; };\n"
        "kernel void k(constant A& a [[buffer(0)]], uint i [[thread_position_in_grid]])"
        " { a.y[i] = a.x[i] + 1; }"
    )
    report = check(source)
    assert report.findings == () and report.problems == ()


def test_pointers_without_ids_lead_to_assumed_buffers_too() -> None:
    source = PRELUDE + (
        "struct A { device float* x; device float* y; float by; };\n"
        "kernel void k(constant A& a [[buffer(0)]], uint i [[thread_position_in_grid]])"
        " { a.y[i] = a.x[i] * a.by; }"
    )
    report = check(source)
    assert report.findings == () and report.problems == ()


def test_several_setups_are_several_runs() -> None:
    report = check(
        SHIFT, inputs=setups("[[kernel.shift]]\nthreads = 3\n[[kernel.shift]]\nthreads = 5")
    )
    assert report.kernels[0].runs == (
        "3 threads in threadgroups of 3",
        "5 threads in threadgroups of 5",
    )


def test_a_correct_kernel_gives_the_same_bits_for_every_seed() -> None:
    assert check(KERNELS, seeds=(1, 2)).findings == ()


UNWRITTEN = """//! [kernel.copy]
//! threads = 64
//! arguments.x = { shape = 64, fill = "FILL" }
//! arguments.y = { shape = 64, fill = "uninitialised" }
kernel void copy(device const float* x, device float* y, uint i [[thread_position_in_grid]]) {
    if (i < 61) y[i] = x[i];
}
"""


def test_what_nobody_wrote_is_found_where_it_decides() -> None:
    report = check(PRELUDE + UNWRITTEN.replace("FILL", "uninitialised"))
    [finding] = report.findings
    assert (finding.kind, finding.memory.strip("'")) == ("uninitialised-read", "x")
    assert [party.site.line for party in finding.parties] == [8, 8]


def test_bytes_that_no_thread_wrote_are_not_compared_between_seeds() -> None:
    assert check(PRELUDE + UNWRITTEN.replace("FILL", "iota"), seeds=(1, 2)).findings == ()


def test_check_kernel_leaves_what_was_not_written_in_uninitialised_arrays() -> None:
    x, y = np.arange(64, dtype=np.float32), np.full(64, -1, np.float32)
    report = assay.check_kernel(PRELUDE + UNWRITTEN, "copy", x, y, threads=64, uninitialised=["y"])
    assert not report
    assert (y[:61] == x[:61]).all() and (y[61:] == -1).all()
    assert assay.check_kernel(
        PRELUDE + UNWRITTEN, "copy", x, y, threads=64, uninitialised=["x"], checks="init"
    )


LARGE = PRELUDE + (
    "kernel void large(device float* x, threadgroup float* t, uint i "
    "[[thread_index_in_threadgroup]]) { t[i] = x[i]; x[i] = t[i] + 1; }"
)


def test_more_threadgroup_memory_than_there_is_is_a_finding() -> None:
    inputs = setups("[kernel.large]\narguments.t = { bytes = 40000 }")
    [finding] = check(LARGE, inputs=inputs).findings
    assert (finding.check, finding.kind, finding.site.line) == ("budget", "threadgroup-memory", 3)
    [finding] = assay.check_kernel(LARGE, "large", None, 40000, threads=32).findings
    assert finding.kind == "threadgroup-memory"


def test_a_threadgroup_of_too_many_threads_is_a_finding() -> None:
    report = check(KERNELS, functions=("add",), inputs=setups("[kernel.add]\nthreadgroup = 2048"))
    [finding] = report.findings
    assert (finding.kind, finding.kernel) == ("grid-limits", "add")
    assert report.problems == ()


def test_what_the_device_refuses_is_not_checked_unless_a_finding_says_why() -> None:
    inputs = setups("[kernel.large]\narguments.t = { bytes = 40000 }")
    report = Report(["race"])
    check_source(LARGE, "k.metal", report, SourceOptions(inputs=inputs))
    assert report.findings == ()
    assert "it needs 40000 bytes of threadgroup memory" in report.problems[0].problem
    with pytest.raises(CheckInputError, match="needs 40000 bytes"):
        assay.check_kernel(LARGE, "large", None, 40000, threads=32, checks="race")


def test_more_registers_than_a_thread_has_are_a_warning() -> None:
    loads = "".join(f"float v{k} = x[i * 140 + {k}];" for k in range(140))
    stores = "".join(f"x[i * 140 + {k}] = v{139 - k};" for k in range(140))
    position = "uint i [[thread_position_in_grid]]"
    source = PRELUDE + f"kernel void wide(device float* x, {position}) {{ {loads}\n{stores} }}"
    report = Report(["budget"])
    check_source(source, "k.metal", report, SourceOptions())
    [finding] = report.findings
    assert (finding.kind, finding.severity) == ("registers", "warning")


def test_nothing_is_said_of_registers_where_a_gpu_has_tensor_operations_of_its_own() -> None:
    """The loops in their place need hundreds."""
    source = """#include <metal_stdlib>
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal; using namespace mpp::tensor_ops;
kernel void k(device float* a, device float* b, device float* c) {
  auto A = tensor(a, extents<int, 64, 64>()); auto B = tensor(b, extents<int, 64, 64>());
  matmul2d<matmul2d_descriptor(64, 64, 64), execution_simdgroup> op;
  auto sums = op.get_destination_cooperative_tensor<decltype(A), decltype(B), float>();
  op.run(A, B, sums);
  sums.store(tensor(c, dextents<int, 2>(64, 64)));
}"""
    kernel = compile_library(source).function("k")
    assert kernel.program().registers.registers > 128
    assert register_finding(kernel) is None
    assert register_finding(kernel, 100) is not None  # a limit that somebody gave holds


TEXTURES = (
    PRELUDE
    + """
kernel void shift(texture2d<uint, access::read> in [[texture(0)]],
                  texture2d<uint, access::write> out [[texture(1)]],
                  uint2 p [[thread_position_in_grid]]) {
    if (p.x < out.get_width() && p.y < out.get_height()) out.write(in.read(p.yx), p);
}
kernel void sampled(texture2d<float, access::sample> in, texture3d<half, access::read> v,
                    texture2d_array<int, access::read_write> b, depth2d<float, access::read> d,
                    sampler s [[sampler(0)]], device float* x,
                    uint2 p [[thread_position_in_grid]]) {
    b.write(b.read(p, 1), p, 2);
    x[p.y * 64 + p.x] = in.sample(s, float2(p) / 16).x + v.read(uint3(p, 3)).x + d.read(p);
}
"""
)


def test_textures_are_assumed_as_large_as_the_grid() -> None:
    report = Report(["bounds"])
    check_source(TEXTURES, "k.metal", report, SourceOptions(functions=("shift",)))
    assert report.findings == () and report.problems == ()
    assert "in: a texture of 39x23 texels, random" in report.kernels[0].assumptions
    assert "out: a texture of 39x23 texels, random" in report.kernels[0].assumptions


@pytest.mark.slow
def test_textures_of_all_types_and_samplers_are_assumed() -> None:
    report = check(TEXTURES)
    assert report.findings == () and report.problems == ()
    said = report.kernels[1].assumptions
    assert "v: a texture of 39x23x4 texels, random" in said
    assert "s: a sampler with the default settings" in said


def test_a_kernel_that_cannot_be_run_is_told_and_the_others_are_checked() -> None:
    source = (
        PRELUDE
        + """
kernel void good(device float* x, uint i [[thread_position_in_grid]]) { x[i] = 1; }
kernel void table(texture_buffer<float> d, device float* x, uint i [[thread_position_in_grid]]) {
    x[i] = d.read(i).x;
}
template <typename T> kernel void broken(device T* x) { x[0] = T::nothing; }
template [[host_name("broken")]] kernel void broken<float>(device float*);
"""
    )
    report = check(source)
    problems = {kernel.name: kernel.problem for kernel in report.problems}
    assert set(problems) == {"table", "broken"}
    assert "argument 'd' is a texture of type texture_buffer<float>" in problems["table"]
    assert "nothing" in problems["broken"]
    assert report.kernels[0].runs == ("639 threads in threadgroups of 256",)


def test_included_files_and_macros_are_found(tmp_path: Path) -> None:
    (tmp_path / "part.h").write_text("#define ADDED 2\n")
    source = PRELUDE + (
        '#include "part.h"\nkernel void k(device int* x, uint i [[thread_position_in_grid]])'
        " { x[i] = ADDED + MORE; }"
    )
    report = check(source, include_paths=(tmp_path,), macros={"MORE": "3"})
    assert report.findings == ()
    assert any(name.endswith("part.h") for name in report.sources)


@pytest.mark.parametrize(
    ("source", "options", "complaint"),
    [
        (KERNELS, {"functions": ("none",)}, "there is no kernel 'none'; there are add, fill, sum"),
        (KERNELS, {"functions": ("ad",)}, "no kernel 'ad'; did you mean 'add'\\? there are add"),
        (KERNELS, {"only_listed": True}, "neither --args nor //! lines say how a kernel is run"),
        (PRELUDE, {}, "there is no kernel in it"),
    ],
)
def test_what_does_not_fit_is_said(source: str, options: dict[str, object], complaint: str) -> None:
    with pytest.raises(CheckInputError, match=complaint):
        check(source, **options)


@pytest.mark.parametrize(
    ("inputs", "complaint"),
    [
        (
            setups("[kernel.add]\narguments.z = 1"),
            "kernel 'add' was not checked.*argument 'z'; ",
        ),
        (setups("[kernel.sum]\narguments.s = 1"), "kernel 'sum' was not checked.*{ bytes = 1024 }"),
        (setups("[kernel.add]\nthreads = 0"), "kernel 'add' was not checked.*1 to 3 positive"),
    ],
)
def test_a_mistake_in_one_entry_is_its_kernels_alone(inputs: Inputs, complaint: str) -> None:
    report = check(KERNELS, inputs=inputs)
    (said,) = report.unchecked
    assert re.match(complaint, said)
    assert len(report.problems) == 1 and len(report.kernels) == 3


def test_an_entry_for_no_kernel_is_told_and_the_kernels_are_checked() -> None:
    report = check(KERNELS, inputs=Inputs(setups={"ad": (Setup(where="a.toml:1"),)}))
    (said,) = report.unchecked
    assert said.startswith("a.toml:1: there is no kernel 'ad'")
    assert "did you mean 'add'?" in said
    assert len(report.kernels) == 3


def test_check_kernel_runs_on_the_callers_arrays() -> None:
    x, y = np.arange(64, dtype=np.float32), np.zeros((8, 8), np.float32)
    report = assay.check_kernel(KERNELS, "add", x, y, 60, threads=64, threadgroup=32)
    assert not report and report.kernels[0].assumptions == ()
    assert (y.reshape(-1)[:60] == x[:60] + 1).all() and (y.reshape(-1)[60:] == 0).all()


def test_check_kernel_takes_members_of_structs_by_name() -> None:
    source = PRELUDE + (
        "struct Side { int at; float by[2]; };"
        "struct Sizes { int n; Side sides[2]; };"
        "kernel void put(device float* x, constant Sizes& s, uint i [[thread_position_in_grid]])"
        " { x[i] = s.n + s.sides[1].by[1]; }"
    )
    x = np.zeros(8, np.float32)
    sizes = {"n": np.int32(3), "sides": [{"at": 1}, {"at": 2, "by": np.array([4, 0.5])}]}
    report = assay.check_kernel(source, "put", x, sizes, threads=8)
    assert (x == 3.5).all()
    assert any("sides.0.by" in text for text in report.kernels[0].assumptions)
    for wrong, said in (
        ({"m": 3}, "has no member 'm'; there are n"),
        ({"n": "3"}, "argument 's.n': expected a number or a list of numbers, not '3'"),
        ({"n": 0.5}, "0.5 is no whole number"),
        (3, 'or {"n": 64, "scale": 0.5} in Python'),
    ):
        with pytest.raises(CheckInputError, match=re.escape(said)):
            assay.check_kernel(source, "put", x, wrong, threads=8)


def test_check_kernel_takes_no_threadgroup_memory_where_a_run_uses_none() -> None:
    source = PRELUDE + (
        "kernel void put(device float* x, threadgroup float* shared,"
        " uint i [[thread_position_in_grid]]) { x[i] = 1; }"
    )
    assert not assay.check_kernel(source, "put", np.zeros(8, np.float32), 0, threads=8)


def test_check_kernel_reads_files_and_reports_findings(tmp_path: Path) -> None:
    path = tmp_path / "shift.metal"
    path.write_text(SHIFT)
    floats = np.zeros((2, 64), np.float32)
    report = assay.check_kernel(path, "shift", *floats, threads=64)
    with pytest.raises(assay.CheckFindings, match=r"shift\.metal:4:\d+: error: out-of-bounds read"):
        report.raise_if_any()
    accepted = assay.check_kernel(
        str(path), "shift", *floats, threads=64, suppress=["bounds:shift"]
    )
    assert not accepted


def test_check_kernel_says_what_does_not_fit() -> None:
    x = np.zeros(64, np.float32)
    with pytest.raises(CheckInputError, match="takes 3 arguments \\(x, y, n\\), 1 given"):
        assay.check_kernel(KERNELS, "add", x)
    with pytest.raises(CheckInputError, match="there is no kernel 'no'"):
        assay.check_kernel(KERNELS, "no")
    with pytest.raises(CheckInputError, match="not both"):
        assay.check_kernel(KERNELS, "add", x, x, 1, threads=1, threadgroups=1)
    with pytest.raises(CheckInputError, match="give its bytes"):
        assay.check_kernel(KERNELS, "sum", x, x, x)
    with pytest.raises(CheckInputError, match="expected an array"):
        assay.check_kernel(KERNELS, "add", x, x, "n")
    sizes: list[Any] = [0, 64.0, True, "64", (), (1, 2, 3, 4)]
    for size in sizes:
        with pytest.raises(CheckInputError, match=r"threads is .*; expected 1 to 3 positive"):
            assay.check_kernel(KERNELS, "add", x, x, 1, threads=size)
    with pytest.raises(ValueError, match="'rac' is no check"):
        assay.check_kernel(KERNELS, "add", x, x, 1, checks="rac")
    with pytest.raises(CompileError, match=r"program_source\.metal:1"):
        assay.check_kernel("kernel", "add")
