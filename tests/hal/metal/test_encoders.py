"""Compute and blit encoders, pipelines and argument buffers: what is recorded and what refused."""

import struct
import time
from collections.abc import Callable, Sequence
from types import SimpleNamespace

import numpy as np
import pytest

from assay.hal.metal import emulated as Metal
from assay.hal.metal.emulated import MetalValidationError, MTLBuffer, MTLDevice
from tests.support.metal_fakes import KERNELS, FakeKernel, FakeMemory, argument, fake_device

seen: list[list[int]] = []


def note(memory: FakeMemory, arguments: Sequence[int], grid: tuple[int, int, int]) -> None:
    """Keep what the kernel was given: first byte of each buffer, lengths, then the grid."""
    values = [int(memory.at(a)[0]) if a >> 48 else a for a in arguments]
    seen.append([*values, *grid])


def follow(memory: FakeMemory, arguments: Sequence[int], grid: tuple[int, int, int]) -> None:
    """An argument buffer of two addresses and an int: add the int to the first byte of both."""
    first, second, amount = struct.unpack("<QQi", memory.at(arguments[0])[:20].tobytes())
    for address in (first, second):
        if address:
            memory.at(address)[0] += amount


MEMBERS = (
    SimpleNamespace(name="a", id=0, offset=0, kind="buffer", address_space="device"),
    SimpleNamespace(name="b", id=3, offset=8, kind="buffer", address_space="device"),
    SimpleNamespace(name="n", id=4, offset=16, kind="constant", address_space="constant"),
)
TEST_KERNELS = KERNELS | {
    "note": FakeKernel(
        "note",
        note,
        [argument("x", 0, access="read"), argument("y", 30, size=8, alignment=8, access="read")],
    ),
    "constant": FakeKernel(
        "constant", note, [argument("c", 2, address_space="constant", size=16, alignment=16)]
    ),
    "local": FakeKernel(
        "local", note, [argument("t", 1, kind="threadgroup", size=16)], None, 16 * 1024
    ),
    "small": FakeKernel("small", note, [], 64),
    "follow": FakeKernel(
        "follow",
        follow,
        [argument("s", 0, address_space="constant", size=24, alignment=8, members=MEMBERS)],
    ),
    "many": FakeKernel(
        "many",
        note,
        [
            argument(
                "s",
                0,
                size=40,
                members=(
                    SimpleNamespace(name="n", id=0, offset=0, kind="constant"),
                    SimpleNamespace(name="a", id=1, offset=8, kind="buffer"),
                ),
            )
        ],
    ),
    "picture": FakeKernel("picture", note, [argument("t", 0, kind="imageblock")]),
    "huge": FakeKernel("huge", note, [], None, 40_000),
}


@pytest.fixture
def device() -> MTLDevice:
    seen.clear()
    return fake_device(kernels=TEST_KERNELS)


def function(device: MTLDevice, name: str) -> Metal.MTLFunction:
    library, _ = device.newLibraryWithSource_options_error_("kernels", None, None)
    assert library is not None
    found = library.newFunctionWithName_(name)
    assert found is not None
    return found


def pipeline(device: MTLDevice, name: str) -> Metal.MTLComputePipelineState:
    state, error = device.newComputePipelineStateWithFunction_error_(function(device, name), None)
    assert state is not None and error is None
    return state


def numbered(device: MTLDevice, *values: int, options: int = 0) -> MTLBuffer:
    return device.newBufferWithBytes_length_options_(bytes(values), len(values), options)


def run(
    device: MTLDevice, encode: Callable[[Metal.MTLComputeCommandEncoder], None], kind: int = 0
) -> None:
    command_buffer = device.newCommandQueue().commandBuffer()
    encoder = command_buffer.computeCommandEncoderWithDispatchType_(kind)
    encode(encoder)
    encoder.endEncoding()
    command_buffer.commit()
    command_buffer.waitUntilCompleted()
    assert command_buffer.error() is None


