"""Real kernels through the emulated Metal API: MSL source in, bytes out."""

import runpy
import struct
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from assay.hal.metal import emulated as Metal
from assay.hal.metal.emulated import (
    DeviceOptions,
    MTLBuffer,
    MTLComputeCommandEncoder,
    MTLComputePipelineState,
    MTLDevice,
)

PROGRAMS = Path(__file__).parents[2] / "programs"
SHARED = Metal.MTLResourceStorageModeShared
PRIVATE = Metal.MTLResourceStorageModePrivate

SOURCE = """
#include <metal_stdlib>
using namespace metal;

constant int amount [[function_constant(0)]];
constant bool negate [[function_constant(1)]];

kernel void add(device const float* a [[buffer(0)]], device const float* b [[buffer(1)]],
                device float* c [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    c[i] = a[i] + b[i];
}

kernel void add_amount(device const int* a [[buffer(0)]], device int* b [[buffer(1)]],
                       uint i [[thread_position_in_grid]]) {
    b[i] = a[i] + (negate ? -amount : amount);
}

kernel void increment(device int* a [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    a[i] += 1;
}

kernel void reverse(device int* a [[buffer(0)]], threadgroup int* shared [[threadgroup(0)]],
                    uint i [[thread_position_in_threadgroup]],
                    uint n [[threads_per_threadgroup]],
                    uint g [[threadgroup_position_in_grid]]) {
    shared[i] = a[g * n + i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    a[g * n + i] = shared[n - 1 - i];
}

struct Table {
    device const int* source [[id(0)]];
    device int* target [[id(1)]];
    int factor [[id(2)]];
};

kernel void scale(constant Table& table [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    table.target[i] = table.source[i] * table.factor;
}

kernel void write_size(device uint* size [[buffer(0)]]) {
    size[0] = 3;
    size[1] = 2;
    size[2] = 1;
}

kernel void count(device atomic_int* total [[buffer(0)]]) {
    atomic_fetch_add_explicit(total, 1, memory_order_relaxed);
}

kernel void beyond(device int* a [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    a[i + 5] = 1;
}

kernel void forever(device volatile int* a [[buffer(0)]]) {
    while (a[0] == 0) {
        a[1] += 1;
    }
}
"""


@pytest.fixture(scope="module")
def device() -> MTLDevice:
    return MTLDevice(DeviceOptions(fuel=100_000))


@pytest.fixture(scope="module")
def library(device: MTLDevice) -> Metal.MTLLibrary:
    made, error = device.newLibraryWithSource_options_error_(SOURCE, None, None)
    assert made is not None, error
    return made


@pytest.fixture(scope="module")
def pipeline(
    device: MTLDevice, library: Metal.MTLLibrary
) -> Callable[[str], MTLComputePipelineState]:
    def make(name: str) -> MTLComputePipelineState:
        state, error = device.newComputePipelineStateWithFunction_error_(
            library.newFunctionWithName_(name), None
        )
        assert state is not None, error
        return state

    return make


Pipeline = Callable[[str], MTLComputePipelineState]


def buffer_of(device: MTLDevice, data: np.ndarray) -> MTLBuffer:
    return device.newBufferWithBytes_length_options_(data, data.nbytes, SHARED)


def array_of(buffer: MTLBuffer, dtype: type[np.generic] = np.int32) -> np.ndarray:
    return np.frombuffer(buffer.contents().as_buffer(buffer.length()), dtype=dtype)


def run(
    device: MTLDevice, encode: Callable[[MTLComputeCommandEncoder], None], kind: int = 0
) -> Metal.MTLCommandBuffer:
    command_buffer = device.newCommandQueue().commandBuffer()
    encoder = command_buffer.computeCommandEncoderWithDispatchType_(kind)
    encode(encoder)
    encoder.endEncoding()
    command_buffer.commit()
    command_buffer.waitUntilCompleted()
    return command_buffer


def bind(encoder: MTLComputeCommandEncoder, *buffers: MTLBuffer) -> None:
    for index, buffer in enumerate(buffers):
        encoder.setBuffer_offset_atIndex_(buffer, 0, index)


