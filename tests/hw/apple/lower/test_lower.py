"""Kernels in MSL against the instructions that an Apple GPU would have for them."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from assay.compiler.msl import compile_library
from assay.hw.apple.facts.instructions import instruction_set
from assay.hw.apple.lower.code import MachineCode
from assay.hw.apple.lower.code_text import code_text
from assay.hw.apple.lower.lower import lower
from assay.sim.simt import UnsupportedKernel
from assay.sim.simt.emit.tape import accesses

KERNELS = Path(__file__).parents[3] / "programs" / "kernels"
HEAD = """#include <metal_stdlib>
using namespace metal;
#define THREAD [[thread_position_in_grid]]
#define LANE [[thread_index_in_simdgroup]]
"""


def lowered(source: str, name: str = "f") -> MachineCode:
    program = compile_library(HEAD + source).function(name).program()
    return lower(program.taped_function)


def classes(code: MachineCode, block: int | None = None) -> list[str]:
    """Classes in order: of one block, or of all."""
    first, end = (0, len(code.kinds)) if block is None else code.starts[block : block + 2]
    return [code.classes[kind] for kind in code.kinds[first:end]]


def arithmetic(statement: str, type: str = "float") -> list[str]:
    """What a statement on `x`, `y` and `z` of a type becomes, loads and stores left out."""
    source = f"""kernel void f(device {type}* o, device const {type}* a, device const {type}* b,
                              device const {type}* c, uint i THREAD) {{
        {type} x = a[i], y = b[i], z = c[i]; {statement} o[i] = x; }}"""
    rest = ("move", "device_load", "device_store")
    return [name for name in classes(lowered(source)) if name not in rest]


def inner(source: str) -> list[str]:
    """The longest block of a kernel, branches left out."""
    code = lowered(source)
    longest = max(range(len(code.names)), key=lambda b: code.starts[b + 1] - code.starts[b])
    return [name for name in classes(code, longest) if name not in ("branch", "jump")]


@pytest.mark.parametrize(
    ("statement", "type", "expected"),
    [
        ("x = x * y + z;", "float", ["ffma32"]),
        ("x = x - y * z;", "float", ["ffma32"]),
        ("x = x + y;", "half", ["fadd16"]),
        ("x = x * y + z;", "half", ["ffma16"]),
        ("x = abs(x) + -y;", "float", ["fadd32"]),
        ("x = saturate(x * y);", "float", ["fmul32"]),
        ("x = clamp(x, y, z);", "float", ["cmpsel32_min_max"] * 2),
        ("x = x > y ? z : x;", "float", ["cmpsel32_min_max"]),
        ("x = x / y;", "float", ["div_fast"]),
        ("x = 1 / x;", "float", ["recip"]),
        ("x = precise::divide(x, y);", "float", ["div_precise"]),
        ("x = rsqrt(x);", "float", ["rsqrt"]),
        ("x = 1 / sqrt(x);", "float", ["rsqrt"]),
        ("x = exp2(x);", "float", ["exp2_log2"]),
        ("x = precise::exp(x);", "float", ["exp_precise"]),
        ("x = sin(x);", "float", ["sin_cos_fast"]),
        ("x = __metal_sin(x, __METAL_MAYBE_FAST_MATH__);", "float", ["sin_cos_fast"]),
        ("x = __metal_sin(x, __METAL_PRECISE_MATH__);", "float", ["sin_precise"]),
        ("x = __metal_exp(x, __METAL_PRECISE_MATH__);", "float", ["exp_precise"]),
        ("x = pow(x, y);", "float", ["exp2_log2", "fmul32", "exp2_log2"]),
        ("x = floor(x);", "float", ["rint_trunc"]),
        ("x = x * y + z;", "int", ["imul32_imad32"]),
        ("x = x + (y << 3);", "int", ["iadd"]),
        ("x = x * 5;", "int", ["iadd"]),
        ("x = (x >> 4) & 15;", "uint", ["bitfield_extract"]),
        ("x = x >> 16;", "uint", []),
        ("x = x << y;", "uint", ["shl_dynamic"]),
        ("x = x / y;", "uint", ["idiv32"]),
        ("x = x / 7;", "uint", ["imulhi32", "bitfield_extract"]),
        ("x = mulhi(x, y);", "uint", ["imulhi32"]),
        ("x = rotate(x, y);", "uint", ["rotate"]),
        ("x = popcount(x);", "uint", ["popcount_bitrev"]),
        ("x = x + y;", "ulong", ["iadd64"]),
        ("x = x * y;", "ulong", ["imul64"]),
        ("x = ulong(uint(x)) * ulong(uint(y));", "ulong", ["imulhi32"]),
    ],
)
def test_arithmetic_becomes_the_instructions_the_machine_has(
    statement: str, type: str, expected: list[str]
) -> None:
    assert arithmetic(statement, type) == expected


def test_products_and_sums_of_vectors_are_fused() -> None:
    assert arithmetic("x = x * y + z;", "float4") == ["ffma32"] * 4


def test_a_vector_of_16_bytes_is_one_access_and_wider_ones_are_several() -> None:
    wide = lowered("""struct S { float4 a, b; };
    kernel void f(device S* o, device const S* a, uint i THREAD) { S s = a[i]; o[i] = s; }""")
    assert Counter(classes(wide)) == {"move": 1, "iadd": 1, "device_load": 2, "device_store": 2}
    assert classes(
        lowered("""kernel void f(device float4* o, device const float4* a, uint i THREAD)
                              { o[i] = a[i]; }""")
    ) == ["move", "device_load", "device_store"]


def test_neighbouring_scalars_are_loaded_at_once() -> None:
    source = """kernel void f(device float* o, device const float* a, uint i THREAD) {
        o[i] = a[i * 4] + a[i * 4 + 1] + a[i * 4 + 2] + a[i * 4 + 3]; }"""
    assert Counter(classes(lowered(source)))["device_load"] == 1


def test_what_a_dispatch_is_told_costs_threads_nothing() -> None:
    source = """kernel void f(device float* o, constant float& a, constant uint& n, uint i THREAD) {
        o[i] = a * a + exp2(a) + n / 3; }"""
    assert classes(lowered(source)) == ["move", "device_store"]


def test_constant_offsets_and_one_index_are_part_of_an_access() -> None:
    source = """struct S { uint head; float values[7]; };
    kernel void f(device float* o, device const S* a, uint i THREAD) {
        o[i + 64u * 3u] = a[i].values[3]; }"""
    assert "iadd64" not in classes(lowered(source))
    assert Counter(classes(lowered(source)))["iadd"] <= 2


def test_an_index_that_goes_up_by_equal_steps_is_added_to_not_multiplied() -> None:
    body = inner("""kernel void f(device float* o, device const float* a, constant uint& n,
                                  constant uint& k, uint i THREAD) {
        float s = 0;
        #pragma clang loop unroll(disable)
        for (uint j = 0; j < k; j++) s = fmax(s, a[j * n + i]);
        o[i] = s; }""")
    assert "imul32_imad32" not in body
    assert body.count("device_load") == body.count("cmpsel32_min_max")


def test_a_row_pointer_is_formed_outside_of_the_loop() -> None:
    body = inner("""kernel void f(device float* o, device const float* a, constant uint& k,
                                  uint2 i [[thread_position_in_grid]]) {
        device const float* row = a + ulong(i.y) * k;
        float s = 0;
        for (uint j = 0; j < k; j++) s = fmax(s, row[j]);
        o[i.x] = s; }""")
    assert "iadd64" not in body
    assert "imul64" not in body


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("simd_shuffle_xor(x, 4)", "shuffle_fixed"),
        ("simd_shuffle_down(x, 2)", "shuffle_fixed"),
        ("simd_broadcast(x, 3)", "shuffle_fixed"),
        ("simd_shuffle(x, ushort(u))", "shuffle_dynamic"),
        ("quad_broadcast(x, 1)", "quad_shuffle"),
        ("quad_shuffle(x, ushort(u & 3))", "quad_shuffle"),
        ("simd_sum(x)", "simd_sum_f32"),
        ("quad_sum(x)", "quad_sum_f32"),
        ("simd_max(u)", "simd_bitwise_32"),
        ("simd_prefix_inclusive_sum(x)", "simd_prefix"),
    ],
)
def test_operations_across_lanes_have_their_classes(call: str, expected: str) -> None:
    source = f"""kernel void f(device float* o, device const float* a, device const uint* b,
                               uint i THREAD) {{ float x = a[i]; uint u = b[i]; o[i] = {call}; }}"""
    assert expected in classes(lowered(source))


def test_a_comparison_is_part_of_a_vote() -> None:
    source = """kernel void f(device uint* o, device const float* a, uint i THREAD) {
        o[i] = uint(ulong(simd_ballot(a[i] > 3))); }"""
    assert classes(lowered(source)) == ["move", "device_load", "ballot", "device_store"]


GEMM = """
kernel void f(device const half* a, device const half* b, device half* c, constant uint& n) {
    simdgroup_half8x8 sums[2][2];
    for (uint i = 0; i < 2; i++)
        for (uint j = 0; j < 2; j++) sums[i][j] = make_filled_simdgroup_matrix<half, 8, 8>(0.0h);
    for (uint k = 0; k < n; k += 8) {
        simdgroup_half8x8 left[2], right[2];
        for (uint i = 0; i < 2; i++) {
            simdgroup_load(left[i], a + i * 8 * n + k, n);
            simdgroup_load(right[i], b + k * n + i * 8, n);
        }
        for (uint i = 0; i < 2; i++)
            for (uint j = 0; j < 2; j++)
                simdgroup_multiply_accumulate(sums[i][j], left[i], right[j], sums[i][j]);
    }
    for (uint i = 0; i < 2; i++)
        for (uint j = 0; j < 2; j++) simdgroup_store(sums[i][j], c + i * 8 * n + j * 8, n);
}"""


def test_matrices_in_arrays_are_in_registers_and_their_products_one_instruction() -> None:
    found = Counter(inner(GEMM))
    assert found["mma_8x8x8_f16"] == 4
    assert found["device_load"] == 4
    assert "convert_f16_f32" not in found
    assert not any(name.startswith("private") for name in classes(lowered(GEMM)))


def test_sums_of_floats_take_the_instruction_for_floats_whatever_the_factors() -> None:
    source = GEMM.replace("simdgroup_half8x8 sums", "simdgroup_float8x8 sums")
    source = source.replace("<half, 8, 8>(0.0h)", "<float, 8, 8>(0.0f)")
    floats = lowered(source.replace("device half* c", "device float* c"))
    assert Counter(classes(floats))["mma_8x8x8_f32"] == 4
    # Two sums of a lane take two registers; as halves they share one.
    assert floats.registers == lowered(GEMM).registers + 4


def test_a_matrix_product_counts_as_1024_operations_of_32_lanes() -> None:
    code = lowered(GEMM)
    products = np.array(classes(code)) == "mma_8x8x8_f16"
    assert set(code.flops[products]) == {32}


def test_arrays_with_indices_that_are_not_known_stay_in_memory() -> None:
    found = classes(
        lowered("""kernel void f(device float* o, device const uint* p, uint i THREAD) {
        float v[32]; for (uint n = 0; n < 32; n++) v[n] = n * i;
        for (uint n = 0; n < 32; n++) v[p[n] & 31] += n;
        o[i] = v[p[i] & 31]; }""")
    )
    assert "private_load" in found
    assert "private_store" in found


def test_loads_come_before_what_waits_for_them_and_none_passes_a_barrier() -> None:
    code = lowered("""kernel void f(device float* o, device const float* a, device const float* b,
                                    uint i THREAD, uint t [[thread_index_in_threadgroup]]) {
        threadgroup float s[64];
        s[t] = exp2(a[i]);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        o[i] = exp2(s[63 - t]) * b[i]; }""")
    first, second = (classes(code, block) for block in (0, 1))
    assert first[-1] == "barrier"
    assert second.index("device_load") < second.index("exp2_log2")


COPY = """struct _simdgroup_event_t;
thread _simdgroup_event_t* in(ulong, ulong, threadgroup void*, ulong, ulong, ulong2,
    const device void*, ulong, ulong, ulong2, long2, int)
    __asm("air.simdgroup_async_copy_2d.p3i8.p1i8");