def test_bindings_change_between_dispatches_of_one_encoder(device: MTLDevice) -> None:
    a, b = numbered(device, *range(32)), numbered(device, *range(100, 132))

    def encode(encoder: Metal.MTLComputeCommandEncoder) -> None:
        one = ((2, 1, 1), (4, 1, 1))
        encoder.setComputePipelineState_(pipeline(device, "note"))
        encoder.setBuffers_offsets_withRange_((a,), (4,), (0, 1))
        encoder.setBuffer_offset_atIndex_(b, 8, 30)
        encoder.dispatchThreadgroups_threadsPerThreadgroup_(*one)
        encoder.setBufferOffset_atIndex_(16, 30)
        encoder.memoryBarrierWithScope_(Metal.MTLBarrierScopeBuffers)
        encoder.memoryBarrierWithResources_count_((a, b), 2)
        encoder.dispatchThreads_threadsPerThreadgroup_((5, 3, 1), (4, 1, 1))
        encoder.setBytes_length_atIndex_(np.array([7], dtype=np.int64), 8, 30)
        encoder.dispatchThreadgroups_threadsPerThreadgroup_(*one)

    run(device, encode, Metal.MTLDispatchTypeConcurrent)
    assert seen == [[4, 108, 8, 1, 1], [4, 116, 5, 3, 1], [4, 7, 8, 1, 1]]


def test_none_is_passed_as_a_null_address_and_whole_floats_as_integers(device: MTLDevice) -> None:
    y = numbered(device, *range(40, 48))

    def encode(encoder: Metal.MTLComputeCommandEncoder) -> None:
        encoder.setComputePipelineState_(pipeline(device, "note"))
        encoder.setBuffer_offset_atIndex_(None, 0, 0)
        encoder.setBuffer_offset_atIndex_(y, 0, 30)
        encoder.dispatchThreads_threadsPerThreadgroup_((64 / 32, 1, 1), (2.0, 1, 1))

    run(device, encode)
    assert seen == [[0, 40, 2, 1, 1]]


def test_bytes_are_copied_when_set(device: MTLDevice) -> None:
    data = bytearray(b"\1\0\0\0")
    x, y = numbered(device, *range(8)), numbered(device, *range(8))

    def encode(encoder: Metal.MTLComputeCommandEncoder) -> None:
        encoder.setComputePipelineState_(pipeline(device, "note"))
        encoder.setBuffer_offset_atIndex_(y, 0, 30)
        encoder.setBuffer_offset_atIndex_(x, 0, 0)
        encoder.setBytes_length_atIndex_(data, 4, 0)
        data[0] = 9
        encoder.dispatchThreads_threadsPerThreadgroup_((1, 1, 1), (1, 1, 1))

    run(device, encode)
    assert seen == [[1, 0, 1, 1, 1]]


def test_an_indirect_dispatch_reads_its_size_when_it_runs(device: MTLDevice) -> None:
    size = device.newBufferWithLength_options_(16, 0)
    queue = device.newCommandQueue()
    command_buffer = queue.commandBuffer()
    blit = command_buffer.blitCommandEncoder()
    three = device.newBufferWithBytes_length_options_(struct.pack("<3I", 3, 2, 1), 12, 0)
    blit.copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size_(three, 0, size, 4, 12)
    blit.endEncoding()
    encoder = command_buffer.computeCommandEncoder()
    encoder.setComputePipelineState_(pipeline(device, "small"))
    dispatch = (
        encoder.dispatchThreadgroupsWithIndirectBuffer_indirectBufferOffset_threadsPerThreadgroup_
    )
    dispatch(size, 4, (8, 1, 1))
    with pytest.raises(MetalValidationError, match=r"bytes 8\.\.20 of <MTLBuffer of 16 bytes>"):
        dispatch(size, 8, (8, 1, 1))
    with pytest.raises(MetalValidationError, match="offset is 2; it must be a multiple of 4"):
        dispatch(size, 2, (8, 1, 1))
    encoder.endEncoding()
    command_buffer.commit()
    command_buffer.waitUntilCompleted()
    assert command_buffer.error() is None and seen == [[24, 2, 1]]


def test_threadgroup_memory_is_passed_as_its_length(device: MTLDevice) -> None:
    def encode(encoder: Metal.MTLComputeCommandEncoder) -> None:
        encoder.setComputePipelineState_(pipeline(device, "local"))
        encoder.setThreadgroupMemoryLength_atIndex_(16 * 1024, 1)
        encoder.dispatchThreads_threadsPerThreadgroup_((1, 1, 1), (1, 1, 1))

    run(device, encode)
    assert seen == [[16384, 1, 1, 1]]


