"""Tensors that the host binds, in the form in which Apple's compiler passes them."""

from __future__ import annotations

import numpy as np
import pytest

from assay.compiler.air import AirFormatError, AirLibrary
from assay.hal.metal.emulated import MTLComputePipelineState, MTLDevice, MTLLibrary
from assay.sim.simt import UnsupportedKernel
from tests.support.metallib import library
from tests.support.tensors import Bound, array_of, encoded, run, tensor_of

SLICE = "{ [2 x i32], ptr addrspace(1) }"
DESCRIPTOR = "{ i32, i32, i32, i8, i8, i8, i32 }"
ALL = "i32 32, i32 16, i32 -1, i8 0, i8 0, i8 0, i32 0"
PREFIX = "__tensorops_impl_matmul2d_op_"
F16, F32 = 268435472, 268435488


def module(body: str, types: tuple[str, ...], declared: str, position: str) -> str:
    """A kernel `k` of these tensors and a position."""
    taken = ", ".join(f"ptr addrspace(1) %b{at}" for at in range(len(types)))
    kind = "<2 x i32>" if position == "threadgroup_position_in_grid" else "i32"
    nodes = [
        f'!{10 + at} = !{{i32 {at}, !"air.tensor", !"air.location_index", i32 {at}, i32 1, '
        f'!"air.read_write", !"air.address_space", i32 1, !"air.arg_type_name", !"{each}", '
        f'!"air.arg_name", !"{"ABC"[at]}"}}'
        for at, each in enumerate(types)
    ]
    last = len(types)
    nodes.append(
        f'!{10 + last} = !{{i32 {last}, !"air.{position}", !"air.arg_type_name", !"uint", '
        '!"air.arg_name", !"at"}'
    )
    listed = ", ".join(f"!{10 + at}" for at in range(last + 1))
    return "\n".join(
        [
            'target triple = "air64_v28-apple-macosx26.0.0"',
            declared,
            f'define void @k({taken}, {kind} %at) "no-builtins" {{\n{body}\n  ret void\n}}',
            "!air.kernel = !{!1}\n!1 = !{ptr @k, !2, !3}\n!2 = !{}",
            f"!3 = !{{{listed}}}",
            *nodes,
        ]
    )


def slices() -> str:
    """Where tiles of A, B and C begin, and the descriptor of a product of 32 x 16."""
    lines = [
        "  %x = extractelement <2 x i32> %at, i64 0",
        "  %y = extractelement <2 x i32> %at, i64 1",
        "  %column = shl i32 %x, 4",
        "  %row = shl i32 %y, 5",
        f"  %d = alloca {DESCRIPTOR}, align 4",
    ]
    for at, part in enumerate(ALL.split(", ")):
        lines.append(f"  %d{at} = getelementptr {DESCRIPTOR}, ptr %d, i64 0, i32 {at}")
        lines.append(f"  store {part}, ptr %d{at}")
    for at, (first, second) in enumerate((("0", "%row"), ("%column", "0"), ("%column", "%row"))):
        lines += [
            f"  %s{at} = alloca {SLICE}, align 8",
            f"  store i32 {first}, ptr %s{at}",
            f"  %f{at} = getelementptr {SLICE}, ptr %s{at}, i64 0, i32 0, i64 1",
            f"  store i32 {second}, ptr %f{at}",
            f"  %t{at} = getelementptr {SLICE}, ptr %s{at}, i64 0, i32 1",
            f"  store ptr addrspace(1) %b{at}, ptr %t{at}",
        ]
    return "\n".join(lines)


def to_memory() -> str:
    operands = ", ".join(f"ptr %s{at}, i32 1" for at in range(3))
    name = f"@{PREFIX}run_dv_f16_dv_f16_dv_f32"
    return module(
        f"{slices()}\n  call void {name}(ptr %d, {operands}, i32 64)",
        ("tensor<half, dextents<int, 2>>",) * 2 + ("tensor<float, dextents<int, 2>>",),
        f"declare void {name}(ptr, ptr, i32, ptr, i32, ptr, i32, i32)",
        "threadgroup_position_in_grid",
    )


def through_registers() -> str:
    of, types = f"i32 2, {ALL}", f"i32 {F16}, i32 {F16}, i32 {F32}"
    name = f"{PREFIX}cooperative_tensor"
    body = f"""{slices()}
  %z = call i64 @{name}_data_size({of}, {types}, i32 64)
  %sums = alloca i8, i64 %z, align 4
  %first = call ptr @{name}_get_element_pointer({of}, ptr %sums, i16 -1, {types})
  call void @{PREFIX}run_cooperative_dv_f16_dv_f16_f32(ptr %d, ptr %s0, i32 1, ptr %s1, i32 1,
    ptr %first, i32 64)
  call void @{name}_store_dv_f32({of}, ptr %sums, ptr %s2, i32 1, {types}, i32 64)"""
    described = "i32, i32, i32, i32, i8, i8, i8, i32"
    declared = f"""declare i64 @{name}_data_size({described}, i32, i32, i32, i32)
declare ptr @{name}_get_element_pointer({described}, ptr, i16, i32, i32, i32)
declare void @{PREFIX}run_cooperative_dv_f16_dv_f16_f32(ptr, ptr, i32, ptr, i32, ptr, i32)
declare void @{name}_store_dv_f32({described}, ptr, ptr, i32, i32, i32, i32, i32)"""
    halves = ("tensor<half, dextents<int, 2>>",) * 2
    return module(
        body,
        (*halves, "tensor<float, dextents<int, 2>>"),
        declared,
        "threadgroup_position_in_grid",
    )


