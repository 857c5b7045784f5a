"""Tapes: streams of small kernels against what their threads are known to do."""

from __future__ import annotations

import numpy as np
import pytest

from assay.compiler.msl import compile_library
from assay.sim.simt import DispatchError, KernelFault, Memory, Tape, dispatch, tape_dispatch
from assay.sim.simt.emit.tape import ACCESS, BLOCK, LINE_BYTES, Event, events
from assay.sim.simt.ir.operations.synchronisation import THREADGROUP_BARRIER

ALL = 0xFFFFFFFF
HEADER = """#include <metal_stdlib>
using namespace metal;
#define THREAD [[thread_index_in_threadgroup]]
"""


class Device:
    """A memory with some buffers, and the kernel that uses them."""

    def __init__(self, source: str, size: tuple[int, int, int], *buffers: np.ndarray) -> None:
        self.memory = Memory()
        self.buffers = buffers
        self.arguments = [
            self.memory.register(buffer.reshape(-1).view(np.uint8), name=f"buffer {n}")
            for n, buffer in enumerate(buffers)
        ]
        program = compile_library(HEADER + source).function("f").program()
        self.executable = program.specialise(size)

    def tape(self, *sample: tuple[int, int, int], **grid: object) -> Tape:
        return tape_dispatch(self.executable, self.memory, self.arguments, sample=sample, **grid)  # type: ignore[arg-type]

    def line(self, buffer: int, offset: int = 0) -> int:
        return (self.arguments[buffer] + offset) // LINE_BYTES


def stream(tape: Tape, group: int = 0, simdgroup: int = 0) -> list[Event]:
    return list(events(tape, group, simdgroup))


def accesses(tape: Tape, group: int = 0, simdgroup: int = 0) -> list[Event]:
    return [e for e in stream(tape, group, simdgroup) if e.type == ACCESS]


def floats(count: int) -> np.ndarray:
    return np.arange(count, dtype=np.float32)


COPY = """kernel void f(device const float* a [[buffer(0)]], device float* o [[buffer(1)]],
                        uint i [[thread_position_in_grid]]) { o[i] = a[i]; }"""


def test_consecutive_lanes_touch_one_line_where_they_are_in_the_grid() -> None:
    device = Device(COPY, (32, 1, 1), floats(256), floats(256))
    tape = device.tape((5, 0, 0), threadgroups=(8, 1, 1))
    assert tape.grid == (8, 1, 1)
    assert tape.simdgroups == 1
    load, store = accesses(tape)
    assert load.lines == (device.line(0, 5 * 128),)
    assert store.lines == (device.line(1, 5 * 128),)
    assert (load.words, load.bytes, load.sharing, load.lanes) == (32, 4, 1, ALL)


def test_a_buffer_bound_inside_a_line_gives_two_lines() -> None:
    device = Device(COPY, (32, 1, 1), floats(256), floats(256))
    device.arguments[0] += 64
    load, _ = accesses(device.tape((0, 0, 0), threadgroups=(1, 1, 1)))
    assert load.lines == (device.line(0), device.line(0) + 1)
    assert load.words == 32


def test_threadgroups_come_in_the_order_of_the_sample() -> None:
    device = Device(COPY, (64, 1, 1), floats(256), floats(256))
    tape = device.tape((3, 0, 0), (1, 0, 0), threadgroups=(4, 1, 1))
    first = [accesses(tape, g, s)[0].lines[0] for g in (0, 1) for s in (0, 1)]
    assert first == [device.line(0, offset * 128) for offset in (6, 7, 2, 3)]


def test_only_the_sampled_threadgroups_run() -> None:
    device = Device(COPY, (32, 1, 1), floats(256), np.zeros(256, np.float32))
    device.tape((1, 0, 0), threadgroups=(8, 1, 1))
    expected = np.zeros(256, np.float32)
    expected[32:64] = floats(256)[32:64]
    np.testing.assert_array_equal(device.buffers[1], expected)


