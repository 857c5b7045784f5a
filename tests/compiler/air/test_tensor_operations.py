"""Metal 4's products of tensors, as compiled kernels call them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from assay.compiler.air import AirLibrary
from assay.compiler.msl.errors import CompileError
from assay.sim.simt import Memory, Program, UnsupportedKernel, dispatch
from tests.support.metallib import Buffer, kernel, library

PREFIX = "__tensorops_impl_matmul2d_op_"
F32 = 268435488
BUFFERS = tuple(Buffer(name=name, element="float") for name in "abc")
# A thread's row and column of a fragment of 16 x 16: what shipping kernels rely on (MLX, nax.h).
PLACE = """  %lane = call i32 @air.get_thread_index_in_simdgroup.i32()
  %hi = lshr i32 %lane, 2
  %r1 = and i32 %hi, 4
  %half = lshr i32 %lane, 1
  %r0 = and i32 %half, 3
  %row = or i32 %r1, %r0
  %q1 = and i32 %hi, 2
  %q0 = and i32 %lane, 1
  %q = or i32 %q1, %q0
  %column = shl i32 %q, 2
  %d = alloca { i32, i32, i32, i8, i8, i8, i32 }, align 4
"""
# The same in matrices of 8 x 8: what kernels for GPUs before M5 rely on (PyTorch, attention).
EARLY_PLACE = PLACE.replace("shl i32 %q, 2", "shl i32 %q, 1")


def product(
    sizes: tuple[int, int, int], left: bool, right: bool, accumulate: bool, *, early: bool = False
) -> str:
    """A kernel of one simdgroup that stores a * b, or c + a * b, in c."""
    m, n, k = sizes
    shapes = {0: (k, m) if left else (m, k), 1: (n, k) if right else (k, n), 2: (m, n)}
    parts = [m, n, k, int(left), int(right), 1, int(accumulate)]
    kinds = ["i32"] * 3 + ["i8"] * 3 + ["i32"]
    of = ", ".join(f"{kind} {part}" for kind, part in zip(kinds, parts, strict=True))
    types = ", ".join([f"i32 {F32}"] * 3)

    def lines() -> Iterator[str]:
        yield EARLY_PLACE if early else PLACE
        for at, (kind, part) in enumerate(zip(kinds, parts, strict=True)):
            pointed = f"getelementptr {{ i32, i32, i32, i8, i8, i8, i32 }}, ptr %d, i32 0, i32 {at}"
            yield f"  %d{at} = {pointed}\n  store {kind} {part}, ptr %d{at}\n"
        for which in shapes:
            size = f"call i64 @{PREFIX}cooperative_tensor_data_size(i32 {which}, {of}, {types}, "
            yield f"  %z{which} = {size}i32 32)\n  %t{which} = alloca i8, i64 %z{which}, align 4\n"
            yield f"  call void @{PREFIX}cooperative_tensor_init(i32 {which}, {of}, "
            yield f"ptr %t{which}, {types}, i32 32)\n"
            yield from moved(which, shapes[which], is_store=False)
        for which in shapes:
            yield f"  %x{which} = {element(which, 65535)}\n"
        yield f"  call void @{PREFIX}run_cooperative_f32_f32_f32(ptr %d, ptr %x0, ptr %x1, "
        yield "ptr %x2, i32 32)\n"
        yield from moved(2, shapes[2], is_store=True)

    def element(which: int, at: int) -> str:
        name = f"@{PREFIX}cooperative_tensor_get_element_pointer"
        return f"call ptr {name}(i32 {which}, {of}, ptr %t{which}, i16 {at}, {types})"

    def moved(which: int, shape: tuple[int, int], *, is_store: bool) -> Iterator[str]:
        is_turned = early and which == 1 and right  # in memory; here it is as the product takes it
        for at in range(shape[0] * shape[1] // 32):
            row, column = place(at, shape[0] if is_turned else shape[1])
            v = f"%{'s' if is_store else 'l'}{which}.{at}"
            yield f"  {v}r = add i32 %row, {row}\n  {v}c = add i32 %column, {column}\n"
            lines, rest = (f"{v}c", f"{v}r") if is_turned else (f"{v}r", f"{v}c")
            yield f"  {v}d = mul i32 {lines}, {shape[1]}\n  {v}i = add i32 {v}d, {rest}\n"
            yield f"  {v}p = getelementptr float, ptr addrspace(1) %b{which}, i32 {v}i\n"
            yield f"  {v}e = {element(which, at)}\n"
            places = (f"ptr {v}e", f"ptr addrspace(1) {v}p")
            source, target = places if is_store else places[::-1]
            yield f"  {v}v = load float, {source}\n  store float {v}v, {target}\n"

    def place(at: int, width: int) -> tuple[int, int]:
        if early:
            return at // 2 // (width // 8) * 8, at // 2 % (width // 8) * 8 + at % 2
        down, along = divmod(at // 8, width // 16)
        return 16 * down + 8 * (at % 8 // 4), 16 * along + at % 4

    described = f"i32, {', '.join(kinds)}"
    declared = (
        "declare i32 @air.get_thread_index_in_simdgroup.i32()\n"
        f"declare i64 @{PREFIX}cooperative_tensor_data_size({described}, i32, i32, i32, i32)\n"
        f"declare void @{PREFIX}cooperative_tensor_init({described}, ptr, i32, i32, i32, i32)\n"
        f"declare ptr @{PREFIX}cooperative_tensor_get_element_pointer"
        f"({described}, ptr, i16, i32, i32, i32)\n"
        f"declare void @{PREFIX}run_cooperative_f32_f32_f32(ptr, ptr, ptr, ptr, i32)"
    )
    return kernel("k", "".join(lines()), BUFFERS, declared=declared)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("sizes", "left", "right", "accumulate"),
    [
        ((16, 32, 16), False, False, True),
        ((16, 32, 16), False, True, True),
        ((16, 32, 16), True, False, False),
        ((16, 32, 16), True, True, True),
        ((16, 16, 32), False, True, True),
    ],
)
def test_a_simdgroup_multiplies_what_it_has_in_registers(
    sizes: tuple[int, int, int], left: bool, right: bool, accumulate: bool
) -> None:
    run_product(sizes, left, right, accumulate, product(sizes, left, right, accumulate))


@pytest.mark.parametrize(
    ("sizes", "right", "accumulate"),
    [
        ((16, 32, 16), False, True),
        ((16, 32, 16), True, True),
        ((16, 32, 16), True, False),
        ((32, 16, 32), False, True),
        ((32, 32, 32), True, False),
    ],
)
def test_elements_lie_in_registers_where_kernels_for_gpus_before_m5_look_for_them(
    sizes: tuple[int, int, int], right: bool, accumulate: bool
) -> None:
    text = product(sizes, False, right, accumulate, early=True)
    run_product(sizes, False, right, accumulate, text)


def test_places_that_no_known_kernel_has_are_refused() -> None:
    text = product(
        (16, 32, 16), True, False, False, early=True
    )  # a left operand that is transposed
    with pytest.raises(UnsupportedKernel, match="unknown_places_of_tensor"):
        program_of(text).specialise((32, 1, 1))
    text = product((16, 32, 16), False, False, False, early=True)
    text = text.replace("run_cooperative_f32_f32_f32", "run_cooperative_dv_f32_f32_f32")
    with pytest.raises(CompileError, match=r"_dv_f32_f32_f32.* GPUs before M5"):
        program_of(text)


def run_product(
    sizes: tuple[int, int, int], left: bool, right: bool, accumulate: bool, text: str
) -> None:
    m, n, k = sizes
    random = np.random.default_rng(1)
    a, b, c = (
        random.integers(-9, 9, shape).astype(np.float32) for shape in ((m, k), (k, n), (m, n))
    )
    given = [np.ascontiguousarray(x) for x in (a.T if left else a, b.T if right else b, c.copy())]
    program = program_of(text)
    memory = Memory()
    addresses = [memory.register(x.reshape(-1).view(np.uint8), name="x") for x in given]
    dispatch(program.specialise((32, 1, 1)), memory, addresses, threads=(32, 1, 1))
    np.testing.assert_array_equal(given[2], a @ b + (c if accumulate else 0))


def program_of(text: str) -> Program:
    return AirLibrary(library({"k": text}), "k.metallib").function("k").program()


def in_memory(
    extents: tuple[int, int, int], left: bool, right: bool, start: int, simdgroups: int
) -> str:
    """A kernel that stores the product of two tensors in memory, from row `start` of c on."""
    m, n, k = extents
    shapes = {0: (k, m) if left else (m, k), 1: (n, k) if right else (k, n), 2: (m, n)}
    threads = 32 * simdgroups
    of = f"i32 32, i32 64, i32 -1, i8 {int(left)}, i8 {int(right)}, i8 0, i32 0"
    types = ", ".join([f"i32 {F32}"] * 3)

    def lines() -> Iterator[str]:
        parts = [32, 64, -1, int(left), int(right), 0, 0]
        kinds = ["i32"] * 3 + ["i8"] * 3 + ["i32"]
        layout = "{ i32, i32, i32, i8, i8, i8, i32 }"
        yield f"  %d = alloca {layout}, align 4\n"
        for at, (kind, part) in enumerate(zip(kinds, parts, strict=True)):
            yield f"  %d{at} = getelementptr {layout}, ptr %d, i32 0, i32 {at}\n"
            yield f"  store {kind} {part}, ptr %d{at}\n"
        yield "  %z16 = call i16 @air.get_descriptor_size_tensor(i16 2, i16 4)\n"
        yield "  %z = zext i16 %z16 to i64\n"
        for which, (rows, columns) in shapes.items():
            yield f"  %t{which} = alloca i8, i64 %z, align 8\n"
            yield from pair(f"e{which}", columns, rows)
            yield from pair(f"s{which}", 1, columns)
            yield "  call void @air.init_strided_private_tensor.i32.global("
            yield f"ptr %t{which}, i16 2, ptr addrspace(1) %b{which}, "
            yield f"ptr %e{which}, ptr %s{which}, i8 0)\n"
        yield "  %v = alloca i8, i64 %z, align 8\n"
        yield "  %left = call i32 @air.get_extent_private_tensor.i32(ptr %t2, i16 2, i16 1)\n"
        yield f"  %rest = sub i32 %left, {start}\n"
        yield from pair("o", 0, start)
        yield from pair("w", n, "%rest")
        yield "  call void @air.slice_private_tensor_private_tensor.s.i32"
        yield "(ptr %v, ptr %t2, i16 2, ptr %o, ptr %w)\n"
        size = f"call i64 @{PREFIX}cooperative_tensor_data_size(i32 2, {of}, {types}, "
        yield f"  %zc = {size}i32 {threads})\n  %c = alloca i8, i64 %zc, align 4\n"
        yield f"  call void @{PREFIX}run_cooperative_dv_f32_dv_f32_f32(ptr %d, ptr %t0, i32 2, "
        yield f"ptr %t1, i32 2, ptr %c, i32 {threads})\n"
        yield f"  call void @{PREFIX}cooperative_tensor_store_dv_f32(i32 2, {of}, ptr %c, "
        yield f"ptr %v, i32 2, {types}, i32 {threads})\n"

    def pair(name: str, first: int | str, second: int | str) -> Iterator[str]:
        yield f"  %{name} = alloca [2 x i32], align 4\n  store i32 {first}, ptr %{name}\n"
        yield f"  %{name}.1 = getelementptr i32, ptr %{name}, i32 1\n"
        yield f"  store i32 {second}, ptr %{name}.1\n"

    described = "i32, i32, i32, i32, i8, i8, i8, i32"
    declared = (
        "declare i16 @air.get_descriptor_size_tensor(i16, i16)\n"
        "declare void @air.init_strided_private_tensor.i32.global"
        "(ptr, i16, ptr addrspace(1), ptr, ptr, i8)\n"
        "declare i32 @air.get_extent_private_tensor.i32(ptr, i16, i16)\n"
        "declare void @air.slice_private_tensor_private_tensor.s.i32(ptr, ptr, i16, ptr, ptr)\n"
        f"declare i64 @{PREFIX}cooperative_tensor_data_size({described}, i32, i32, i32, i32)\n"
        f"declare void @{PREFIX}run_cooperative_dv_f32_dv_f32_f32"
        "(ptr, ptr, i32, ptr, i32, ptr, i32)\n"
        f"declare void @{PREFIX}cooperative_tensor_store_dv_f32"
        f"({described}, ptr, ptr, i32, i32, i32, i32, i32)"
    )
    return kernel("k", "".join(lines()), BUFFERS, declared=declared)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("left", "right", "start", "simdgroups"),
    [(False, False, 0, 1), (False, True, 0, 2), (True, False, 3, 2), (True, True, 9, 4)],
)
def test_tensors_in_memory_are_multiplied_and_stored_as_far_as_they_reach(
    left: bool, right: bool, start: int, simdgroups: int
) -> None:
    m, n, k = 21, 50, 33
    random = np.random.default_rng(2)
    a, b = (random.integers(-9, 9, shape).astype(np.float32) for shape in ((m, k), (k, n)))
    c = np.full((m, n), -1, np.float32)
    given = [np.ascontiguousarray(x) for x in (a.T if left else a, b.T if right else b, c)]
    text = in_memory((m, n, k), left, right, start, simdgroups)
    program = AirLibrary(library({"k": text}), "k.metallib").function("k").program()
    memory = Memory()
    addresses = [memory.register(x.reshape(-1).view(np.uint8), name="x") for x in given]
    size = (32 * simdgroups, 1, 1)
    dispatch(program.specialise(size), memory, addresses, threads=size)
    np.testing.assert_array_equal(given[2][:start], -1)
    np.testing.assert_array_equal(given[2][start:], (a @ b)[: m - start])


def convolution(
    channels: int, size: int, kernel_size: int, stride: int, first: int, result: int
) -> str:
    """A kernel of one simdgroup that stores 16 channels of `result` x `result` pixels."""
    four = f"16, i32 {result}, i32 {result}, i32 1"
    layout = "{ [4 x i32], [4 x i32], [2 x i32], i32, i32, [2 x i32], [2 x i32], i32, i8, i32 }"
    declared = f"""@c = internal constant {layout} {{ [4 x i32] [i32 {four}],
  [4 x i32] [i32 {channels}, i32 16384, i32 16384, i32 1],
  [2 x i32] [i32 {kernel_size}, i32 {kernel_size}], i32 0, i32 0,
  [2 x i32] [i32 {stride}, i32 {stride}], [2 x i32] [i32 1, i32 1], i32 1, i8 0, i32 0 }}