def test_argument_buffers_hold_addresses_and_constants(device: MTLDevice) -> None:
    a, b = numbered(device, 1, 2, 3, 4), numbered(device, 5, 6, 7, 8)
    encoder = function(device, "follow").newArgumentEncoderWithBufferIndex_(0)
    assert (encoder.encodedLength(), encoder.alignment()) == (24, 8)
    table = device.newBufferWithLength_options_(64, 0)
    encoder.setArgumentBuffer_offset_(table, 8)
    encoder.setBuffers_offsets_withRange_((a,), (1,), (0, 1))
    encoder.setBuffer_offset_atIndex_(b, 2, 3)
    encoder.constantDataAtIndex_(4).as_buffer(4)[:] = struct.pack("<i", 10)

    def encode(compute: Metal.MTLComputeCommandEncoder) -> None:
        compute.setComputePipelineState_(pipeline(device, "follow"))
        compute.setBuffer_offset_atIndex_(table, 8, 0)
        compute.useResource_usage_(a, Metal.MTLResourceUsageRead | Metal.MTLResourceUsageWrite)
        compute.useResources_count_usage_((b,), 1, Metal.MTLResourceUsageWrite)
        compute.dispatchThreads_threadsPerThreadgroup_((1, 1, 1), (1, 1, 1))

    run(device, encode)
    assert bytes(a.contents().as_buffer(4)) == bytes((1, 12, 3, 4))
    assert bytes(b.contents().as_buffer(4)) == bytes((5, 6, 17, 8))
    encoder.setBuffer_offset_atIndex_(None, 0, 0)
    run(device, encode)
    assert bytes(a.contents().as_buffer(4)) == bytes((1, 12, 3, 4))
    assert bytes(b.contents().as_buffer(4)) == bytes((5, 6, 27, 8))


def test_argument_buffers_are_described_without_a_function(device: MTLDevice) -> None:
    first = Metal.MTLArgumentDescriptor.argumentDescriptor()
    first.setDataType_(Metal.MTLDataTypePointer)
    first.setArrayLength_(2)
    second = Metal.MTLArgumentDescriptor.argumentDescriptor()
    second.setDataType_(Metal.MTLDataTypePointer)
    second.setIndex_(5)
    encoder = device.newArgumentEncoderWithArguments_((second, first))
    assert encoder.encodedLength() == 24
    table = device.newBufferWithLength_options_(48, 0)
    target = numbered(device, 0, 0, 0, 0)
    encoder.setArgumentBuffer_startOffset_arrayElement_(table, 0, 1)
    encoder.setBuffer_offset_atIndex_(target, 2, 5)
    words = np.frombuffer(table.contents().as_buffer(48), dtype=np.uint64)
    assert words.tolist() == [0, 0, 0, 0, 0, target.gpuAddress() + 2]
    second.setDataType_(Metal.MTLDataTypeFloat)
    with pytest.raises(MetalValidationError, match="data type 3 at id 5; only MTLDataTypePointer"):
        device.newArgumentEncoderWithArguments_((second,))


def test_an_array_in_an_argument_buffer_has_an_id_per_element(device: MTLDevice) -> None:
    target = numbered(device, *range(8))
    encoder = function(device, "many").newArgumentEncoderWithBufferIndex_(0)
    table = device.newBufferWithLength_options_(encoder.encodedLength(), 0)
    encoder.setArgumentBuffer_offset_(table, 0)
    encoder.setBuffers_offsets_withRange_((target,) * 3, (1, 2, 3), (1, 3))
    words = np.frombuffer(table.contents().as_buffer(40), dtype=np.uint64)
    base = target.gpuAddress()
    assert words.tolist() == [0, base + 1, base + 2, base + 3, 0]


def test_misuse_of_an_argument_encoder_is_refused(device: MTLDevice) -> None:
    encoder = function(device, "follow").newArgumentEncoderWithBufferIndex_(0)
    target = numbered(device, *range(32))
    with pytest.raises(MetalValidationError, match="call setArgumentBuffer_offset_ first"):
        encoder.setBuffer_offset_atIndex_(target, 0, 0)
    with pytest.raises(MetalValidationError, match="offset is 4; it must be a multiple of 8"):
        encoder.setArgumentBuffer_offset_(target, 4)
    with pytest.raises(MetalValidationError, match=r"bytes 16\.\.40 of"):
        encoder.setArgumentBuffer_offset_(target, 16)
    private = device.newBufferWithLength_options_(64, Metal.MTLResourceStorageModePrivate)
    with pytest.raises(MetalValidationError, match="encode into a shared buffer"):
        encoder.setArgumentBuffer_offset_(private, 0)
    encoder.setArgumentBuffer_offset_(target, 0)
    with pytest.raises(MetalValidationError, match=r"offset 32 for .* is not within"):
        encoder.setBuffer_offset_atIndex_(target, 32, 0)
    with pytest.raises(
        MetalValidationError, match=r"id\(4\)\]\] is not a buffer .* these are: \[0, 3\]"
    ):
        encoder.setBuffer_offset_atIndex_(target, 0, 4)
    with pytest.raises(MetalValidationError, match=r"is not constant data; these are: \[4\]"):
        encoder.constantDataAtIndex_(0)
    with pytest.raises(MetalValidationError, match=r"has no argument \[\[buffer\(1\)\]\]"):
        function(device, "follow").newArgumentEncoderWithBufferIndex_(1)
    with pytest.raises(MetalValidationError, match="argument 'x' is no argument buffer"):
        function(device, "note").newArgumentEncoderWithBufferIndex_(0)