def test_vectors_are_one_access_of_many_words() -> None:
    source = """kernel void f(device const float4* a [[buffer(0)]], device float4* o [[buffer(1)]],
                              uint i [[thread_position_in_grid]]) { o[i] = a[i] * 2.0f; }"""
    device = Device(source, (32, 1, 1), floats(256), floats(256))
    load, store = accesses(device.tape((0, 0, 0), threadgroups=(1, 1, 1)))
    assert load.bytes == store.bytes == 16
    assert load.words == 128
    assert load.lines == tuple(device.line(0) + n for n in range(4))


def test_a_partial_simdgroup_touches_what_its_lanes_touch() -> None:
    device = Device(COPY, (40, 1, 1), floats(256), floats(256))
    tape = device.tape((0, 0, 0), threadgroups=(1, 1, 1))
    load, _ = accesses(tape, 0, 1)
    assert load.lanes == 0xFF
    assert load.words == 8


def test_threadgroups_at_the_edge_have_empty_streams_for_what_they_lack() -> None:
    device = Device(COPY, (64, 1, 1), floats(256), floats(256))
    tape = device.tape((1, 0, 0), (0, 0, 0), threads=(80, 1, 1))
    assert len(tape.stream(0, 1)) == 0
    assert accesses(tape, 0, 0)[0].lanes == 0xFFFF
    assert len(tape.stream(1, 1)) == len(tape.stream(1, 0)) > 0


DIVERGENT = """kernel void f(device float* o [[buffer(0)]], uint t THREAD) {
    if (t % 4 == 1) { o[t] = 1; } else if (t < 8) { o[t * 64] = 2; } else { o[7] = 3; }
}"""


def test_divergent_branches_are_taped_with_their_lanes() -> None:
    device = Device(DIVERGENT, (32, 1, 1), floats(2048))
    found = {e.lanes: e for e in accesses(device.tape((0, 0, 0), threadgroups=(1, 1, 1)))}
    ones = sum(1 << lane for lane in range(32) if lane % 4 == 1)
    few = sum(1 << lane for lane in range(8) if lane % 4 != 1)
    assert set(found) == {ones, few, ALL & ~ones & ~few}
    assert found[few].lines == tuple(device.line(0) + 2 * lane for lane in (0, 2, 3, 4, 6, 7))
    assert found[ones].words == 8
    assert (found[ALL & ~ones & ~few].words, found[ALL & ~ones & ~few].sharing) == (1, 18)


def test_loops_are_taped_round_by_round_with_the_lanes_still_in_them() -> None:
    source = """kernel void f(device float* o [[buffer(0)]], constant uint& step [[buffer(1)]],
                              uint t [[thread_index_in_threadgroup]]) {
        for (uint n = 0; n <= t / 8; n += step) o[t + 32 * n] += 1;
    }"""
    device = Device(source, (32, 1, 1), floats(256), np.array([1], np.uint32))
    found = accesses(device.tape((0, 0, 0), threadgroups=(1, 1, 1)))
    loads = [e for e in found if e.lines[0] < device.line(1)][::2]
    assert [e.lanes for e in loads] == [ALL, 0xFFFFFF00, 0xFFFF0000, 0xFF000000]
    assert [e.lines for e in loads] == [(device.line(0) + n,) for n in range(4)]


@pytest.mark.parametrize(
    ("stride", "ways", "words"), [(1, 1, 32), (2, 2, 32), (32, 32, 32), (33, 1, 32), (0, 1, 1)]
)
def test_strides_in_threadgroup_memory_give_the_ways_of_the_banks(
    stride: int, ways: int, words: int
) -> None:
    source = f"""kernel void f(device float* o [[buffer(0)]], uint t THREAD)
    {{ threadgroup float s[2048]; s[t * {stride}] = t; o[t] = s[{stride} * t]; }}"""
    device = Device(source, (32, 1, 1), floats(32))
    store = accesses(device.tape((0, 0, 0), threadgroups=(1, 1, 1)))[0]
    assert (store.ways, store.words, store.cached, store.lines) == (ways, words, False, ())
    assert store.rows == min(32, max(1, stride))
    assert store.sharing == (32 if stride == 0 else 1)


