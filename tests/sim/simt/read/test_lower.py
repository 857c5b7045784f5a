"""Kernels from clang, lowered and run on the reference engine: what C++ means is what comes out."""

from __future__ import annotations

import numpy as np
import pytest

from assay.sim.simt.ir.faults import KernelFault, UnsupportedKernel
from tests.support.kernels import ENGINES, Runner, assemble, compile_cpp

_LANES = np.arange(32)


@pytest.fixture(params=sorted(ENGINES))
def run(request: pytest.FixtureRequest) -> Runner:
    return ENGINES[request.param]


def test_a_kernel_computes_by_thread_position(run: Runner) -> None:
    kernel = compile_cpp("KERNEL(DEVICE int* out) { out[thread_x()] = thread_x() * 3; }", "out")
    (out,) = run(kernel, [np.zeros(64, np.int32)], threadgroups=(2, 1, 1))
    assert (out == np.arange(64) * 3).all()


def test_vectors_are_split_into_their_elements(run: Runner) -> None:
    kernel = compile_cpp(
        """KERNEL(DEVICE float4* a, DEVICE float4* out) {
            float4 v = a[thread_x()];
            float4 w = v.wzyx * 2.0f + float4{1, 2, 3, 4};
            w[thread_x() & 3] = -1;
            out[thread_x()] = w;
        }""",
        "a out",
    )
    a = np.arange(128, dtype=np.float32).reshape(32, 4)
    _, out = run(kernel, [a, np.zeros_like(a)])
    expected = a[:, ::-1] * 2 + np.array([1, 2, 3, 4], np.float32)
    expected[_LANES, _LANES & 3] = -1
    assert (out == expected).all()


def test_structures_are_read_and_written_field_by_field(run: Runner) -> None:
    kernel = compile_cpp(
        """struct Item { uchar tag; float value; short pair[2]; long big; };
        KERNEL(DEVICE Item* items) {
            Item item = items[thread_x()];
            item.value *= 2;
            item.pair[1] = item.pair[0] + item.tag;
            item.big -= 1;
            items[thread_x()] = item;
        }""",
        "items",
    )
    layout = np.dtype(
        {
            "names": ["tag", "value", "pair", "big"],
            "formats": ["u1", "f4", "2i2", "i8"],
            "offsets": [0, 4, 8, 16],
            "itemsize": 24,
        }
    )
    items = np.zeros(32, layout)
    items["tag"], items["value"], items["pair"][:, 0] = _LANES, _LANES / 4, -_LANES
    (out,) = run(kernel, [items])
    assert (out["value"] == items["value"] * 2).all()
    assert (out["pair"][:, 1] == 0).all()
    assert (out["big"] == -1).all()


def test_integers_of_odd_sizes_touch_only_their_bytes(run: Runner) -> None:
    kernel = assemble(
        """define void @kernel_entry(ptr addrspace(1) %in, ptr addrspace(1) %out) {
          %three = load i24, ptr addrspace(1) %in, align 1
          %at5 = getelementptr i8, ptr addrspace(1) %in, i64 5
          %seven = load i56, ptr addrspace(1) %at5, align 1
          %to3 = getelementptr i8, ptr addrspace(1) %out, i64 3
          %sum = add i24 %three, 1
          store i24 %sum, ptr addrspace(1) %to3, align 1
          %to8 = getelementptr i8, ptr addrspace(1) %out, i64 8
          %turned = xor i56 %seven, -1
          store i56 %turned, ptr addrspace(1) %to8, align 8
          ret void
        }""",
        "in out",
    )
    data = np.arange(250, 250 + 12).astype(np.uint8)
    _, out = run(kernel, [data, np.full(16, 99, np.uint8)], threadgroup_size=(1, 1, 1))
    three = int.from_bytes(data[:3].tobytes(), "little") + 1
    expected = np.full(16, 99, np.uint8)
    expected[3:6] = np.frombuffer((three & 0xFFFFFF).to_bytes(3, "little"), np.uint8)
    expected[8:15] = ~data[5:12]
    assert (out == expected).all()


def test_a_switch_with_shared_and_missing_cases(run: Runner) -> None:
    kernel = compile_cpp(
        """KERNEL(DEVICE int* out) {
            int x = thread_x(), y;
            switch (x % 7) {
                case 0: y = x * x; break;
                case 1: case 4: y = -x; break;
                case 2: y = x << 3; // falls through
                case 5: y = (x % 7 == 2 ? y : 0) + 100; break;
                default: y = 7777;
            }
            out[x] = y;
        }""",
        "out",
    )
    (out,) = run(kernel, [np.zeros(32, np.int32)])
    x = _LANES
    expected = np.select(
        [x % 7 == 0, (x % 7 == 1) | (x % 7 == 4), x % 7 == 2, x % 7 == 5],
        [x * x, -x, (x << 3) + 100, np.full(32, 100)],
        7777,
    )
    assert (out == expected).all()