def pipeline(device: MTLDevice, text: str) -> MTLComputePipelineState:
    made = MTLLibrary(device, AirLibrary(library({"k": text}), "k.metallib"))
    function = made.newFunctionWithName_("k")
    assert function is not None
    kernel, error = device.newComputePipelineStateWithFunction_error_(function, None)
    assert kernel is not None, error
    return kernel


@pytest.mark.parametrize("text", [to_memory(), through_registers()], ids=["memory", "registers"])
def test_slices_of_bound_tensors_are_multiplied_up_to_their_edges(text: str) -> None:
    device = MTLDevice()
    random = np.random.default_rng(2)
    a = random.integers(-4, 5, (41, 27)).astype("float16")
    b = random.integers(-4, 5, (27, 21)).astype("float16")
    c = np.full((41, 21), 7, np.float32)
    tensors = {at: tensor_of(device, each) for at, each in enumerate((a, b, c))}
    bound: Bound = {**tensors}
    assert not run(device, encoded(device, pipeline(device, text), bound, (2, 2, 1), (64, 1, 1)))
    expected = a.astype(np.float32) @ b.astype(np.float32)
    np.testing.assert_array_equal(array_of(tensors[2], c), expected)


POINTER = "air.get_data_pointer_typed_global_tensor.s.i32.global"


def test_elements_strides_and_extents_of_bound_tensors_are_the_hosts() -> None:
    device = MTLDevice()
    x, y = np.arange(24, dtype=np.float32).reshape(4, 6), np.zeros((4, 6), np.float32)
    text = module(
        f"""  %column = urem i32 %at, 6
  %row = udiv i32 %at, 6
  %i = alloca [2 x i32], align 4
  store i32 %column, ptr %i
  %i1 = getelementptr [2 x i32], ptr %i, i64 0, i64 1
  store i32 %row, ptr %i1
  %from = call ptr addrspace(1) @{POINTER}(ptr addrspace(1) %b0, i16 2, ptr %i, i8 0)
  %to = call ptr addrspace(1) @{POINTER}(ptr addrspace(1) %b1, i16 2, ptr %i, i8 0)
  %s = call i32 @air.get_stride_global_tensor.i32(ptr addrspace(1) %b0, i16 2, i16 1)
  %e = call i32 @air.get_extent_global_tensor.i32(ptr addrspace(1) %b0, i16 2, i16 1)
  %n = call i1 @air.is_null_global_tensor(ptr addrspace(1) %b0)
  %n32 = zext i1 %n to i32
  %se = mul i32 %s, %e
  %sen = add i32 %se, %n32
  %more = sitofp i32 %sen to float
  %v = load float, ptr addrspace(1) %from
  %sum = fadd float %v, %more
  store float %sum, ptr addrspace(1) %to""",
        ("tensor<float, dextents<int, 2>>", "tensor<float, extents<int, 6, 4>>"),
        f"declare ptr addrspace(1) @{POINTER}(ptr addrspace(1), i16, ptr, i8)\n"
        "declare i32 @air.get_stride_global_tensor.i32(ptr addrspace(1), i16, i16)\n"
        "declare i32 @air.get_extent_global_tensor.i32(ptr addrspace(1), i16, i16)\n"
        "declare i1 @air.is_null_global_tensor(ptr addrspace(1))",
        "thread_position_in_grid",
    )
    given, out = tensor_of(device, x), tensor_of(device, y)
    bound: Bound = {0: given, 1: out}
    assert not run(device, encoded(device, pipeline(device, text), bound, (1, 1, 1), (24, 1, 1)))
    np.testing.assert_array_equal(array_of(out, y), x + 24)


LOAD = "air.load_global_tensor.s.i32.global.f32"


@pytest.mark.parametrize("rank", [0, 2])
def test_what_is_not_public_of_loads_is_refused(rank: int) -> None:
    text = module(
        f"""  %v = call float @{LOAD}(ptr addrspace(1) %b0, i16 {rank}, ptr null, ptr null)
  %i = alloca [2 x i32], align 4
  store i64 0, ptr %i
  %to = call ptr addrspace(1) @{POINTER}(ptr addrspace(1) %b0, i16 2, ptr %i, i8 0)
  store float %v, ptr addrspace(1) %to""",
        ("tensor<float, dextents<int, 2>>",),
        f"declare float @{LOAD}(ptr addrspace(1), i16, ptr, ptr)\n"
        f"declare ptr addrspace(1) @{POINTER}(ptr addrspace(1), i16, ptr, i8)",
        "thread_position_in_grid",
    )
    made = AirLibrary(library({"k": text}), "k.metallib")
    if rank == 0:
        made.function("k").program().specialise((1, 1, 1))
    else:
        with pytest.raises((AirFormatError, UnsupportedKernel), match="unknown_access_of_tensor"):
            made.function("k").program().specialise((1, 1, 1))