def test_vector_add_with_a_ragged_edge(device: MTLDevice, pipeline: Pipeline) -> None:
    a, b = np.random.default_rng(1).random((2, 1000), dtype=np.float32)
    c = device.newBufferWithLength_options_(a.nbytes, SHARED)

    def encode(encoder: MTLComputeCommandEncoder) -> None:
        encoder.setComputePipelineState_(pipeline("add"))
        bind(encoder, buffer_of(device, a), buffer_of(device, b), c)
        encoder.dispatchThreads_threadsPerThreadgroup_((1000, 1, 1), (64, 1, 1))

    assert run(device, encode).error() is None
    assert np.array_equal(array_of(c, np.float32), a + b)


def test_threadgroup_memory_of_a_length_set_by_the_program(
    device: MTLDevice, pipeline: Pipeline
) -> None:
    a = buffer_of(device, np.arange(128, dtype=np.int32))

    def encode(encoder: MTLComputeCommandEncoder) -> None:
        encoder.setComputePipelineState_(pipeline("reverse"))
        bind(encoder, a)
        encoder.setThreadgroupMemoryLength_atIndex_(256, 0)
        encoder.dispatchThreadgroups_threadsPerThreadgroup_((2, 1, 1), (64, 1, 1))

    assert run(device, encode).error() is None
    assert array_of(a).tolist() == [*range(63, -1, -1), *range(127, 63, -1)]


def test_an_argument_buffer_leads_to_its_buffers(
    device: MTLDevice, library: Metal.MTLLibrary, pipeline: Pipeline
) -> None:
    source = buffer_of(device, np.arange(8, dtype=np.int32))
    target = device.newBufferWithLength_options_(16, SHARED)
    function = library.newFunctionWithName_("scale")
    assert function is not None
    encoder = function.newArgumentEncoderWithBufferIndex_(0)
    table = device.newBufferWithLength_options_(encoder.encodedLength() + 8, SHARED)
    encoder.setArgumentBuffer_offset_(table, 8)
    encoder.setBuffer_offset_atIndex_(source, 16, 0)
    encoder.setBuffer_offset_atIndex_(target, 0, 1)
    encoder.constantDataAtIndex_(2).as_buffer(4)[:] = struct.pack("<i", 10)

    def encode(compute: MTLComputeCommandEncoder) -> None:
        compute.setComputePipelineState_(pipeline("scale"))
        compute.setBuffer_offset_atIndex_(table, 8, 0)
        compute.useResource_usage_(source, Metal.MTLResourceUsageRead)
        compute.useResource_usage_(target, Metal.MTLResourceUsageWrite)
        compute.dispatchThreads_threadsPerThreadgroup_((4, 1, 1), (4, 1, 1))

    assert run(device, encode).error() is None
    assert array_of(target).tolist() == [40, 50, 60, 70]


def test_an_indirect_dispatch_takes_its_size_from_a_kernel(
    device: MTLDevice, pipeline: Pipeline
) -> None:
    size = device.newBufferWithLength_options_(12, PRIVATE)
    total = device.newBufferWithLength_options_(4, SHARED)

    def encode(encoder: MTLComputeCommandEncoder) -> None:
        encoder.setComputePipelineState_(pipeline("write_size"))
        bind(encoder, size)
        encoder.dispatchThreads_threadsPerThreadgroup_((1, 1, 1), (1, 1, 1))
        encoder.memoryBarrierWithScope_(Metal.MTLBarrierScopeBuffers)
        encoder.setComputePipelineState_(pipeline("count"))
        bind(encoder, total)
        dispatch = encoder.dispatchThreadgroupsWithIndirectBuffer_indirectBufferOffset_threadsPerThreadgroup_  # noqa: E501
        dispatch(size, 0, (40, 1, 1))

    assert run(device, encode, Metal.MTLDispatchTypeConcurrent).error() is None
    assert array_of(total).tolist() == [240]


