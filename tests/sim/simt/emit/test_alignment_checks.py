"""Accesses whose addresses their types forbid, and writes to what is declared const."""

import numpy as np
import pytest

from assay.compiler.msl import compile_library
from assay.sim.check import Checker, Finding
from assay.sim.simt import Memory, dispatch

HEAD = "#include <metal_stdlib>\nusing namespace metal;\n"


def findings(body: str, *, offset: int = 0, declared: str = "device float* a") -> list[Finding]:
    """What the bounds check finds in 32 threads of a kernel over 1024 bytes; `body` is line 4."""
    source = (
        f"{HEAD}kernel void k({declared} [[buffer(0)]], device uint* b [[buffer(1)]], "
        f"uint i [[thread_position_in_grid]]) {{\n{body}\n}}\n"
    )
    program = compile_library(source).function("k").program()
    memory = Memory()
    data = [np.zeros(1024, np.uint8) for _ in range(2)]
    addresses = [memory.register(each, name=name) for each, name in zip(data, "ab", strict=True)]
    addresses[0] += offset
    checker = Checker(["bounds"])
    dispatch(program.specialise((32, 1, 1)), memory, addresses, threads=(32, 1, 1), checker=checker)
    assert all(finding.site.line == 4 for finding in checker.findings)
    return list(checker.findings)


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("((device float4*)(a + 1))[i % 8] = float4(i);", 32),
        ("float4 v = ((device float4*)(a + 1))[i % 8]; b[i] = uint(v.x * v.y + v.z * v.w);", 64),
        ("b[i] = uint(((device float4*)(a + 1))[i % 8].x);", 32),
        ("*(device uint*)((device char*)a + i) = i;", 24),
        ("*(device float2*)(a + i) = float2(i);", 16),
        ("if (i == 3) *(device ulong*)(a + i) = 1;", 1),
        ("b[i] = *(device ushort*)((device char*)a + (b[i] | 1) + i * 2);", 32),
        (
            "threadgroup float t[64]; threadgroup float* p = t + (i | 1); "
            "*(threadgroup float4*)p = float4(i); a[i] = t[i];",
            32,
        ),
        ("*(device half4*)((device half*)a + i * 4 + 2) = half4(1);", 32),
    ],
)
def test_misaligned_accesses_are_found_with_their_lanes(body: str, count: int) -> None:
    (finding,) = findings(body)
    assert (finding.kind, finding.check, finding.count) == ("misaligned", "bounds", count)
    assert "must be a multiple of" in finding.message


@pytest.mark.parametrize(
    ("body", "severity"),
    [
        ("((device float4*)(a + 1))[i % 8] = float4(i);", "warning"),
        ("*(device uint*)((device char*)a + i) = i;", "error"),
        ("*(device half2*)((device half*)a + 1 + i * 2) = half2(1);", "error"),
    ],
)
def test_vectors_that_lie_at_whole_words_are_warned_of(body: str, severity: str) -> None:
    assert [finding.severity for finding in findings(body)] == [severity]


@pytest.mark.parametrize(
    "body",
    [
        "((device float4*)(a + 4))[i % 8] = float4(i);",
        "*(device packed_float4*)(a + i) = packed_float4(float4(i));",
        "*(device packed_half3*)((device half*)a + i) = packed_half3(half3(i));",
        "struct S { uchar v[4]; }; *(device S*)((device char*)a + i) = S{{1, 2, 3, 4}};",
        "struct Head { uchar tag; packed_ushort3 v; }; ((device Head*)a)[i].v = packed_ushort3(1);",
        "*(device ulong*)((device char*)a + i * 8) = i;",
        "if (i % 2 == 0) *(device float2*)(a + i) = float2(i);",
        "a[i] = a[(i * 7 + b[i]) % 64];",
        "struct S { float4 v; float w; }; ((device S*)a)[i].w = 1;",
    ],
)
def test_aligned_accesses_are_left_alone(body: str) -> None:
    assert findings(body) == []


def test_a_buffer_offset_can_misalign_every_access() -> None:
    body = "((device float4*)a)[i % 8] = float4(i);"
    assert [finding.count for finding in findings(body, offset=4)] == [32]
    assert findings(body, offset=16) == []


def test_writes_through_a_cast_of_a_const_argument_are_found() -> None:
    (finding,) = findings("((device float*)a)[i] = 1;", declared="device const float* a")
    assert (finding.kind, finding.memory, finding.count) == ("read-only-write", "'a'", 32)
    assert "declared const" in finding.message


def test_a_const_cast_that_only_reads_is_no_finding() -> None:
    assert findings("b[i] = uint(((device float*)a)[i]);", declared="device const float* a") == []
