"""Indirect command buffers and indirect dispatches."""

import numpy as np
import pytest

from assay.hal.metal import emulated as Metal
from assay.hal.metal.emulated import MetalValidationError, MTLComputeCommandEncoder
from tests.support.metal_bench import ONE, SHARED, Bench, message_of, values_of

SOURCE = """
kernel void add(device int* a [[buffer(0)]], constant int& n [[buffer(1)]],
                uint i [[thread_position_in_grid]]) { a[i] += n; }
kernel void twice(device int* a [[buffer(0)]], threadgroup int* t [[threadgroup(0)]],
                  uint i [[thread_position_in_grid]], uint j [[thread_index_in_threadgroup]]) {
    t[j] = a[i];
    a[i] = 2 * t[j];
}
"""
GROUPS = Metal.MTLIndirectCommandTypeConcurrentDispatch
THREADS = Metal.MTLIndirectCommandTypeConcurrentDispatchThreads
READ, WRITE = Metal.MTLResourceUsageRead, Metal.MTLResourceUsageWrite


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench(SOURCE)


def commands_of(
    bench: Bench,
    count: int,
    *,
    types: int = GROUPS | THREADS,
    pipeline: bool = False,
    buffers: bool = False,
) -> Metal.MTLIndirectCommandBuffer:
    descriptor = Metal.MTLIndirectCommandBufferDescriptor.alloc().init()
    descriptor.setCommandTypes_(types)
    descriptor.setInheritPipelineState_(pipeline)
    descriptor.setInheritBuffers_(buffers)
    descriptor.setMaxKernelBufferBindCount_(4)
    return bench.device.newIndirectCommandBufferWithDescriptor_maxCommandCount_options_(
        descriptor, count, SHARED
    )


def encode_adds(
    bench: Bench, commands: Metal.MTLIndirectCommandBuffer, target: Metal.MTLBuffer, *amounts: int
) -> list[Metal.MTLBuffer]:
    """Command k adds amounts[k] to element k; returns the buffers of the amounts."""
    pipeline = bench.pipeline("add", in_indirect=True)
    kept = [bench.buffer([amount]) for amount in amounts]
    for index, amount in enumerate(kept):
        command = commands.indirectComputeCommandAtIndex_(index)
        command.setComputePipelineState_(pipeline)
        command.setKernelBuffer_offset_atIndex_(target, 4 * index, 0)
        command.setKernelBuffer_offset_atIndex_(amount, 0, 1)
        command.concurrentDispatchThreads_threadsPerThreadgroup_(ONE, ONE)
    return kept


def test_commands_run_with_what_they_were_encoded_with(bench: Bench) -> None:
    target = bench.buffer([0] * 5)
    commands = commands_of(bench, 5)
    kept = encode_adds(bench, commands, target, 1, 2, 3, 4)

    def encode(encoder: MTLComputeCommandEncoder) -> None:
        encoder.useResources_count_usage_([target, *kept], 5, READ | WRITE)
        encoder.useResource_usage_(commands, READ)
        encoder.executeCommandsInBuffer_withRange_(commands, (1, 4))

    for _ in range(2):
        assert message_of(bench.run(encode)) == ""
    assert values_of(target) == [0, 4, 6, 8, 0]


def test_buffers_of_commands_must_be_made_resident(bench: Bench) -> None:
    target = bench.buffer([0] * 4, "target")
    commands = commands_of(bench, 4)
    kept = encode_adds(bench, commands, target, 1)

    def encode(encoder: MTLComputeCommandEncoder) -> None:
        encoder.useResources_count_usage_(kept, 1, READ)
        encoder.executeCommandsInBuffer_withRange_(commands, (0, 1))

    assert "target (argument 'a'), which is not resident" in message_of(bench.run(encode))
    assert values_of(target) == [0] * 4


def test_commands_inherit_the_encoders_kernel_and_buffers(bench: Bench) -> None:
    target = bench.buffer([1, 2, 3, 4])
    commands = commands_of(bench, 1, pipeline=True, buffers=True)
    command = commands.indirectComputeCommandAtIndex_(0)
    command.concurrentDispatchThreadgroups_threadsPerThreadgroup_((2, 1, 1), (2, 1, 1))
    with pytest.raises(MetalValidationError, match="inherits the pipeline state"):
        command.setComputePipelineState_(bench.pipeline("add", in_indirect=True))
    with pytest.raises(MetalValidationError, match="inherits buffers"):
        command.setKernelBuffer_offset_atIndex_(target, 0, 0)

    def encode(encoder: MTLComputeCommandEncoder) -> None:
        encoder.setComputePipelineState_(bench.pipeline("add", in_indirect=True))
        encoder.setBuffer_offset_atIndex_(target, 0, 0)
        encoder.setBytes_length_atIndex_(np.int32(10), 4, 1)
        encoder.executeCommandsInBuffer_withRange_(commands, (0, 1))

    assert message_of(bench.run(encode)) == ""
    assert values_of(target) == [11, 12, 13, 14]


def test_a_pipeline_must_be_made_for_indirect_command_buffers(bench: Bench) -> None:
    command = commands_of(bench, 1).indirectComputeCommandAtIndex_(0)
    assert not bench.pipeline("add").supportIndirectCommandBuffers()
    with pytest.raises(MetalValidationError, match="setSupportIndirectCommandBuffers_"):
        command.setComputePipelineState_(bench.pipeline("add"))