thread _simdgroup_event_t* out(ulong, ulong, device void*, const threadgroup void*, ulong)
    __asm("air.simdgroup_async_copy_1d.p1i8.p3i8");
void wait(int, thread _simdgroup_event_t**) __asm("air.wait_simdgroup_events");
"""


def test_an_asynchronous_copy_takes_two_instructions_and_no_register() -> None:
    code = lowered(f"""{COPY}
    kernel void f(device float* o, device const half* a, constant uint& w, uint i THREAD) {{
        threadgroup half t[512];
        thread _simdgroup_event_t* e = in(2, 2, t, 32, 1, ulong2(32, 16), a, w, 1,
                                          ulong2(w, 16), long2(0), 0);
        float x = o[i] * 2;
        wait(1, &e);
        o[i] = x + t[i]; }}""")
    assert [name for name in classes(code) if name != "move"] == [
        "async_copy",
        "copy_device_load",
        "copy_threadgroup_store",
        "device_load",
        "async_copy_wait",
        "threadgroup_load",
        "ffma32",
        "device_store",
    ]
    copied = [n for n, name in enumerate(classes(code)) if name.startswith("copy_")]
    assert (code.destinations[copied] == -1).all()
    assert (code.sources[copied] == -1).all()
    assert code.issued().sum() == len(code.kinds) - len(copied)
    assert set(code.classes) <= set(instruction_set("apple7").classes)


def test_a_copy_back_reads_threadgroup_memory_and_need_not_be_waited_for() -> None:
    code = lowered(f"""{COPY}
    kernel void f(device float* o, uint i [[thread_index_in_threadgroup]]) {{
        threadgroup float t[64];
        t[i] = i;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (i < 32) {{ out(4, 4, o, t, 64); }} }}""")
    found = classes(code)
    assert found[found.index("async_copy") :][:3] == [
        "async_copy",
        "copy_threadgroup_load",
        "copy_device_store",
    ]
    assert "async_copy_wait" not in found


def test_more_live_values_need_more_registers() -> None:
    def registers(count: int) -> int:
        names = [f"v{n}" for n in range(count)]
        loads = "".join(f"float {v} = a[i + {n * 999}];" for n, v in enumerate(names))
        chain = "".join(
            f"{v} = {v} * {w} + s;" for v, w in zip(names, names[1:] + names[:1], strict=True)
        )
        source = f"""kernel void f(device float* o, device const float* a, constant uint& k,
            uint i THREAD) {{ {loads} float s = 0;
            for (uint j = 0; j < k; j++) {{ {chain} s += 1; }} o[i] = {" + ".join(names)}; }}"""
        return lowered(source).registers

    few, many = registers(4), registers(40)
    assert few < 16
    assert 40 <= many <= 60


def test_text_shows_registers_accesses_and_lines() -> None:
    text = code_text(
        lowered("""
