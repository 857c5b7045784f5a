"""Visible functions: linked to kernels, put into tables, called by place."""

import numpy as np
import pytest

from assay.hal.metal import emulated as Metal
from assay.hal.metal.emulated import (
    MetalValidationError,
    MTLComputePipelineDescriptor,
    MTLDevice,
    MTLLibrary,
    MTLLinkedFunctions,
    MTLVisibleFunctionTableDescriptor,
)
from tests.support.textures import HEAD, buffer_of, contents

SOURCE = """
constant float shift [[function_constant(0)]];
[[visible]] float twice(float x) { return 2 * x; }
[[visible]] float square(float x) { return x * x + shift; }
[[visible]] void mark(device float* out, thread float& seen) { out[9] = 99; seen = -seen; }
typedef float Map(float);
struct Tables { visible_function_table<Map> maps [[id(0)]]; };
kernel void apply(device float* out [[buffer(0)]],
                  visible_function_table<Map> maps [[buffer(1)]],
                  visible_function_table<void(device float*, thread float&)> marks [[buffer(2)]],
                  uint i [[thread_position_in_grid]]) {
  auto map = maps[i % maps.size()];
  float x = map(float(i));
  if (i == 3) marks[0](out, x);
  out[i] = x;
}
kernel void nested(device float* out [[buffer(0)]], constant Tables& tables [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) {
  out[i] = is_null_visible_function_table(tables.maps) ? -1 : tables.maps[0](float(i));
}
"""


@pytest.fixture(scope="module")
def device() -> MTLDevice:
    return MTLDevice()


@pytest.fixture(scope="module")
def library(device: MTLDevice) -> MTLLibrary:
    found, error = device.newLibraryWithSource_options_error_(HEAD + SOURCE, None, None)
    assert found is not None, error
    return found


def function(library: MTLLibrary, name: str) -> Metal.MTLFunction:
    values = Metal.MTLFunctionConstantValues.new()
    values.setConstantValue_type_atIndex_(np.float32(0.5).tobytes(), Metal.MTLDataTypeFloat, 0)
    found, error = library.newFunctionWithName_constantValues_error_(name, values, None)
    assert found is not None, error
    return found


def linked_state(
    device: MTLDevice, library: MTLLibrary, kernel: str, *names: str
) -> Metal.MTLComputePipelineState:
    functions = MTLLinkedFunctions.linkedFunctions()
    functions.setFunctions_([function(library, name) for name in names])
    descriptor = MTLComputePipelineDescriptor.new()
    descriptor.setComputeFunction_(function(library, kernel))
    descriptor.setLinkedFunctions_(functions)
    make = device.newComputePipelineStateWithDescriptor_options_reflection_error_
    state, _, error = make(descriptor, 0, None, None)
    assert state is not None, error
    return state


def table(
    state: Metal.MTLComputePipelineState, library: MTLLibrary, *names: str | None
) -> Metal.MTLVisibleFunctionTable:
    descriptor = MTLVisibleFunctionTableDescriptor.visibleFunctionTableDescriptor()
    descriptor.setFunctionCount_(len(names))
    found = state.newVisibleFunctionTableWithDescriptor_(descriptor)
    for place, name in enumerate(names):
        handle = name and state.functionHandleWithFunction_(function(library, name))
        found.setFunction_atIndex_(handle or None, place)
    return found


def dispatched(
    device: MTLDevice,
    state: Metal.MTLComputePipelineState,
    out: Metal.MTLBuffer,
    tables: list[Metal.MTLVisibleFunctionTable],
) -> Metal.MTLCommandBuffer:
    command_buffer = device.newCommandQueue().commandBuffer()
    encoder = command_buffer.computeCommandEncoder()
    encoder.setComputePipelineState_(state)
    encoder.setBuffer_offset_atIndex_(out, 0, 0)
    encoder.setVisibleFunctionTables_withBufferRange_(tables, (1, len(tables)))
    encoder.dispatchThreads_threadsPerThreadgroup_((8, 1, 1), (8, 1, 1))
    encoder.endEncoding()
    command_buffer.commit()
    command_buffer.waitUntilCompleted()
    return command_buffer


