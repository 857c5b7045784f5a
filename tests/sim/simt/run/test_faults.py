"""Kernels that do what they must not: stopped, explained, and nothing else harmed."""

import numpy as np
import pytest

from assay.compiler.msl import compile_library
from assay.sim.check import Checker
from assay.sim.check.checker import parse_checks
from assay.sim.simt import KernelFault, Memory, dispatch

SIZE = (64, 1, 1)
HEAD = "#include <metal_stdlib>\nusing namespace metal;\n"


def fault_of(body: str, *, fuel: int | None = None, threads: int = 64) -> KernelFault:
    """Run a kernel over `out`, 64 uints with guards around, and return its fault."""
    source = HEAD + (
        "kernel void wrong(device uint* out [[buffer(0)]], constant uint& n [[buffer(1)]], "
        "device const uint* missing [[buffer(2)]], uint i [[thread_position_in_grid]]) {\n"
        f"{body}\n}}\n"
    )
    program = compile_library(source, file_name="wrong.metal").function("wrong").program()
    memory = Memory()
    guarded = np.full(192, 7, np.uint32)
    count = np.array([64], np.uint32)
    addresses = [
        memory.register(guarded[64:128].view(np.uint8), name="out"),
        memory.register(count.view(np.uint8), name="n"),
        0,
    ]
    with pytest.raises(KernelFault) as caught:
        dispatch(program.specialise(SIZE), memory, addresses, threads=(threads, 1, 1), fuel=fuel)
    assert (guarded[:64] == 7).all() and (guarded[128:] == 7).all()
    assert count[0] == 64
    return caught.value


def test_a_write_behind_the_end_names_line_buffer_offset_and_thread() -> None:
    fault = fault_of("out[i + 1] = i;")
    assert fault.kind == "out-of-bounds write"
    assert (fault.buffer, fault.offset, fault.size, fault.length) == ("out", 256, 4, 256)
    assert fault.thread_position_in_grid == (63, 0, 0)
    assert (fault.site.file, fault.site.line) == ("wrong.metal", 4)
    assert "wrong.metal:4:" in str(fault) and "simdgroup 1, lane 31" in str(fault)


def test_a_read_before_the_start_has_a_negative_offset() -> None:
    fault = fault_of("out[i] = out[int(i) - 5];")
    assert (fault.kind, fault.buffer, fault.offset) == ("out-of-bounds read", "out", -20)
    assert fault.thread_position_in_grid == (0, 0, 0)


def test_a_vector_that_is_partly_outside_is_outside() -> None:
    fault = fault_of("*(device uint4*)(out + 1 + (i & ~3u)) = uint4(i, 1, 2, 3);")
    assert (fault.kind, fault.size, fault.length) == ("out-of-bounds write", 16, 256)


def test_an_index_that_wraps_is_outside() -> None:
    fault = fault_of("ulong far = ulong(i) << 40; out[far] = 1;")
    assert fault.kind == "out-of-bounds write"


def test_a_scattered_access_finds_the_lane_that_is_outside() -> None:
    fault = fault_of("uint j = (i * 37u) % 64u; if (i == 41) j = 64; out[j] = i;")
    assert fault.thread_position_in_grid == (41, 0, 0)


def test_a_threadgroup_array_has_bounds_of_its_own() -> None:
    fault = fault_of(
        "threadgroup uint a[8]; threadgroup uint b[64]; a[0] = 0; b[i] = i; out[i] = a[i] + b[i];"
    )
    assert (fault.kind, fault.offset, fault.length) == ("out-of-bounds read", 32, 32)
    assert "a" in fault.buffer


@pytest.mark.parametrize("where", ["threadgroup uint", "uint"])
def test_an_access_in_front_of_an_array_is_out_of_bounds(where: str) -> None:
    fault = fault_of(f"{where} a[8]; a[i % 8] = i; a[int(i) - 1] = 5; out[i] = a[i % 8];")
    assert (fault.kind, fault.offset, fault.length) == ("out-of-bounds write", -4, 32)


def test_a_private_array_has_bounds_of_its_own() -> None:
    fault = fault_of("uint a[8]; for (uint k = 0; k < 8; k++) a[k] = k * i; out[i] = a[i / 4];")
    assert (fault.kind, fault.length) == ("out-of-bounds read", 32)
    assert fault.thread_position_in_grid == (32, 0, 0)


def test_a_table_of_constants_has_bounds() -> None:
    fault = fault_of("const uint table[4] = {1, 5, 2, 9}; out[i] = table[i + n - 64];")
    assert fault.kind == "out-of-bounds read"


def test_a_buffer_that_is_not_bound_is_a_null_access() -> None:
    fault = fault_of("out[i] = missing[i];")
    assert fault.kind == "null read"
    assert "nothing is bound to missing" in str(fault)