def test_a_stride_that_is_an_argument_gives_the_same() -> None:
    source = """kernel void f(device float* o [[buffer(0)]], constant uint& stride [[buffer(1)]],
                              uint t [[thread_index_in_threadgroup]])
    { threadgroup float s[2048]; s[t * stride] = t; o[t * stride] = s[stride * t]; }"""
    device = Device(source, (32, 1, 1), floats(2048), np.array([16], np.uint32))
    found = accesses(device.tape((0, 0, 0), threadgroups=(1, 1, 1)))
    inside = next(e for e in found if not e.cached)
    assert (inside.ways, inside.words) == (16, 32)
    assert found[-1].lines == tuple(device.line(0) + n // 2 for n in range(0, 32, 2))


def test_a_barrier_ends_a_block_and_the_stream_goes_on() -> None:
    source = """kernel void f(device float* o [[buffer(0)]], uint t THREAD)
    { threadgroup float s[64]; s[t] = t; threadgroup_barrier(mem_flags::mem_threadgroup);
      o[t] = s[63 - t]; }"""
    device = Device(source, (64, 1, 1), np.zeros(64, np.float32))
    tape = device.tape((0, 0, 0), threadgroups=(1, 1, 1))
    np.testing.assert_array_equal(device.buffers[0], floats(64)[::-1])
    for simdgroup in (0, 1):
        kinds = [e.type for e in stream(tape, 0, simdgroup)]
        assert kinds == [BLOCK, ACCESS, BLOCK, ACCESS, ACCESS]
    first = tape.function.blocks[0]
    assert first.body[-1].operation is THREADGROUP_BARRIER


def test_atomics_tell_how_many_lanes_share_an_address() -> None:
    source = """kernel void f(device atomic_uint* o [[buffer(0)]], uint t THREAD)
    { atomic_fetch_add_explicit(&o[t / 8], 1u, memory_order_relaxed); }"""
    device = Device(source, (32, 1, 1), np.zeros(8, np.uint32))
    (atomic,) = accesses(device.tape((0, 0, 0), threadgroups=(1, 1, 1)))
    assert (atomic.words, atomic.sharing, atomic.bytes) == (4, 8, 4)


def test_private_arrays_have_lines_of_their_own_in_each_simdgroup() -> None:
    source = """kernel void f(device float* o [[buffer(0)]], device const uint* p [[buffer(1)]],
                              uint t [[thread_index_in_threadgroup]])
    { float v[16]; for (uint n = 0; n < 16; n++) v[p[n]] = t + n;
      o[t] = v[p[t] & 15] + v[p[3]]; }"""
    device = Device(source, (64, 1, 1), floats(64), np.arange(64, dtype=np.uint32) % 16)
    tape = device.tape((0, 0, 0), threadgroups=(1, 1, 1))
    private = {2 << 48 >> 7}
    lines = [
        {n for e in accesses(tape, 0, s) for n in e.lines if n >> 41 == min(private) >> 41}
        for s in (0, 1)
    ]
    assert len(lines[0]) == len(lines[1]) == 16
    assert not lines[0] & lines[1]
    uniform = accesses(tape, 0, 0)[-2]
    assert (len(uniform.lines), uniform.words) == (1, 32)


def test_a_kernel_that_faults_while_it_is_taped_says_so() -> None:
    device = Device(COPY, (32, 1, 1), floats(16), floats(16))
    with pytest.raises(KernelFault):
        device.tape((0, 0, 0), threadgroups=(1, 1, 1))


def test_a_position_outside_the_grid_is_refused() -> None:
    device = Device(COPY, (32, 1, 1), floats(64), floats(64))
    with pytest.raises(DispatchError, match="outside the grid of 2 x 1 x 1"):
        device.tape((2, 0, 0), threadgroups=(2, 1, 1))


def test_a_tape_that_is_full_is_cut_and_the_kernel_still_ends() -> None:
    source = """kernel void f(device float* o [[buffer(0)]], uint t THREAD) {
        #pragma clang loop unroll(disable)
        for (uint n = 0; n < 1000; n++) o[t * (n & 3)] += 1;
    }"""
    device = Device(source, (64, 1, 1), np.zeros(256, np.float32))
    whole = tape_dispatch(
        device.executable,
        device.memory,
        device.arguments,
        threadgroups=(1, 1, 1),
        sample=[(0, 0, 0)],
    )
    results = device.buffers[0].copy()
    device.buffers[0][:] = 0
    cut = tape_dispatch(
        device.executable,
        device.memory,
        device.arguments,
        threadgroups=(1, 1, 1),
        sample=[(0, 0, 0)],
        limit=4096,
    )
    assert cut.truncated and not whole.truncated
    np.testing.assert_array_equal(device.buffers[0], results)
    assert 0 < len(cut.words) < len(whole.words)
    np.testing.assert_array_equal(cut.words, whole.words[: len(cut.words)])


def test_tapes_repeat_and_results_are_those_of_a_plain_run() -> None:
    source = """kernel void f(device const float* a [[buffer(0)]], device float* o [[buffer(1)]],
                              uint i [[thread_position_in_grid]], uint t THREAD,
                              uint lane [[thread_index_in_simdgroup]]) {
        threadgroup float s[64];
        float x = a[i];
        for (uint n = 0; n < lane % 5; n++) x = x * 1.5f + a[(i * 7 + n) & 255];
        s[t] = x;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        o[i] = simd_sum(x) + s[(t * 5) & 63];
    }"""
    device = Device(source, (64, 1, 1), floats(256), np.zeros(256, np.float32))
    sample = [(n, 0, 0) for n in range(4)]
    first = device.tape(*sample, threadgroups=(4, 1, 1))
    taped = device.buffers[1].copy()
    second = device.tape(*sample, threadgroups=(4, 1, 1))
    np.testing.assert_array_equal(first.words, second.words)
    np.testing.assert_array_equal(first.starts, second.starts)
    device.buffers[1][:] = 0
    dispatch(device.executable, device.memory, device.arguments, threadgroups=(4, 1, 1))
    np.testing.assert_array_equal(device.buffers[1], taped)


def test_arrays_that_are_copied_whole_are_not_memory() -> None:
    source = """struct Chunk { float v[4]; };
    kernel void f(device Chunk* o [[buffer(0)]], device const Chunk* a [[buffer(1)]],
                  constant uint& n [[buffer(2)]], uint t THREAD) {
        Chunk kept[2];
        for (uint i = 0; i < 2; i++) kept[i] = a[t * 2 + i];
        for (uint r = 0; r < n; r++) { Chunk c = kept[0]; kept[0] = kept[1]; kept[1] = c; }
        for (uint i = 0; i < 2; i++) o[t * 2 + i] = kept[i];
    }"""
    device = Device(source, (32, 1, 1), floats(256) * 0, floats(256), np.array([3], np.uint32))
    tape = device.tape((0, 0, 0), threadgroups=(1, 1, 1))
    assert not any(e.lines[0] >> 41 == 2 for e in accesses(tape))
    expected = floats(256).reshape(32, 2, 4)[:, ::-1].reshape(-1)
    np.testing.assert_array_equal(device.buffers[0], expected)


def test_with_places_every_access_to_threadgroup_memory_says_where_it_is() -> None:
    source = """kernel void f(device float* o [[buffer(0)]], constant uint& at [[buffer(1)]],
                              uint i THREAD) {
        threadgroup float t[512];
        t[i + at] = o[i];
        simdgroup_barrier(mem_flags::mem_threadgroup);
        o[i] = t[2 * i + 128];
    }"""
    device = Device(source, (32, 1, 1), floats(64), np.array([64], np.uint32))
    found = [
        event
        for event in accesses(device.tape((0, 0, 0), threadgroups=(1, 1, 1), places=True))
        if not event.cached
    ]
    assert [(event.first_row, event.last_row) for event in found] == [(2, 2), (4, 5)]
    plain = [e for e in accesses(device.tape((0, 0, 0), threadgroups=(1, 1, 1))) if not e.cached]
    assert [(e.words, e.ways, e.bytes) for e in plain] == [
        (e.words, e.ways, e.bytes) for e in found
    ]
