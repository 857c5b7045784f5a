"""Constructs whose results are easy to get wrong, run on the engine."""

import numpy as np
import pytest

from tests.support.msl import run_kernel

F = np.float32


def test_an_array_of_buffers_takes_one_place_for_each() -> None:
    first, second, third = (np.arange(4, dtype=F) * scale for scale in (1, 10, 100))
    out = np.zeros(4, F)
    run_kernel(
        "kernel void k(array<const device float*, 3> in [[buffer(1)]], device float* out "
        "[[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
        "  for (int n = 0; n < 3; ++n) out[i] += in[n][i] * float(n + 1); }",
        first,
        second,
        third,
        out,
        threads=4,
        group=4,
    )
    assert out.tolist() == (first + 2 * second + 3 * third).tolist()


def test_packed_vectors_have_every_swizzle() -> None:
    data = np.arange(8, dtype=F)
    run_kernel(
        "kernel void k(device packed_float4* v) {\n"
        "  float4 turned = v[0].wzyx; v[1].yw = turned.xy; v[0].rgb = v[1].wwx; }",
        data,
        threads=1,
        group=1,
    )
    assert data.tolist() == [2, 2, 4, 3, 4, 3, 6, 2]


def test_volatile_vectors_are_read_and_written() -> None:
    data = np.array([1, 2, 3, 4, 0, 0, 0, 0], F)
    run_kernel(
        "kernel void k(volatile device float4* v) { float4 x = v[0]; v[1] = x * 2.0f; }",
        data,
        threads=1,
        group=1,
    )
    assert data[4:].tolist() == [2, 4, 6, 8]


COPIES = """
struct _simdgroup_event_t;
thread _simdgroup_event_t* copy_tile(ulong, ulong, threadgroup void*, ulong, ulong, ulong2,
    const device void*, ulong, ulong, ulong2, long2, int)
    __asm("air.simdgroup_async_copy_2d.p3i8.p1i8");
thread _simdgroup_event_t* copy_line(ulong, ulong, device void*, const threadgroup void*, ulong)
    __asm("air.simdgroup_async_copy_1d.p1i8.p3i8");
void wait(int, thread _simdgroup_event_t**) __asm("air.wait_simdgroup_events");
kernel void k(const device half* in [[buffer(0)]], device half* out [[buffer(1)]],
              threadgroup half* tile [[threadgroup(0)]]) {
  thread _simdgroup_event_t* done = copy_tile(
      sizeof(half), alignof(half), tile, 4, 1, ulong2(4, 3),
      in, 5, 1, ulong2(3, 2), long2(0), MODE);
  wait(1, &done);
  done = copy_line(sizeof(half), alignof(half), out, tile, 12);
  wait(1, &done);
}
"""


def test_asynchronous_copies_fill_what_the_source_has_not_with_zeros() -> None:
    source, out = np.arange(1, 16, dtype=np.float16), np.zeros(12, np.float16)
    run_kernel(COPIES.replace("MODE", "0"), source, out, 24, threads=32, group=32)
    assert out.reshape(3, 4).tolist() == [[1, 2, 3, 0], [6, 7, 8, 0], [0, 0, 0, 0]]


def test_asynchronous_copies_can_repeat_the_source_s_edge() -> None:
    source, out = np.arange(1, 16, dtype=np.float16), np.zeros(12, np.float16)
    run_kernel(COPIES.replace("MODE", "1"), source, out, 24, threads=32, group=32)
    assert out.reshape(3, 4).tolist() == [[1, 2, 3, 3], [6, 7, 8, 8], [6, 7, 8, 8]]


def test_constructors_from_one_address_space_leave_copies_of_the_others() -> None:
    data = np.array([1, 2, 3, 4], F)
    run_kernel(
        "struct C { float x, y; C() = default; C(float a, float b) : x(a), y(b) {}\n"
        "  C(device const C& o) thread : x(o.x), y(o.y) {} };\n"
        "C twice(C c) { return C(c.x * 2, c.y * 2); }\n"
        "kernel void k(device C* c) { C a = c[0]; C b = twice(a); c[1] = twice(b); }",
        data,
        threads=1,
        group=1,
    )
    assert data.tolist() == [1, 2, 4, 8]


def test_quad_broadcast_first_takes_the_first_active_lane_of_the_quad() -> None:
    out = np.zeros(8, np.uint32)
    run_kernel(
        "kernel void k(device uint* out, uint i [[thread_position_in_grid]]) {\n"
        "  if (i % 4 >= i / 4 + 1) out[i] = quad_broadcast_first(i); else out[i] = 100; }",
        out,
        threads=8,
        group=8,
    )
    assert out.tolist() == [100, 1, 1, 1, 100, 100, 6, 6]


def test_bfloat_and_half_literals_may_be_hexadecimal() -> None:
    out = np.zeros(3, F)
    run_kernel(
        "kernel void k(device float* out) { out[0] = 0x1.8p-3h; out[1] = 0x1p4bf; "
        "out[2] = BFLT_EPSILON; }",
        out,
        threads=1,
        group=1,
    )
    assert out.tolist() == [0.1875, 16.0, 2.0**-7]