def test_a_constant_table_is_looked_up(run: Runner) -> None:
    kernel = compile_cpp(
        """static constexpr CONSTANT float table[5] = {1.5f, -2.25f, 3, 1e-3f, 5};
        KERNEL(DEVICE float* out) { out[thread_x()] = table[thread_x() % 5]; }""",
        "out",
    )
    (out,) = run(kernel, [np.zeros(32, np.float32)])
    assert (out == np.array([1.5, -2.25, 3, 1e-3, 5], np.float32)[_LANES % 5]).all()


def test_a_constant_table_of_bytes_may_hold_any_of_them(run: Runner) -> None:
    table = np.arange(256).reshape(4, 64)
    rows = ",".join("{" + ",".join(map(str, row)) + "}" for row in table)
    kernel = compile_cpp(
        f"""static const uchar table[4][64] = {{{rows}}};
        KERNEL(DEVICE uchar* out) {{
            uint i = thread_x();
            out[i] = table[i & 3][i >> 2];
        }}""",
        "out",
    )
    (out,) = run(kernel, [np.zeros(256, np.uint8)], threads=(256, 1, 1))
    assert (out == table.T.reshape(-1)).all()


def test_private_arrays_are_indexed_by_lane(run: Runner) -> None:
    kernel = compile_cpp(
        """KERNEL(DEVICE int* out) {
            int stack[16];
            for (int i = 0; i < 16; i++) stack[(i * 5 + thread_x()) & 15] = i;
            int sum = 0;
            for (uint i = 0; i < 16; i += 1 + (thread_x() & 1)) sum = sum * 3 + stack[i];
            out[thread_x()] = sum;
        }""",
        "out",
    )
    (out,) = run(kernel, [np.zeros(32, np.int32)])
    expected = []
    for x in range(32):
        stack = {(i * 5 + x) & 15: i for i in range(16)}
        total = 0
        for i in range(0, 16, 1 + (x & 1)):
            total = (total * 3 + stack[i]) & 0xFFFFFFFF
        expected.append(total)
    assert (out.view(np.uint32) == expected).all()


def test_memory_is_copied_and_filled_by_builtins(run: Runner) -> None:
    kernel = compile_cpp(
        """struct Block { uchar bytes[37]; };
        KERNEL(DEVICE Block* in, DEVICE Block* out) {
            Block block;
            __builtin_memset(&block, 0x5A, 37);
            __builtin_memcpy(&block, &in[thread_x()], 30);
            out[thread_x()] = block;
        }""",
        "in out",
    )
    data = np.random.default_rng(1).integers(0, 256, (32, 37), np.uint8)
    _, out = run(kernel, [data, np.zeros_like(data)])
    assert (out[:, :30] == data[:, :30]).all()
    assert (out[:, 30:] == 0x5A).all()


def test_private_memory_is_copied_and_filled_at_any_alignment(run: Runner) -> None:
    kernel = compile_cpp(
        """struct Part { uchar bytes[16]; };
        struct Whole { uchar head[2]; Part parts[2]; uchar tail[2]; };
        KERNEL(DEVICE const Part* in, DEVICE uchar* out, DEVICE const int* which) {
            uint i = thread_x();
            Whole whole;
            __builtin_memset(whole.head, 7, 2);
            __builtin_memset(whole.tail, 9, 2);
            whole.parts[which[i] & 1] = in[i];
            __builtin_memset(&whole.parts[~which[i] & 1], i, 16);
            for (int k = 0; k < 36; ++k) {
                out[36 * i + k] = ((uchar*)&whole)[(k + which[i]) % 36];
            }
        }""",
        "in out which",
    )
    rng = np.random.default_rng(1)
    data, which = rng.integers(0, 256, (32, 16), np.uint8), rng.integers(0, 36, 32)
    _, out, _ = run(kernel, [data, np.zeros((32, 36), np.uint8), which.astype(np.int32)])
    for i, shift in enumerate(which):
        fill = np.full(16, i, np.uint8)
        parts = (fill, data[i]) if shift & 1 else (data[i], fill)
        whole = np.concatenate([[7, 7], *parts, [9, 9]])
        assert (out[i] == np.roll(whole, -shift)).all()


