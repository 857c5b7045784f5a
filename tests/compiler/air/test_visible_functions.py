"""Visible functions of compiled libraries are called by their names and by tables."""

from __future__ import annotations

import numpy as np

from assay.hal.metal import api
from tests.support.metallib import Buffer, kernel, library

Metal = api.load("emulated")
OUT = (Buffer(name="x", element="float", access="read"), Buffer(name="out", element="float"))
TABLE = (
    '!{i32 0, !"air.visible_function_table", !"air.location_index", i32 1, i32 1, !"air.read", '
    '!"air.arg_type_name", !"visible_function_table<float (float)>", !"air.arg_name", !"table"}'
)


def visible(name: str, body: str, declared: str = "") -> str:
    """A module with one function of a float, `%x`."""
    return (
        'target triple = "air64_v26-apple-macosx14.0.0"\n'
        f'{declared}\ndefine float @{name}(float %x) "no-builtins" {{\n{body}\n}}\n'
        f"!air.visible = !{{!1}}\n!1 = !{{ptr @{name}, !2, !2}}\n!2 = !{{}}\n"
    )


FUNCTIONS = {
    "twice": visible("twice", "  %r = fadd float %x, %x\n  ret float %r"),
    "root": visible(
        "root",
        "  %r = call float @air.sqrt.f32(float %x)\n  ret float %r",
        "declare float @air.sqrt.f32(float)",
    ),
    "leaf": visible(
        "leaf",
        "  %y = call float @twice.MTL_VISIBLE_FN_REF(float %x)\n  %r = fadd float %y, 1.0\n"
        "  ret float %r",
        'declare float @twice.MTL_VISIBLE_FN_REF(float) section "air.externally_defined"',
    ),
}
READ = """  %i = zext i32 %p0 to i64
  %from = getelementptr float, ptr addrspace(1) %b0, i64 %i
  %v = load float, ptr addrspace(1) %from
  %to = getelementptr float, ptr addrspace(1) %b1, i64 %i
"""


def by_name(name: str) -> str:
    body = f"{READ}  %r = call float @{name}.MTL_VISIBLE_FN_REF(float %v)\n"
    body += "  store float %r, ptr addrspace(1) %to"
    called = f"declare float @{name}.MTL_VISIBLE_FN_REF(float)"
    return kernel("k", body, OUT, declared=f'{called} section "air.externally_defined"')


def by_table() -> str:
    get = "ptr @air.get_function_pointer_visible_function_table"
    body = f"""  %n = call i32 @air.get_size_visible_function_table(ptr addrspace(1) %table)
  %at = urem i32 %p, %n
  %f = call {get}(ptr addrspace(1) %table, i32 %at)
  %v = uitofp i32 %p to float
  %r = tail call fast float %f(float noundef %v)
  %to = getelementptr float, ptr addrspace(1) %out, i32 %p
  store float %r, ptr addrspace(1) %to"""
    return f"""target triple = "air64_v26-apple-macosx14.0.0"
declare {get}(ptr addrspace(1), i32)
declare i32 @air.get_size_visible_function_table(ptr addrspace(1))
define void @k(ptr addrspace(1) %table, ptr addrspace(1) %out, i32 %p) "no-builtins" {{
{body}
  ret void
}}
!air.kernel = !{{!1}}
!1 = !{{ptr @k, !2, !3}}
!2 = !{{}}
!3 = !{{!4, !5, !6}}
!4 = {TABLE}
!5 = !{{i32 1, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read_write", \
!"air.address_space", i32 1, !"air.arg_type_size", i32 4, !"air.arg_type_align_size", i32 4, \
!"air.arg_type_name", !"float", !"air.arg_name", !"out"}}
!6 = !{{i32 2, !"air.thread_position_in_grid"}}
"""


def run(data: bytes, linked: tuple[str, ...] = (), places: tuple[str, ...] = ()) -> object:
    """The buffer of 32 floats behind `k`, or the error of its command buffer."""
    device = Metal.MTLCreateSystemDefaultDevice()
    made, error = device.newLibraryWithData_error_(data, None)
    assert made is not None, error.localizedDescription()
    described = Metal.MTLComputePipelineDescriptor.new()
    described.setComputeFunction_(made.newFunctionWithName_("k"))
    functions = Metal.MTLLinkedFunctions.new()
    functions.setFunctions_([made.newFunctionWithName_(name) for name in linked])
    described.setLinkedFunctions_(functions)
    state, _, error = device.newComputePipelineStateWithDescriptor_options_reflection_error_(
        described, 0, None, None
    )
    assert state is not None, error.localizedDescription()
    given = np.arange(32, dtype=np.float32)
    x = device.newBufferWithBytes_length_options_(given.tobytes(), 128, 0)
    out = device.newBufferWithLength_options_(128, 0)
    buffer = device.newCommandQueue().commandBuffer()
    encoder = buffer.computeCommandEncoder()
    encoder.setComputePipelineState_(state)
    if places:
        wanted = Metal.MTLVisibleFunctionTableDescriptor.new()
        wanted.setFunctionCount_(len(places))
        table = state.newVisibleFunctionTableWithDescriptor_(wanted)
        for at, name in enumerate(places):
            handle = state.functionHandleWithFunction_(made.newFunctionWithName_(name))
            table.setFunction_atIndex_(handle, at)
        encoder.setBuffer_offset_atIndex_(out, 0, 0)
        encoder.setVisibleFunctionTable_atBufferIndex_(table, 1)
    else:
        encoder.setBuffer_offset_atIndex_(x, 0, 0)
        encoder.setBuffer_offset_atIndex_(out, 0, 1)
    encoder.dispatchThreads_threadsPerThreadgroup_((32, 1, 1), (32, 1, 1))
    encoder.endEncoding()
    buffer.commit()
    buffer.waitUntilCompleted()
    if buffer.error() is not None:
        return buffer.error().localizedDescription()
    return np.frombuffer(out.contents().as_buffer(128), np.float32).copy()


def test_a_kernel_calls_functions_by_name_and_those_call_others() -> None:
    data = library({"k": by_name("leaf")}, visible=FUNCTIONS)
    np.testing.assert_array_equal(run(data), np.arange(32, dtype=np.float32) * 2 + 1)


def test_a_kernel_calls_functions_by_their_place_in_a_table() -> None:
    data = library({"k": by_table()}, visible=FUNCTIONS)
    x = np.arange(32, dtype=np.float32)
    expected = np.choose(np.arange(32) % 3, [np.sqrt(x), 2 * x + 1, 2 * x])
    found = run(data, ("twice", "leaf", "root"), ("root", "leaf", "twice"))
    np.testing.assert_allclose(found, expected, rtol=1e-6)  # type: ignore[arg-type]


def test_a_function_that_is_not_there_fails_where_it_is_called() -> None:
    found = run(library({"k": by_name("nobody")}, visible=FUNCTIONS))
    assert isinstance(found, str) and "k" in found


def test_a_library_names_its_visible_functions() -> None:
    device = Metal.MTLCreateSystemDefaultDevice()
    made, _ = device.newLibraryWithData_error_(
        library({"k": by_name("leaf")}, visible=FUNCTIONS), None
    )
    assert made.functionNames() == ("k", "twice", "root", "leaf")
    assert made.newFunctionWithName_("twice").functionType() == Metal.MTLFunctionTypeVisible