declare i16 @air.get_descriptor_size_tensor(i16, i16)
declare void @air.init_strided_private_tensor.i32.global(ptr, i16, ptr addrspace(1), ptr, ptr, i8)
"""
    of = "__tensorops_impl_conv2d_cooperative_destination_"
    types = ", ".join([f"i32 {F32}"] * 3)
    declared += f"""declare i64 @{of}data_size(ptr, i32, i32, i32, i32)
declare i16 @{of}tensor_num_elements(ptr, ptr, i32, i32, i32, i32)
declare ptr @{of}tensor_elements(ptr, i16, i32, i32)
declare void @{of}tensor_get_coordinate(ptr, ptr, i16, i32, ptr, i32, i32, i32, i32, i32)
declare void @__tensorops_impl_convolution2d_op_run_cooperative_dv_f32_dv_f32_f32(ptr, ptr, i32,
  ptr, i32, ptr, i32, ptr)"""

    def lines() -> Iterator[str]:
        yield "  %z16 = call i16 @air.get_descriptor_size_tensor(i16 4, i16 4)\n"
        yield "  %z = zext i16 %z16 to i64\n"
        shapes = ((channels, size, size, 1), (16, channels, kernel_size, kernel_size))
        for which, shape in enumerate(shapes):
            yield f"  %t{which} = alloca i8, i64 %z, align 8\n"
            strides = [1, shape[0], shape[0] * shape[1], shape[0] * shape[1] * shape[2]]
            for name, values in (("e", shape), ("s", strides)):
                yield f"  %{name}{which} = alloca [4 x i32], align 4\n"
                for at, value in enumerate(values):
                    place = f"%{name}{which}.{at}"
                    yield f"  {place} = getelementptr i32, ptr %{name}{which}, i32 {at}\n"
                    yield f"  store i32 {value}, ptr {place}\n"
            yield f"  call void @air.init_strided_private_tensor.i32.global(ptr %t{which}, i16 4, "
            yield f"ptr addrspace(1) %b{which}, ptr %e{which}, ptr %s{which}, i8 0)\n"
        yield f"  %zc = call i64 @{of}data_size(ptr @c, {types}, i32 32)\n"
        yield "  %t = alloca i8, i64 %zc, align 4\n  %o = alloca [2 x i32], align 8\n"
        yield f"  store i32 {first}, ptr %o\n  %o1 = getelementptr i32, ptr %o, i32 1\n"
        yield f"  store i32 {first}, ptr %o1\n"
        yield "  call void @__tensorops_impl_convolution2d_op_run_cooperative_dv_f32_dv_f32_f32("
        yield "ptr @c, ptr %t0, i32 2, ptr %t1, i32 2, ptr %t, i32 32, ptr %o)\n"
        yield "  %at = alloca [4 x i32], align 4\n"
        for number in range(8):
            v = f"%v{number}"
            yield f"  call void @{of}tensor_get_coordinate(ptr @c, ptr %t, i16 {number}, "
            yield f"i32 {F32}, ptr %at, i32 536870944, {types}, i32 32)\n"
            for part in range(3):
                yield f"  {v}p{part} = getelementptr i32, ptr %at, i32 {part}\n"
                yield f"  {v}c{part} = load i32, ptr {v}p{part}\n"
            yield f"  {v}h = mul i32 {v}c2, {result}\n  {v}w = add i32 {v}h, {v}c1\n"
            yield f"  {v}r = mul i32 {v}w, 16\n  {v}i = add i32 {v}r, {v}c0\n"
            yield f"  {v}e = call ptr @{of}tensor_elements(ptr %t, i16 {number}, "
            yield f"i32 {F32}, i32 32)\n"
            yield f"  {v} = load float, ptr {v}e\n"
            yield f"  {v}t = getelementptr float, ptr addrspace(1) %b2, i32 {v}i\n"
            yield f"  store float {v}, ptr addrspace(1) {v}t\n"

    return kernel("k", "".join(lines()), BUFFERS, declared=declared)


@pytest.mark.parametrize(("kernel_size", "stride", "padding"), [(3, 1, 1), (2, 2, 0), (1, 1, 0)])
def test_tensors_in_memory_are_convolved(kernel_size: int, stride: int, padding: int) -> None:
    channels, size, result = 5, 9, 4
    random = np.random.default_rng(4)
    x = random.integers(-5, 6, (size, size, channels)).astype(np.float32)
    w = random.integers(-5, 6, (kernel_size, kernel_size, channels, 16)).astype(np.float32)
    out = np.zeros((result, result, 16), np.float32)
    text = convolution(channels, size, kernel_size, stride, kernel_size // 2 - padding, result)
    program = AirLibrary(library({"k": text}), "k.metallib").function("k").program()
    memory = Memory()
    given = [memory.register(a.reshape(-1).view(np.uint8), name="x") for a in (x, w, out)]
    dispatch(program.specialise((32, 1, 1)), memory, given, threads=(32, 1, 1))
    padded = np.pad(x, ((padding, 9), (padding, 9), (0, 0)))
    for row, column in np.ndindex(result, result):
        window = padded[row * stride :, column * stride :][:kernel_size, :kernel_size]
        np.testing.assert_array_equal(out[row, column], np.einsum("yxc,yxco->o", window, w))