ONE = ((1, 1, 1), (1, 1, 1))
Encoder = Metal.MTLComputeCommandEncoder


@pytest.mark.parametrize(
    ("kernel", "misuse", "message"),
    [
        ("note", lambda e, b: e.setBuffer_offset_atIndex_(b, 0, 31), r"index is 31; .* 0\.\.30"),
        ("note", lambda e, b: e.setBuffer_offset_atIndex_(b, 8, 0), "offset 8 at index 0 is not w"),
        (
            "note",
            lambda e, b: e.setBuffer_offset_atIndex_(b, 4.5, 0),
            r"offset is 4\.5; it must be",
        ),
        (
            "note",
            lambda e, b: e.setBuffer_offset_atIndex_(numbered(fake_device(), 1), 0, 0),
            "belongs to another device",
        ),
        (
            "small",
            lambda e, b: e.dispatchThreads_threadsPerThreadgroup_((1.5, 1, 1), (1, 1, 1)),
            r"threadsPerGrid is \(1\.5, 1, 1\); give an MTLSize .* of integers",
        ),
        ("note", lambda e, b: e.setBuffer_offset_atIndex_("b", 0, 0), "must be an MTLBuffer, and"),
        ("note", lambda e, b: e.setBufferOffset_atIndex_(0, 5), "no buffer is set at index 5"),
        (
            "note",
            lambda e, b: e.setBytes_length_atIndex_(bytes(5000), 5000, 0),
            r"is 5000 B; .*4096",
        ),
        ("note", lambda e, b: e.setBytes_length_atIndex_(b"12", 4, 0), "only 2 B are given"),
        ("note", lambda e, b: e.setBytes_length_atIndex_(7, 4, 0), "bytes are int"),
        ("note", lambda e, b: e.setThreadgroupMemoryLength_atIndex_(8, 0), "a multiple of 16"),
        ("note", lambda e, b: e.setThreadgroupMemoryLength_atIndex_(65536, 0), "has 32768 B"),
        ("note", lambda e, b: e.useResource_usage_(b, 0), "usage 0 is no MTLResourceUsage"),
        ("note", lambda e, b: e.memoryBarrierWithScope_(4), "4 is no MTLBarrierScope"),
        ("note", lambda e, b: e.popDebugGroup(), "no debug group is open"),
        (
            "note",
            lambda e, b: (e.pushDebugGroup_("g"), e.endEncoding()),
            "1 debug groups are still",
        ),
        ("note", lambda e, b: (e.endEncoding(), e.endEncoding()), "has ended; make a new one"),
        (None, lambda e, b: e.dispatchThreads_threadsPerThreadgroup_(*ONE), "no pipeline state"),
        (
            "note",
            lambda e, b: e.dispatchThreads_threadsPerThreadgroup_(*ONE),
            r"kernel 'note', argument 'x' \[\[buffer\(0\)\]\]: no buffer is set",
        ),
        (
            "note",
            lambda e, b: (
                e.setBuffer_offset_atIndex_(b, 0, 0),
                e.setBuffer_offset_atIndex_(b, 4, 30),
                e.dispatchThreads_threadsPerThreadgroup_(*ONE),
            ),
            "'y' .* has 8 B, but only 4 B are set, from offset 4 on",
        ),
        (
            "note",
            lambda e, b: (
                e.setBuffer_offset_atIndex_(b, 2, 0),
                e.dispatchThreads_threadsPerThreadgroup_(*ONE),
            ),
            "offset 2 is not a multiple of 4",
        ),
        (
            "small",
            lambda e, b: e.dispatchThreads_threadsPerThreadgroup_((1, 1, 1), (65, 1, 1)),
            r"\(65, 1, 1\), 65 threads; kernel 'small' allows 1\.\.64",
        ),
        (
            "small",
            lambda e, b: e.dispatchThreads_threadsPerThreadgroup_((1, 1, 1), (0, 1, 1)),
            "0 threads; kernel 'small' allows",
        ),
        (
            "small",
            lambda e, b: e.dispatchThreads_threadsPerThreadgroup_((1, 1), (1, 1, 1)),
            r"threadsPerGrid is \(1, 1\); give an MTLSize",
        ),
        (
            "small",
            lambda e, b: e.dispatchThreads_threadsPerThreadgroup_((-1, 1, 1), (1, 1, 1)),
            r"each extent must lie in 0\.\.2\*\*32-1",
        ),
        (
            "add_one",
            lambda e, b: (
                e.setBuffer_offset_atIndex_(b, 0, 0),
                e.setBytes_length_atIndex_(b"1234", 4, 1),
                e.dispatchThreads_threadsPerThreadgroup_(*ONE),
            ),
            "'target' .* is writable, but .* declare it const or constant, or set a buffer",
        ),
        (
            "local",
            lambda e, b: e.dispatchThreads_threadsPerThreadgroup_(*ONE),
            r"\[\[threadgroup\(1\)\]\] has 0 B and needs 16; call setThreadgroupMemoryLength",
        ),
        (
            "local",
            lambda e, b: (
                e.setThreadgroupMemoryLength_atIndex_(17 * 1024, 1),
                e.dispatchThreads_threadsPerThreadgroup_(*ONE),
            ),
            "needs 33792 B of threadgroup memory, 16384 B of them declared in the kernel",
        ),
    ],
)
def test_misuse_of_a_compute_encoder_is_refused(
    device: MTLDevice,
    kernel: str | None,
    misuse: Callable[[Encoder, MTLBuffer], object],
    message: str,
) -> None:
    encoder = device.newCommandQueue().commandBuffer().computeCommandEncoder()
    if kernel is not None:
        encoder.setComputePipelineState_(pipeline(device, kernel))
    with pytest.raises(MetalValidationError, match=message):
        misuse(encoder, numbered(device, *range(8)))