def test_blits_and_barriers_order_dispatches(device: MTLDevice, pipeline: Pipeline) -> None:
    a = buffer_of(device, np.zeros(100, dtype=np.int32))
    b = device.newBufferWithLength_options_(400, PRIVATE)
    command_buffer = device.newCommandQueue().commandBuffer()
    encoder = command_buffer.computeCommandEncoderWithDispatchType_(Metal.MTLDispatchTypeConcurrent)
    encoder.setComputePipelineState_(pipeline("increment"))
    bind(encoder, a)
    for _ in range(3):
        encoder.dispatchThreads_threadsPerThreadgroup_((100, 1, 1), (32, 1, 1))
        encoder.memoryBarrierWithResources_count_((a,), 1)
    encoder.endEncoding()
    blit = command_buffer.blitCommandEncoder()
    blit.copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size_(a, 0, b, 0, 400)
    blit.fillBuffer_range_value_(b, (0, 4), 0)
    blit.endEncoding()
    encoder = command_buffer.computeCommandEncoder()
    encoder.setComputePipelineState_(pipeline("increment"))
    bind(encoder, b)
    encoder.dispatchThreads_threadsPerThreadgroup_((100, 1, 1), (32, 1, 1))
    encoder.endEncoding()
    blit = command_buffer.blitCommandEncoder()
    blit.copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size_(b, 0, a, 0, 400)
    blit.endEncoding()
    command_buffer.commit()
    command_buffer.waitUntilCompleted()
    assert command_buffer.error() is None
    assert array_of(a).tolist() == [1, *[4] * 99]


def test_two_queues_take_turns_by_an_event(device: MTLDevice, pipeline: Pipeline) -> None:
    event = device.newSharedEvent()
    a = buffer_of(device, np.zeros(4, dtype=np.int32))
    b = buffer_of(device, np.zeros(4, dtype=np.int32))
    queues = device.newCommandQueue(), device.newCommandQueue()
    done = threading.Event()
    last = None
    for turn in range(6):
        command_buffer = queues[turn % 2].commandBuffer()
        command_buffer.encodeWaitForEvent_value_(event, turn)
        source, target = (a, b) if turn % 2 == 0 else (b, a)
        blit = command_buffer.blitCommandEncoder()
        blit.copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size_(source, 0, target, 0, 16)
        blit.endEncoding()
        encoder = command_buffer.computeCommandEncoder()
        encoder.setComputePipelineState_(pipeline("increment"))
        bind(encoder, target)
        encoder.dispatchThreads_threadsPerThreadgroup_((4, 1, 1), (4, 1, 1))
        encoder.endEncoding()
        command_buffer.encodeSignalEvent_value_(event, turn + 1)
        if turn == 5:
            command_buffer.addCompletedHandler_(lambda finished: done.set())
        command_buffer.commit()
        last = command_buffer
    assert last is not None and done.wait(60) and last.error() is None
    assert array_of(a).tolist() == [6] * 4 and array_of(b).tolist() == [5] * 4


def test_threads_with_queues_of_their_own_do_not_disturb_each_other(
    device: MTLDevice, pipeline: Pipeline
) -> None:
    wrong: list[int] = []

    def work(number: int) -> None:
        random = np.random.default_rng(number)
        queue = device.newCommandQueue()
        for _ in range(20):
            a, b = random.random((2, 3000), dtype=np.float32)
            c = device.newBufferWithLength_options_(a.nbytes, SHARED)
            command_buffer = queue.commandBuffer()
            encoder = command_buffer.computeCommandEncoder()
            encoder.setComputePipelineState_(pipeline("add"))
            bind(encoder, buffer_of(device, a), buffer_of(device, b), c)
            size = 32 * int(random.integers(1, 33))
            encoder.dispatchThreads_threadsPerThreadgroup_((3000, 1, 1), (size, 1, 1))
            encoder.endEncoding()
            command_buffer.commit()
            command_buffer.waitUntilCompleted()
            if not np.array_equal(array_of(c, np.float32), a + b):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_function_constants_make_different_kernels(
    device: MTLDevice, library: Metal.MTLLibrary
) -> None:
    outcomes = []
    for amount, negate in ((5, False), (7, True)):
        values = Metal.MTLFunctionConstantValues.new()
        values.setConstantValue_type_atIndex_(np.int32(amount), Metal.MTLDataTypeInt, 0)
        values.setConstantValue_type_withName_(np.bool_(negate), Metal.MTLDataTypeBool, "negate")
        function, error = library.newFunctionWithName_constantValues_error_(
            "add_amount", values, None
        )
        assert function is not None, error
        state, error = device.newComputePipelineStateWithFunction_error_(function, None)
        assert state is not None, error
        b = device.newBufferWithLength_options_(8, SHARED)

        def encode(
            encoder: MTLComputeCommandEncoder,
            state: MTLComputePipelineState = state,
            b: MTLBuffer = b,
        ) -> None:
            encoder.setComputePipelineState_(state)
            encoder.setBytes_length_atIndex_(np.array([1, 2], dtype=np.int32), 8, 0)
            encoder.setBuffer_offset_atIndex_(b, 0, 1)
            encoder.dispatchThreads_threadsPerThreadgroup_((2, 1, 1), (2, 1, 1))

        assert run(device, encode).error() is None
        outcomes.append(array_of(b).tolist())
    assert outcomes == [[6, 7], [-6, -5]]