kernel void f(device float4* o, device const float4* a, constant float& by, uint i THREAD) {
    o[i] = exp2(a[i].xyzw) * by + 1;
}""")
    )
    assert (
        re.sub(r" +", " ", text)
        == """\
11 instructions in 1 blocks, 8 registers of 32 bits, 7 shared ones

block 0:
 r0 = move ; line 7
 r1 = device_load #0 r0 ; line 7
 r2 = exp2_log2 r1 ; line 7
 r3 = exp2_log2 r1 ; line 7
 r4 = exp2_log2 r1 ; line 7
 r5 = exp2_log2 r1 ; line 7
 r6 = ffma32 r2 ; line 7
 r7 = ffma32 r3 ; line 7
 r8 = ffma32 r4 ; line 7
 r9 = ffma32 r5 ; line 7
 device_store #2 r6, r7, r8, r9 ; line 7
"""
    )


FILES = ("ggml_mul_mm", "normalise", "reduce", "scan", "convolution", "marlin_gemm")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("file", FILES)
def test_real_kernels_lower_to_known_classes_in_an_order_that_can_run(file: str) -> None:
    library = compile_library((KERNELS / f"{file}.metal").read_text())
    known = instruction_set("apple7").classes
    count = 0
    for name in library.function_names[:4]:
        try:
            function = library.function(name).program().taped_function
        except UnsupportedKernel:
            continue
        code = lower(function)
        assert set(code.classes) <= set(known)
        _check_order(code)
        for number, block in enumerate(function.blocks):
            first, end = code.starts[number : number + 2]
            found = [n for n in code.accesses[first:end] if n >= 0]
            assert len(set(found)) == len(found)
            assert set(found) <= set(range(len(accesses(block))))
        count += 1
    assert count


def _check_order(code: MachineCode) -> None:
    """Every register is written once, and in its block before it is read there."""
    written = code.destinations[code.destinations >= 0]
    assert len(set(written)) == len(written)
    for block in range(len(code.names)):
        first, end = code.starts[block : block + 2]
        later = set(code.destinations[first:end])
        for n in range(first, end):
            assert not set(code.sources[n]) & (later - {-1}), code_text(code)
            later.discard(code.destinations[n])