def test_blits_copy_and_fill_between_dispatches(device: MTLDevice) -> None:
    a = device.newBufferWithBytes_length_options_(np.arange(4, dtype=np.int32), 16, 0)
    private = device.newBufferWithLength_options_(16, Metal.MTLResourceStorageModePrivate)
    b = device.newBufferWithLength_options_(16, 0)
    command_buffer = device.newCommandQueue().commandBuffer()
    encoder = command_buffer.computeCommandEncoder()
    encoder.setComputePipelineState_(pipeline(device, "add_one"))
    encoder.setBuffer_offset_atIndex_(a, 0, 0)
    encoder.setBuffer_offset_atIndex_(private, 0, 1)
    encoder.dispatchThreads_threadsPerThreadgroup_((4, 1, 1), (4, 1, 1))
    fence = device.newFence()
    encoder.updateFence_(fence)
    encoder.endEncoding()
    blit = command_buffer.blitCommandEncoder()
    blit.waitForFence_(fence)
    blit.copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size_(private, 4, b, 0, 12)
    blit.fillBuffer_range_value_(b, (12, 4), 0xFF)
    blit.endEncoding()
    command_buffer.commit()
    command_buffer.waitUntilCompleted()
    assert np.frombuffer(b.contents().as_buffer(16), dtype=np.int32).tolist() == [2, 3, 4, -1]


Blit = Metal.MTLBlitCommandEncoder