def test_function_constants_are_listed_and_set_by_descriptor(library: Metal.MTLLibrary) -> None:
    values = Metal.MTLFunctionConstantValues.new()
    values.setConstantValue_type_atIndex_(np.int32(5), Metal.MTLDataTypeInt, 0)
    values.setConstantValue_type_atIndex_(np.bool_(True), Metal.MTLDataTypeBool, 1)
    descriptor = Metal.MTLFunctionDescriptor.functionDescriptor()
    descriptor.setName_("add_amount")
    descriptor.setConstantValues_(values)
    function, error = library.newFunctionWithDescriptor_error_(descriptor, None)
    assert function is not None, error
    listed = function.functionConstantsDictionary()
    assert {name: (each.index(), each.type()) for name, each in listed.items()} == {
        "amount": (0, Metal.MTLDataTypeInt),
        "negate": (1, Metal.MTLDataTypeBool),
    }


def test_a_write_outside_its_buffer_is_a_page_fault_that_harms_nothing(
    device: MTLDevice, pipeline: Pipeline
) -> None:
    neighbours = [buffer_of(device, np.zeros(8, dtype=np.int32)) for _ in range(3)]
    neighbours[1].setLabel_("victim")

    def encode(encoder: MTLComputeCommandEncoder) -> None:
        encoder.setComputePipelineState_(pipeline("beyond"))
        bind(encoder, neighbours[1])
        encoder.dispatchThreads_threadsPerThreadgroup_((4, 1, 1), (4, 1, 1))

    command_buffer = run(device, encode)
    error = command_buffer.error()
    assert command_buffer.status() == Metal.MTLCommandBufferStatusError and error is not None
    assert error.code() == Metal.MTLCommandBufferErrorPageFault
    message = error.localizedDescription()
    assert "program_source.metal:" in message and "victim" in message and "'beyond'" in message
    assert not array_of(neighbours[0]).any() and not array_of(neighbours[2]).any()


def test_a_kernel_that_never_ends_is_stopped(device: MTLDevice, pipeline: Pipeline) -> None:
    a = buffer_of(device, np.zeros(2, dtype=np.int32))

    def encode(encoder: MTLComputeCommandEncoder) -> None:
        encoder.setComputePipelineState_(pipeline("forever"))
        bind(encoder, a)
        encoder.dispatchThreads_threadsPerThreadgroup_((1, 1, 1), (1, 1, 1))

    error = run(device, encode).error()
    assert error is not None and error.code() == Metal.MTLCommandBufferErrorTimeout


def test_source_that_does_not_compile_gives_the_compilers_words(device: MTLDevice) -> None:
    source = "kernel void k(device int* a [[buffer(0)]]) {\n    a[0] = nothing;\n}\n"
    library, error = device.newLibraryWithSource_options_error_(source, None, None)
    assert library is None and error is not None
    assert error.code() == Metal.MTLLibraryErrorCompileFailure
    assert "program_source.metal:2" in error.localizedDescription()
    assert "nothing" in error.localizedDescription()


def test_macros_reach_the_source(device: MTLDevice) -> None:
    options = Metal.MTLCompileOptions.alloc().init()
    options.setPreprocessorMacros_({"NAME": "chosen", "VALUE": 42})
    source = "kernel void NAME(device int* a [[buffer(0)]]) { a[0] = VALUE; }"
    library, error = device.newLibraryWithSource_options_error_(source, options, None)
    assert library is not None, error
    assert library.functionNames() == ("chosen",)


def test_an_ordinary_pyobjc_program_runs_unchanged(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "Metal", Metal)
    runpy.run_path(str(PROGRAMS / "pyobjc_saxpy.py"), run_name="__main__")
    assert capsys.readouterr().out == "largest error: 0.0\n"