def test_bits_are_reinterpreted_between_scalars_and_vectors(run: Runner) -> None:
    kernel = compile_cpp(
        """typedef ushort ushort4 __attribute__((ext_vector_type(4)));
        KERNEL(DEVICE ulong* in, DEVICE ushort4* out, DEVICE float* number) {
            ulong word = in[thread_x()];
            out[thread_x()] = __builtin_bit_cast(ushort4, word).wzyx;
            number[thread_x()] = __builtin_bit_cast(float, (uint)word);
        }""",
        "in out number",
    )
    words = np.random.default_rng(2).integers(0, 2**62, 32, np.uint64)
    words &= np.uint64(0xFFFFFFFF_7F7FFFFF)  # no NaN in the lower half
    _, out, number = run(kernel, [words, np.zeros((32, 4), np.uint16), np.zeros(32, np.float32)])
    assert (out == words.view(np.uint16).reshape(32, 4)[:, ::-1]).all()
    assert (number.view(np.uint32) == (words & np.uint64(0xFFFFFFFF))).all()


def test_a_pointer_is_chosen_between_two_buffers(run: Runner) -> None:
    kernel = compile_cpp(
        """KERNEL(DEVICE int* a, DEVICE int* b, DEVICE int* out) {
            DEVICE int* p = thread_x() & 1 ? a : b + 4;
            for (uint i = 0; i < thread_x() % 3; i++) p = p == a ? b : p + 1;
            out[thread_x()] = *p;
        }""",
        "a b out",
    )
    a, b = np.arange(8, dtype=np.int32), np.arange(100, 108, dtype=np.int32)
    *_, out = run(kernel, [a, b, np.zeros(32, np.int32)])
    expected = []
    for x in range(32):
        place = (0, 0) if x & 1 else (1, 4)
        for _ in range(x % 3):
            place = (1, 0) if place == (0, 0) else (place[0], place[1] + 1)
        expected.append((a, b)[place[0]][place[1]])
    assert (out == expected).all()


def test_a_pointer_is_chosen_between_private_threadgroup_and_device_memory(run: Runner) -> None:
    kernel = compile_cpp(
        """KERNEL(DEVICE int* a, DEVICE int* out, THREADGROUP int* shared) {
            static THREADGROUP int mine[32];
            int own[2] = {(int)thread_x(), -(int)thread_x()};
            mine[thread_x()] = 500 + thread_x();
            shared[thread_x()] = 900 + thread_x();
            barrier();
            THREADGROUP int* local = thread_x() & 4 ? mine : shared;
            uint which = thread_x() % 3;
            int* p = which == 0 ? own + 1 : which == 1 ? (int*)(local + 2) : (int*)a;
            out[thread_x()] = *p;
        }""",
        "a out shared:threadgroup",
    )
    _, out = run(kernel, [np.full(1, 42, np.int32), np.zeros(32, np.int32), 128])
    x = _LANES
    expected = np.select([x % 3 == 0, x % 3 == 1], [-x, np.where(x & 4, 502, 902)], 42)
    assert (out == expected).all()


def test_pointers_are_loaded_from_an_argument_buffer(run: Runner) -> None:
    kernel = compile_cpp(
        """struct Arguments { DEVICE int* in; DEVICE int* out; };
        KERNEL(CONSTANT const Arguments& arguments, DEVICE int* a, DEVICE int* b) {
            arguments.out[thread_x()] = arguments.in[thread_x()] + 1;
        }""",
        "arguments a b",
    )
    arguments = np.array([17 << 48, (18 << 48) + 8], np.uint64)  # the second and third buffer
    _, _, b = run(kernel, [arguments, np.arange(32, dtype=np.int32), np.zeros(34, np.int32)])
    assert (b[2:] == np.arange(32) + 1).all()


def test_narrow_and_wide_integers_wrap(run: Runner) -> None:
    kernel = compile_cpp(
        """KERNEL(DEVICE signed char* a, DEVICE ulong* out) {
            signed char x = a[thread_x()];
            x = x * 3 + 100;
            ulong wide = (ulong)(long)x * 0x9E3779B97F4A7C15ul;
            out[thread_x()] = wide >> 7 ^ (ulong)((uchar)x) << 56;
        }""",
        "a out",
    )
    a = np.arange(-16, 16, dtype=np.int8)
    _, out = run(kernel, [a, np.zeros(32, np.uint64)])
    with np.errstate(over="ignore"):
        x = (a.astype(np.int16) * 3 + 100).astype(np.int8)
        wide = x.astype(np.int64).view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    expected = wide >> np.uint64(7) ^ x.view(np.uint8).astype(np.uint64) << np.uint64(56)
    assert (out == expected).all()


def test_products_are_fused_into_sums(run: Runner) -> None:
    kernel = compile_cpp(
        """KERNEL(DEVICE float* a, DEVICE float* out) {
            float x = a[thread_x()];
            out[thread_x()] = x * x - 1.0f;
        }""",
        "a out",
    )
    a = (1 + _LANES.astype(np.float32) * np.float32(2**-20)).astype(np.float32)
    _, out = run(kernel, [a, np.zeros_like(a)])
    exact = (a.astype(np.float64) ** 2 - 1).astype(np.float32)
    assert (out == exact).all()
    assert (out != a * a - np.float32(1)).any()