@pytest.mark.parametrize(
    ("misuse", "message"),
    [
        (
            lambda e, b: e.copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size_(
                b, 0, b, 4, 2
            ),
            "size is 2; it must be a multiple of 4",
        ),
        (
            lambda e, b: e.copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size_(
                b, 0, b, 4, 8
            ),
            r"bytes 0\.\.8 and 4\.\.12 of .* overlap; copy through another buffer",
        ),
        (
            lambda e, b: e.copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size_(
                b, 0, b, 12, 8
            ),
            r"bytes 12\.\.20 of .*, which has only 16 bytes",
        ),
        (lambda e, b: e.fillBuffer_range_value_(b, (0, 4), 256), "value 256 is not a byte"),
        (lambda e, b: e.fillBuffer_range_value_(b, (0, 0), 1), "the range is empty"),
        (lambda e, b: e.fillBuffer_range_value_(b, 3, 1), "the range is 3; give an NSRange"),
        (lambda e, b: e.synchronizeResource_(b), "is not of MTLStorageModeManaged"),
    ],
)
def test_misuse_of_a_blit_encoder_is_refused(
    device: MTLDevice, misuse: Callable[[Blit, MTLBuffer], object], message: str
) -> None:
    encoder = device.newCommandQueue().commandBuffer().blitCommandEncoder()
    with pytest.raises(MetalValidationError, match=message):
        misuse(encoder, numbered(device, *range(16)))


def test_pipelines_say_why_they_cannot_be_made(device: MTLDevice) -> None:
    state, error = device.newComputePipelineStateWithFunction_error_(
        function(device, "picture"), None
    )
    assert state is None and error is not None
    assert "kernel 'picture', argument 't': imageblocks are not emulated" in str(error)
    state, error = device.newComputePipelineStateWithFunction_error_(function(device, "huge"), None)
    assert state is None and error is not None
    assert "declares 40000 B of threadgroup memory; a threadgroup has 32768 B" in str(error)


def test_code_for_a_required_size_is_made_ahead_and_other_sizes_are_refused() -> None:
    kernel = FakeKernel("nothing", lambda *given: None, [])
    device = fake_device(kernels={"nothing": kernel})
    descriptor = Metal.MTLComputePipelineDescriptor.alloc().init()
    descriptor.setComputeFunction_(function(device, "nothing"))
    descriptor.setRequiredThreadsPerThreadgroup_((8, 4, 1))
    state, _, error = device.newComputePipelineStateWithDescriptor_options_reflection_error_(
        descriptor, 0, None, None
    )
    assert state is not None and error is None
    assert state.requiredThreadsPerThreadgroup() == (8, 4, 1)
    deadline = time.monotonic() + 5
    while not kernel.specialised and time.monotonic() < deadline:
        time.sleep(0.001)
    assert kernel.specialised == [(8, 4, 1)]
    encoder = device.newCommandQueue().commandBuffer().computeCommandEncoder()
    encoder.setComputePipelineState_(state)
    encoder.dispatchThreadgroups_threadsPerThreadgroup_((1, 1, 1), (8, 4, 1))
    with pytest.raises(MetalValidationError, match=r"is \(4, 8, 1\); .* requires \(8, 4, 1\)"):
        encoder.dispatchThreadgroups_threadsPerThreadgroup_((1, 1, 1), (4, 8, 1))


def test_a_pipeline_descriptor_lowers_limits_and_reflection_lists_arguments(
    device: MTLDevice,
) -> None:
    descriptor = Metal.MTLComputePipelineDescriptor.alloc().init()
    descriptor.setComputeFunction_(function(device, "local"))
    descriptor.setThreadGroupSizeIsMultipleOfThreadExecutionWidth_(True)
    descriptor.setMaxTotalThreadsPerThreadgroup_(128)
    descriptor.setLabel_("reduce")
    state, reflection, error = (
        device.newComputePipelineStateWithDescriptor_options_reflection_error_(
            descriptor, Metal.MTLPipelineOptionBindingInfo, None, None
        )
    )
    assert state is not None and reflection is not None and error is None
    assert (state.label(), state.threadExecutionWidth()) == ("reduce", 32)
    assert state.maxTotalThreadsPerThreadgroup() == 128
    assert state.staticThreadgroupMemoryLength() == 16384
    (binding,) = reflection.bindings()
    assert (binding.name(), binding.index()) == ("t", 1)
    assert binding.type() == Metal.MTLBindingTypeThreadgroupMemory
    assert binding.threadgroupMemoryDataSize() == 16
    with pytest.raises(MetalValidationError, match="argument 't' is no argument buffer"):
        device.newArgumentEncoderWithBufferBinding_(binding)
    assert binding.access() == Metal.MTLBindingAccessReadWrite
    encoder = device.newCommandQueue().commandBuffer().computeCommandEncoder()
    encoder.setComputePipelineState_(state)
    with pytest.raises(MetalValidationError, match="48 threads per threadgroup are not a multiple"):
        encoder.dispatchThreads_threadsPerThreadgroup_((1, 1, 1), (48, 1, 1))