def test_only_the_descriptors_types_of_commands_are_encoded(bench: Bench) -> None:
    command = commands_of(bench, 1, types=GROUPS).indirectComputeCommandAtIndex_(0)
    with pytest.raises(MetalValidationError, match="setCommandTypes_"):
        command.concurrentDispatchThreads_threadsPerThreadgroup_(ONE, ONE)
    with pytest.raises(MetalValidationError, match="drawing is not"):
        commands_of(bench, 1, types=Metal.MTLIndirectCommandTypeDraw)
    with pytest.raises(MetalValidationError, match="names no command"):
        commands_of(bench, 1, types=0)


def test_indices_beyond_the_descriptor_are_refused(bench: Bench) -> None:
    commands = commands_of(bench, 2)
    command = commands.indirectComputeCommandAtIndex_(1)
    with pytest.raises(MetalValidationError, match="the descriptor allows 4"):
        command.setKernelBuffer_offset_atIndex_(bench.buffer([1]), 0, 4)
    with pytest.raises(MetalValidationError, match="there are 2 commands"):
        commands.indirectComputeCommandAtIndex_(2)
    with pytest.raises(MetalValidationError, match="that has 2"):
        commands.resetWithRange_((1, 2))


def test_a_command_that_lacks_its_kernel_names_itself(bench: Bench) -> None:
    commands = commands_of(bench, 3)
    commands.setLabel_("work")
    commands.indirectComputeCommandAtIndex_(2).concurrentDispatchThreads_threadsPerThreadgroup_(
        ONE, ONE
    )

    def encode(encoder: MTLComputeCommandEncoder) -> None:
        encoder.executeCommandsInBuffer_withRange_(commands, (0, 3))

    message = message_of(bench.run(encode))
    assert "command 2 of <MTLIndirectCommandBuffer 'work'> has a grid but no pipeline" in message


def test_threadgroup_memory_of_commands(bench: Bench) -> None:
    target = bench.buffer([1, 2, 3, 4])
    commands = commands_of(bench, 1)
    command = commands.indirectComputeCommandAtIndex_(0)
    command.setComputePipelineState_(bench.pipeline("twice", in_indirect=True))
    command.setKernelBuffer_offset_atIndex_(target, 0, 0)
    command.setThreadgroupMemoryLength_atIndex_(16, 0)
    command.concurrentDispatchThreadgroups_threadsPerThreadgroup_(ONE, (4, 1, 1))

    def encode(encoder: MTLComputeCommandEncoder) -> None:
        encoder.useResource_usage_(target, READ | WRITE)
        encoder.executeCommandsInBuffer_withRange_(commands, (0, 1))

    assert message_of(bench.run(encode)) == ""
    assert values_of(target) == [2, 4, 6, 8]


def test_a_buffer_says_which_commands_run(bench: Bench) -> None:
    target = bench.buffer([0] * 4)
    commands = commands_of(bench, 4)
    kept = encode_adds(bench, commands, target, 1, 2, 3, 4)
    span = bench.buffer([9, 2, 2])

    def encode(encoder: MTLComputeCommandEncoder) -> None:
        encoder.useResources_count_usage_([target, *kept], 5, READ | WRITE)
        encoder.executeCommandsInBuffer_indirectBuffer_indirectBufferOffset_(commands, span, 4)

    assert message_of(bench.run(encode)) == ""
    assert values_of(target) == [0, 0, 3, 4]
    span.contents()[8] = b"\x03"
    assert "commands 2..5, read at byte 4 of" in message_of(bench.run(encode))


def test_blits_reset_and_copy_commands(bench: Bench) -> None:
    target = bench.buffer([0] * 4)
    commands, others = commands_of(bench, 4), commands_of(bench, 4)
    kept = encode_adds(bench, commands, target, 1, 2, 3, 4)
    command_buffer = bench.queue.commandBuffer()
    blit = command_buffer.blitCommandEncoder()
    blit.copyIndirectCommandBuffer_sourceRange_destination_destinationIndex_(
        commands, (1, 3), others, 0
    )
    blit.resetCommandsInBuffer_withRange_(others, (1, 1))
    blit.optimizeIndirectCommandBuffer_withRange_(others, (0, 4))
    blit.endEncoding()
    encoder = command_buffer.computeCommandEncoder()
    encoder.useResources_count_usage_([target, *kept], 5, READ | WRITE)
    encoder.executeCommandsInBuffer_withRange_(others, (0, 4))
    encoder.endEncoding()
    command_buffer.commit()
    command_buffer.waitUntilCompleted()
    assert message_of(command_buffer) == ""
    assert values_of(target) == [0, 2, 0, 4]


def dispatch_indirectly(bench: Bench, groups: list[int], target: Metal.MTLBuffer) -> str:
    size = bench.buffer(np.array(groups, np.uint32).view(np.int32), "sizes")

    def encode(encoder: MTLComputeCommandEncoder) -> None:
        bench.start(encoder, "add", target)
        encoder.setBytes_length_atIndex_(np.int32(1), 4, 1)
        encoder.dispatchThreadgroupsWithIndirectBuffer_indirectBufferOffset_threadsPerThreadgroup_(
            size, 0, (2, 1, 1)
        )

    return message_of(bench.run(encode))


def test_an_indirect_dispatch_of_nothing_runs_nothing(bench: Bench) -> None:
    target = bench.buffer([0, 0, 0, 0])
    assert dispatch_indirectly(bench, [0, 1, 1], target) == ""
    assert values_of(target) == [0, 0, 0, 0]
    assert dispatch_indirectly(bench, [2, 1, 1], target) == ""
    assert values_of(target) == [1, 1, 1, 1]


def test_an_indirect_dispatch_of_impossible_size_says_where_the_numbers_were(
    bench: Bench,
) -> None:
    message = dispatch_indirectly(bench, [1 << 31, 1, 1], bench.buffer([0]))
    assert "kernel 'add': (2147483648, 1, 1), read at byte 0 of <MTLBuffer 'sizes'" in message
    assert "too large" in message