@pytest.mark.parametrize(
    "loop",
    [
        "while (out[0] != 12345u) out[i] = i;",
        "for (uint k = 0; k < n; ) { out[i] += 1; threadgroup_barrier(mem_flags::mem_device); }",
        "uint k = i; while (out[k % 64] != 99u) { k = out[k % 64]; out[i] = k + 1; }",
    ],
)
def test_a_loop_that_does_not_end_runs_out_of_fuel(loop: str) -> None:
    fault = fault_of(loop, fuel=200_000)
    assert fault.kind == "runaway"
    assert fault.site.line == 4
    assert "ran out of fuel" in str(fault)


def rounds_of(loop: str, *, fuel: int, threads: int, checks: str = "") -> int:
    """How often a thread goes round a loop that counts in `out[0]` and does not end."""
    source = HEAD + (
        "kernel void endless(device atomic_uint* out [[buffer(0)]],\n"
        "                    uint i [[thread_position_in_grid]]) {\n"
        f"{loop}\n}}\n"
    )
    program = compile_library(source).function("endless").program()
    memory, data = Memory(), np.zeros(64, np.uint32)
    address = memory.register(data.view(np.uint8), name="out")
    executable = program.specialise((threads, 1, 1))
    checker = Checker(parse_checks(checks)) if checks else None
    with pytest.raises(KernelFault, match="ran out of fuel"):
        dispatch(executable, memory, [address], threadgroups=(1, 1, 1), fuel=fuel, checker=checker)
    return int(data[0]) // threads


def test_atomic_operations_burn_more_fuel_the_more_so_under_checks() -> None:
    loop = "while (atomic_fetch_add_explicit(out, 1u, memory_order_relaxed) != ~0u) {}"
    plain = rounds_of(loop, fuel=1 << 20, threads=1)
    assert 1 << 10 < plain < 1 << 13
    assert 1 << 10 < rounds_of(loop, fuel=1 << 20, threads=1, checks="race") < plain


def test_simdgroups_that_go_round_a_loop_by_turns_share_their_fuel() -> None:
    loop = """    while (atomic_load_explicit(out, memory_order_relaxed) != ~0u) {
        atomic_fetch_add_explicit(out, 1u, memory_order_relaxed);
        threadgroup_barrier(mem_flags::mem_device);
    }"""
    two, eight = (rounds_of(loop, fuel=1 << 20, threads=32 * n) for n in (2, 8))
    assert 3 * eight < two < 5 * eight


def test_an_access_in_an_inlined_function_says_who_called() -> None:
    source = HEAD + (
        "static uint pick(device uint* p, uint i) {\n"
        "  return p[i + 64];\n"
        "}\n"
        "kernel void outer(device uint* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
        "  out[i] = pick(out, i);\n"
        "}\n"
    )
    program = compile_library(source, file_name="call.metal").function("outer").program()
    memory = Memory()
    data = np.zeros(64, np.uint32)
    address = memory.register(data.view(np.uint8), name="data")
    with pytest.raises(KernelFault) as caught:
        dispatch(program.specialise(SIZE), memory, [address], threadgroups=(1, 1, 1))
    assert caught.value.site.line == 4
    assert "called from outer at call.metal:7:" in str(caught.value)
    assert "__assay" not in str(caught.value)


def test_an_address_of_a_released_buffer_reaches_nothing() -> None:
    memory = Memory()
    data = np.zeros(64, np.uint32)
    address = memory.register(data.view(np.uint8), name="data")
    memory.release(address)
    source = HEAD + (
        "kernel void late(device uint* out [[buffer(0)]], uint i [[thread_position_in_grid]]) "
        "{ out[i] = 1; }"
    )
    program = compile_library(source).function("late").program()
    with pytest.raises(KernelFault, match="use-after-free write"):
        dispatch(program.specialise(SIZE), memory, [address], threadgroups=(1, 1, 1))
    assert not data.any()


def test_a_threadgroup_array_of_a_templates_instance_is_called_by_its_name() -> None:
    source = HEAD + (
        "struct Sizes16 { uint a; uint b; };\n"
        "template <int N, typename T> kernel void tile(device T* out, constant Sizes16& sizes,\n"
        "    uint2 g [[threadgroup_position_in_grid]], uint i [[thread_index_in_threadgroup]])\n"
        "{ threadgroup T part[N]; part[i + sizes.a + N - 1] = out[i];\n"
        "  threadgroup_barrier(mem_flags::mem_threadgroup); out[i] = part[N - 1 - i]; }\n"
        'template [[host_name("tile128")]] kernel void tile<128, float>(device float*, '
        "constant Sizes16&, uint2, uint);\n"
    )
    program = compile_library(source).function("tile128").program()
    memory = Memory()
    buffer = memory.register(np.zeros(256, np.uint8), name="out")
    with pytest.raises(KernelFault) as caught:
        dispatch(program.specialise((32, 1, 1)), memory, [buffer, buffer], threads=(32, 1, 1))
    assert caught.value.buffer == "part"