def test_literals_without_a_suffix_are_float_in_templates_too() -> None:
    """In double, the sum of the first would be 2^-25 more than 1, and all would have 8 bytes."""
    out = np.zeros(4, F)
    run_kernel(
        "template <class T> float widths(T x) {\n"
        "  auto a = x / 2.0; auto b = .5 * x; auto c = x + 1e-3; auto d = x - 0x1.8p3;\n"
        "  return sizeof(a) + sizeof(b) + sizeof(c) + sizeof(d); }\n"
        "template <class T> float sum(T x) { return x + 1.0 - 1.0; }\n"
        "kernel void k(device float* out) { out[0] = widths(out[0]); out[1] = widths(half(0));\n"
        "  out[2] = sum(0x1p-25f); out[3] = sum(half(1)); }",
        out,
        threads=1,
        group=1,
    )
    assert out.tolist() == [16, 16, 0, 1]


def test_a_kernel_template_may_be_declared_before_it_is_defined() -> None:
    out = np.zeros(1, F)
    run_kernel(
        "template <class T> kernel void of(device T* out, uint i);\n"
        'template [[host_name("k")]] kernel void of<float>(device float* out, uint i);\n'
        "template <class T> kernel void of(device T* out, uint i [[thread_position_in_grid]]) {\n"
        "  out[i] = i + 3; }",
        out,
        threads=1,
        group=1,
    )
    assert out.tolist() == [3]


@pytest.mark.parametrize(("name", "value"), [("plain", 3), ("scaled", 30)])
def test_kernel_templates_of_one_name_are_told_apart_by_their_parameters(
    name: str, value: int
) -> None:
    source = """
template <class T> struct Plain { device T* out; };
template <class T> struct Scaled { T by; };
template <class T> kernel void of(device T* out [[buffer(0)]], constant Plain<T>& how,
                                  uint i [[thread_position_in_grid]]) { out[i] = i + 3; }
template <class T> kernel void of(device T* out [[buffer(0)]], constant Scaled<T>& how,
                                  uint i [[thread_position_in_grid]]) { out[i] = (i + 3) * how.by; }
template [[host_name("plain")]] kernel void of<float>(device float* out [[buffer(0)]],
    constant Plain<float>& how, uint i [[thread_position_in_grid]]);
template [[host_name("scaled")]] kernel void of<float>(device float* out [[buffer(0)]],
    constant Scaled<float>& how, uint i [[thread_position_in_grid]]);
"""
    out = np.zeros(1, F)
    run_kernel(source, out, np.array([10, 0], F), name=name, threads=1, group=1)
    assert out.tolist() == [value]


def test_kernel_templates_of_one_name_may_have_other_numbers_of_parameters() -> None:
    source = """
template <class T> kernel void of(device T* out, uint i [[thread_position_in_grid]]) {
  out[i] = 1; }
template <class T> kernel void of(device T* out, constant T& x,
                                  uint i [[thread_position_in_grid]]) { out[i] = x; }
template [[host_name("one")]] kernel void of<float>(device float*, uint);
template [[host_name("k")]] kernel void of<float>(device float*, constant float&, uint);
"""
    out = np.zeros(1, F)
    run_kernel(source, out, np.full(1, 7, F), name="k", threads=1, group=1)
    assert out.tolist() == [7]


def test_functions_of_the_library_on_scalars_go_before_templates_of_the_program() -> None:
    """Apple's are overloads, of which one that fits goes before any template that does."""
    out = np.full(4, 3, F)
    run_kernel(
        "namespace mine { template <class T, class U> float pow(T, U) { return -1; }\n"
        "  template <class T> T sin(T) { return -1; }\n"
        "  template <class T> T max(T, T) { return 0; } }\n"
        "using namespace mine;\n"
        "kernel void k(device float* out) { out[0] = ::pow(out[0], 2.0f); out[1] = sin(out[1]);\n"
        "  out[2] = max(out[2], 1.0f); out[3] = ::pow(out[3], 2); }",
        out,
        threads=1,
        group=1,
    )
    assert out.tolist() == [9, np.sin(F(3)), 3, -1]  # the last would have to convert


def test_vectors_that_a_program_declares_convert_and_are_made_of_parts() -> None:
    source, out = np.arange(8, dtype=np.float16), np.zeros(3, F)
    run_kernel(
        "typedef half half8 __attribute__((ext_vector_type(8)));\n"
        "typedef float float8 __attribute__((ext_vector_type(8)));\n"
        "using float2x = float __attribute__((ext_vector_type(2)));\n"
        "kernel void k(device half8* in [[buffer(0)]], device float* out [[buffer(1)]]) {\n"
        "  float8 wide = float8(in[0]); float2x two = float2x(1, 2.5f);\n"
        "  out[0] = wide[5]; out[1] = two.y; out[2] = float8(3.0f)[7]; }",
        source,
        out,
        threads=1,
        group=1,
    )
    assert out.tolist() == [5, 2.5, 3]


def test_threadgroup_variables_may_have_the_address_space_behind_the_type() -> None:
    out = np.zeros(32, F)
    run_kernel(
        "kernel void k(float device* out, uint i [[thread_position_in_grid]]) {\n"
        "  float threadgroup tile[32]; tile[i] = float(i);\n"
        "  threadgroup_barrier(mem_flags::mem_threadgroup); out[i] = tile[31 - i]; }",
        out,
    )
    assert out.tolist() == list(range(31, -1, -1))
