"""Kernels that mean harm: none reaches the host, and each is stopped with the line it is at."""

import time

import numpy as np
import pytest

from assay.compiler.msl import CompileError, compile_library
from assay.sim.simt import KernelFault, Memory, UnsupportedKernel, dispatch

HEAD = "#include <metal_stdlib>\nusing namespace metal;\n"


def run(source: str, *, words: int = 64, fuel: int = 1_000_000, threads: int = 1) -> np.ndarray:
    """Run kernel `k` of `source`, whose first line is 3, over a buffer with guards around."""
    program = compile_library(HEAD + source).function("k").program()
    memory = Memory()
    guarded = np.full(words + 128, 7, np.int32)
    neighbour = np.full(64, 9, np.int32)
    address = memory.register(guarded[64:-64].view(np.uint8), name="a")
    other = memory.register(neighbour.view(np.uint8), name="neighbour")
    guarded[64:66].view(np.uint64)[0] = address
    guarded[66:68].view(np.uint64)[0] = other
    guarded[68:70].view(np.uint64)[0] = guarded.ctypes.data
    try:
        dispatch(
            program.specialise((threads, 1, 1)),
            memory,
            [address],
            threadgroups=(1, 1, 1),
            fuel=fuel,
        )
    finally:
        assert (guarded[:64] == 7).all() and (guarded[-64:] == 7).all()
    return guarded[64:-64]


def fault_of(source: str, **options: int) -> KernelFault:
    with pytest.raises(KernelFault) as caught:
        run(source, **options)
    assert "program_source.metal:" in str(caught.value)
    return caught.value


def refusal_of(source: str) -> str:
    with pytest.raises((UnsupportedKernel, CompileError)) as caught:
        run(source)
    return str(caught.value)


@pytest.mark.parametrize(
    "number",
    [
        "0x1234567",
        "0x7fff00000000",
        "0x400000",
        "~0ul",
        "1ul << 63",
        "0xffff000000000000",
        "(1ul << 48) + (1ul << 40)",
        "(2ul << 48) + 4096",
        "(3ul << 48) + 4096",
        "4ul << 48",
    ],
)
@pytest.mark.parametrize("access", ["a[0] = *p;", "*p = 1;"])
def test_pointers_made_of_numbers_reach_nothing(number: str, access: str) -> None:
    fault = fault_of(
        f"kernel void k(device int* a) {{ device int* p = (device int*)({number}); {access} }}"
    )
    assert fault.site.line == 3


def test_an_address_of_the_host_in_a_buffer_reaches_nothing() -> None:
    fault = fault_of(
        "kernel void k(device ulong* a) { device int* p = (device int*)a[2]; *p = 1; }"
    )
    assert fault.kind.endswith("write")


@pytest.mark.parametrize("offset", [64, -1, 1 << 20, -(1 << 20), 1 << 44])
def test_arithmetic_does_not_lead_from_one_buffer_to_another(offset: int) -> None:
    fault = fault_of(f"kernel void k(device int* a) {{ a[{offset}l] = 1; }}")
    assert fault.kind == "out-of-bounds write"


def test_the_difference_of_two_buffers_leads_only_to_addresses_that_are_known() -> None:
    # Whoever knows another buffer's address may use it, as on hardware; what is between, not.
    source = (
        "kernel void k(device ulong* a) {{ device int* p = (device int*)a;\n"
        "p += (long(a[1]) - long(a[0])) / 4 + {offset}; *p = 1; }}"
    )
    run(source.format(offset=0))
    assert fault_of(source.format(offset=64)).site.line == 4


def test_a_pointer_through_two_structs_is_checked_like_any_other() -> None:
    fault = fault_of(
        "struct Inner { device int* wild; }; struct Outer { device Inner* inner; };\n"
        "kernel void k(device ulong* a) {\n"
        "    a[3] = 0xdead000000000000ul;\n"
        "    device Outer* outer = (device Outer*)a;\n"
        "    a[0] += 24;\n"
        "    *outer->inner->wild = 3;\n"
        "}"
    )
    assert fault.site.line == 8


@pytest.mark.parametrize(
    "loop",
    [
        "while (true) { a[0] = a[0] + 1; }",
        "for (;;) { if (a[0] == 12345678) break; a[1]++; }",
        "x: a[0]++; goto x;",
        "for (uint i = 0; i < 4000000000u; i++) a[i & 1] ^= i;",
        "do { atomic_fetch_add_explicit((device atomic_int*)a, 1, memory_order_relaxed); } "
        "while (true);",
    ],
)
def test_loops_that_do_not_end_are_stopped(loop: str) -> None:
    started = time.monotonic()
    fault = fault_of(f"kernel void k(device int* a) {{ {loop} }}")
    assert (fault.kind, fault.site.line) == ("runaway", 3)
    assert time.monotonic() - started < 10


@pytest.mark.parametrize(
    "functions",
    [
        "int f(int n) { return n * f(n + 1) + f(n ^ 2); }",
        "int f(int n);\nint g(int n) { return f(n - 1) * n; }\n"
        "int f(int n) { return g(n - 1) * n + g(n); }",
    ],
)
def test_recursion_that_does_not_end_is_stopped(functions: str) -> None:
    started = time.monotonic()
    fault = fault_of(f"{functions}\nkernel void k(device int* a) {{ a[0] = f(a[0]); }}")
    assert "call themselves deeper than is followed" in str(fault)
    assert time.monotonic() - started < 10


def test_functions_that_double_forty_times_are_refused_at_once() -> None:
    names = [
        f"int f{n}(int x) {{ return f{n + 1}(x) + f{n + 1}(x ^ {n}) * x; }}" for n in range(40)
    ]
    names.append("int f40(int x) { return x * 3; }")
    started = time.monotonic()
    text = refusal_of(
        "\n".join(reversed(names)) + "\nkernel void k(device int* a) { a[0] = f0(a[0]); }"
    )
    assert "lines of code when the functions that it calls are put in their places" in text
    assert time.monotonic() - started < 10


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (
            "kernel void k(device int* a) { int p[1 << 20]; for (int i = 0; i < a[0]; i++) "
            "p[i * 7 % (1 << 20)] = i; a[0] = p[a[1]]; }",
            "bytes of private variables",
        ),
        (
            "constant int t[1 << 24] = {1, 2};\nkernel void k(device int* a) { a[0] = t[a[0]]; }",
            "makes 67108864 bytes of constants",
        ),
    ],
)
def test_huge_arrays_are_refused_before_they_take_memory(source: str, words: str) -> None:
    assert words in refusal_of(source)


@pytest.mark.parametrize(
    "source",
    [
        'extern "C" int system(const char*); kernel void k(device int* a) { a[0] = system("ls"); }',
        'extern "C" int system(const char*); kernel void k(device long* a) { '
        "a[0] = (long)&system; }",
        "kernel void k(device ulong* a) { auto f = (void (*)())a[0]; f(); }",
        "kernel void k(device int* a) { static int calls = 0; a[0] = calls++; }",
        "int shared_by_all; kernel void k(device int* a) { a[0] = shared_by_all++; }",
        "kernel void k(device int* a) { int* p = new int[4]; p[0] = a[0]; a[0] = p[0]; }",
        "kernel void k(device int* a) { __sync_synchronize(); a[0] = 1; }",
        "kernel void k(device int* a) { __builtin_memset((void*)a[0], 1, 1ul << 40); }",
    ],
)
def test_only_what_the_engine_knows_is_run(source: str) -> None:
    assert refusal_of(source).startswith("program_source.metal:3:")