def test_a_library_names_its_visible_functions(library: MTLLibrary) -> None:
    assert library.functionNames() == ("apply", "nested", "twice", "square", "mark")
    twice = library.newFunctionWithName_("twice")
    assert twice is not None and twice.functionType() == Metal.MTLFunctionTypeVisible
    state, error = library.device().newComputePipelineStateWithFunction_error_(twice, None)
    assert state is None and "'twice' is [[visible]] and no kernel" in str(error)


def test_kernels_call_functions_by_their_place_in_a_table(
    device: MTLDevice, library: MTLLibrary
) -> None:
    state = linked_state(device, library, "apply", "square", "twice", "mark")
    out = buffer_of(device, np.zeros(10, np.float32))
    maps, marks = table(state, library, "twice", "square"), table(state, library, "mark")
    assert dispatched(device, state, out, [maps, marks]).error() is None
    expected = [0, 1.5, 4, -9.5, 8, 25.5, 12, 49.5, 0, 99]
    assert contents(out, np.float32).tolist() == expected
    swapped = table(state, library, "square", "twice")
    assert dispatched(device, state, out, [swapped, marks]).error() is None
    assert contents(out, np.float32)[:3].tolist() == [0.5, 2, 4.5]


def test_an_empty_place_fails_at_the_line_of_the_call(
    device: MTLDevice, library: MTLLibrary
) -> None:
    state = linked_state(device, library, "apply", "twice", "mark")
    out = buffer_of(device, np.zeros(10, np.float32))
    maps, marks = table(state, library, "twice", None), table(state, library, "mark")
    error = dispatched(device, state, out, [maps, marks]).error()
    line = (HEAD + SOURCE)[: (HEAD + SOURCE).index("map(float(i))")].count("\n") + 1
    assert error is not None
    assert f"program_source.metal:{line}:" in error.localizedDescription()
    assert "null" in error.localizedDescription()


def test_argument_buffers_hold_tables(device: MTLDevice, library: MTLLibrary) -> None:
    state = linked_state(device, library, "nested", "square")
    encoder = function(library, "nested").newArgumentEncoderWithBufferIndex_(1)
    arguments = device.newBufferWithLength_options_(encoder.encodedLength(), 0)
    encoder.setArgumentBuffer_offset_(arguments, 0)
    maps = table(state, library, "square")
    out = buffer_of(device, np.zeros(4, np.float32))
    for given, expected in ((None, [-1, -1]), (maps, [0.5, 1.5])):
        encoder.setVisibleFunctionTable_atIndex_(given, 0)
        command_buffer = device.newCommandQueue().commandBuffer()
        compute = command_buffer.computeCommandEncoder()
        compute.setComputePipelineState_(state)
        compute.setBuffer_offset_atIndex_(out, 0, 0)
        compute.setBuffer_offset_atIndex_(arguments, 0, 1)
        compute.useResource_usage_(maps, Metal.MTLResourceUsageRead)
        compute.dispatchThreads_threadsPerThreadgroup_((2, 1, 1), (2, 1, 1))
        compute.endEncoding()
        command_buffer.commit()
        command_buffer.waitUntilCompleted()
        assert command_buffer.error() is None, command_buffer.error()
        assert contents(out, np.float32)[:2].tolist() == expected


def test_misuse_says_what_to_do(device: MTLDevice, library: MTLLibrary) -> None:
    state = linked_state(device, library, "apply", "twice", "mark")
    other = linked_state(device, library, "apply", "square", "mark")
    assert state.functionHandleWithFunction_(function(library, "square")) is None
    functions = MTLLinkedFunctions.new()
    with pytest.raises(MetalValidationError, match="'apply' is a kernel; declare it"):
        functions.setFunctions_([function(library, "apply")])
    maps = table(state, library, "twice")
    handle = other.functionHandleWithFunction_(function(library, "square"))
    with pytest.raises(MetalValidationError, match="is another pipeline state's"):
        maps.setFunction_atIndex_(handle, 0)
    with pytest.raises(MetalValidationError, match=r"index is 1; it must lie in 0\.\.0"):
        maps.setFunction_atIndex_(None, 1)
    with pytest.raises(MetalValidationError, match="functionCount is 0"):
        table(state, library)
    out = buffer_of(device, np.zeros(10, np.float32))
    with pytest.raises(MetalValidationError, match="no function table is set; call"):
        dispatched(device, state, out, [maps])
    marks = table(state, library, "mark")
    with pytest.raises(MetalValidationError, match="was made by another pipeline state"):
        dispatched(device, other, out, [maps, marks])