def test_an_irreducible_graph_runs(run: Runner) -> None:
    kernel = assemble(
        """
        declare i32 @__assay_thread_position_in_grid(i32)
        define void @kernel_entry(ptr addrspace(1) %out) {
        entry:
          %x = call i32 @__assay_thread_position_in_grid(i32 0)
          %odd = trunc i32 %x to i1
          br i1 %odd, label %left, label %right
        left:
          %l = phi i32 [ 0, %entry ], [ %r1, %right ]
          %l1 = add i32 %l, 3
          %stop = icmp ugt i32 %l1, %x
          br i1 %stop, label %done, label %right
        right:
          %r = phi i32 [ 100, %entry ], [ %l1, %left ]
          %r1 = mul i32 %r, 2
          %enough = icmp ugt i32 %r1, 150
          br i1 %enough, label %done, label %left
        done:
          %result = phi i32 [ %l1, %left ], [ %r1, %right ]
          %at = zext i32 %x to i64
          %p = getelementptr i32, ptr addrspace(1) %out, i64 %at
          store i32 %result, ptr addrspace(1) %p, align 4
          ret void
        }""",
        "out",
    )
    (out,) = run(kernel, [np.zeros(64, np.int32)], threadgroups=(2, 1, 1))

    def walk(x: int) -> int:
        left, value = bool(x & 1), 0 if x & 1 else 100
        while True:
            value = value + 3 if left else value * 2
            if value > (x if left else 150):
                return value
            left = not left

    assert list(out) == [walk(x) for x in range(64)]


def test_division_by_zero_gives_zero_and_leaves_the_dividend(run: Runner) -> None:
    kernel = compile_cpp(
        """KERNEL(DEVICE int* a, DEVICE int* b, DEVICE int* out) {
            uint x = thread_x();
            out[2 * x] = a[x] / b[x];
            out[2 * x + 1] = a[x] % b[x];
        }""",
        "a b out",
    )
    a = np.array([7, -7, -(2**31), 5], np.int32)
    b = np.array([2, 2, -1, 0], np.int32)
    *_, out = run(kernel, [a, b, np.zeros(8, np.int32)], threadgroup_size=(4, 1, 1))
    assert list(out) == [3, 1, -3, -1, -(2**31), 0, 0, 5]


def test_a_store_past_the_end_names_line_buffer_offset_and_thread(run: Runner) -> None:
    kernel = compile_cpp(
        """static void put(DEVICE int* p, int value) {
            *p = value;
        }
        KERNEL(DEVICE int* out) {
            put(out + thread_x(), 1);
        }""",
        "out",
    )
    with pytest.raises(KernelFault) as caught:
        run(kernel, [np.zeros(20, np.int32)])
    fault = caught.value
    assert (fault.kind, fault.buffer) == ("out-of-bounds write", "out")
    assert (fault.offset, fault.size, fault.length) == (80, 4, 80)
    assert fault.thread_position_in_grid == (20, 0, 0)
    assert (fault.site.file, fault.site.line) == ("kernel.metal", 2)
    assert [outer.line for outer in fault.site.inlined] == [5]


def test_an_endless_loop_runs_out_of_fuel(run: Runner) -> None:
    kernel = compile_cpp(
        """KERNEL(DEVICE volatile int* a) {
            while (a[0] == 0) { a[1] = a[1] + 1; }
        }""",
        "a",
    )
    with pytest.raises(KernelFault, match="fuel"):
        run(kernel, [np.zeros(2, np.int32)], fuel=1000)


def test_a_missing_function_is_refused_with_its_line(run: Runner) -> None:
    kernel = compile_cpp(
        """extern "C" int elsewhere(int);
        KERNEL(DEVICE int* a) {
            a[0] = elsewhere(3);
        }""",
        "a",
    )
    with pytest.raises(UnsupportedKernel, match=r"kernel\.metal:3.*calls 'elsewhere'"):
        run(kernel, [np.zeros(2, np.int32)])


def test_writing_a_constant_table_is_refused(run: Runner) -> None:
    kernel = assemble(
        """
        @table = internal addrspace(6) constant [2 x i32] [i32 1, i32 2]
        define void @kernel_entry(ptr addrspace(1) %out) {
          store volatile i32 5, ptr addrspace(6) @table, align 4
          ret void
        }""",
        "out",
    )
    with pytest.raises(UnsupportedKernel, match="writes to the constant 'table'"):
        run(kernel, [np.zeros(2, np.int32)])
