"""What kernels reach through addresses in memory: only what the program made resident."""

import numpy as np
import pytest

from assay.hal.metal import emulated as Metal
from assay.hal.metal.emulated import (
    MetalValidationError,
    MTLBuffer,
    MTLComputeCommandEncoder,
    checking,
)
from assay.sim.check import Checker, Finding
from tests.support.metal_bench import ONE, SHARED, Bench, message_of, values_of

SOURCE = """
struct Table {
    device const int* source [[id(0)]];
    device int* target [[id(1)]];
};
kernel void copy(constant Table& table [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    table.target[i] = table.source[i];
}
kernel void through(device ulong* address [[buffer(0)]], device int* result [[buffer(1)]]) {
    *result = **(device int* device*)address;
}
kernel void plain(device int* a [[buffer(0)]], uint i [[thread_position_in_grid]]) { a[i] += 1; }
"""
READ, WRITE = Metal.MTLResourceUsageRead, Metal.MTLResourceUsageWrite


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench(SOURCE)


def table_of(bench: Bench, source: MTLBuffer, target: MTLBuffer) -> MTLBuffer:
    encoder = bench.function("copy").newArgumentEncoderWithBufferIndex_(0)
    table = bench.device.newBufferWithLength_options_(encoder.encodedLength(), SHARED)
    encoder.setArgumentBuffer_offset_(table, 0)
    encoder.setBuffer_offset_atIndex_(source, 0, 0)
    encoder.setBuffer_offset_atIndex_(target, 0, 1)
    return table


@pytest.fixture
def source(bench: Bench) -> MTLBuffer:
    return bench.buffer([1, 2, 3, 4], "weights")


@pytest.fixture
def target(bench: Bench) -> MTLBuffer:
    return bench.buffer([0, 0, 0, 0], "result")


def run_copy(bench: Bench, table: MTLBuffer, *used: tuple[MTLBuffer, int]) -> str:
    def encode(encoder: MTLComputeCommandEncoder) -> None:
        bench.start(encoder, "copy", table)
        for buffer, usage in used:
            encoder.useResource_usage_(buffer, usage)
        encoder.dispatchThreads_threadsPerThreadgroup_((4, 1, 1), (4, 1, 1))

    return message_of(bench.run(encode))


def test_used_resources_are_reached(bench: Bench, source: MTLBuffer, target: MTLBuffer) -> None:
    table = table_of(bench, source, target)
    assert run_copy(bench, table, (source, READ), (target, WRITE)) == ""
    assert values_of(target) == [1, 2, 3, 4]


def test_a_resource_that_is_not_used_is_an_error_that_names_it_and_the_line(
    bench: Bench, source: MTLBuffer, target: MTLBuffer
) -> None:
    message = run_copy(bench, table_of(bench, source, target), (target, WRITE))
    assert "program_source.metal:9:" in message
    assert "not-resident read of 4 bytes at byte 0 of weights, which is not resident" in message
    assert "useResource_usage_" in message
    assert values_of(target) == [0, 0, 0, 0]


def test_a_resource_used_after_the_dispatch_comes_too_late(
    bench: Bench, source: MTLBuffer, target: MTLBuffer
) -> None:
    table = table_of(bench, source, target)

    def encode(encoder: MTLComputeCommandEncoder) -> None:
        bench.start(encoder, "copy", table)
        encoder.useResource_usage_(target, WRITE)
        encoder.dispatchThreads_threadsPerThreadgroup_((4, 1, 1), (4, 1, 1))
        encoder.useResource_usage_(source, READ)

    assert "not-resident read" in message_of(bench.run(encode))


def test_use_ends_with_the_encoder(bench: Bench, source: MTLBuffer, target: MTLBuffer) -> None:
    table = table_of(bench, source, target)
    command_buffer = bench.queue.commandBuffer()
    first = command_buffer.computeCommandEncoder()
    first.useResources_count_usage_([source, target], 2, READ | WRITE)
    first.endEncoding()
    second = command_buffer.computeCommandEncoder()
    bench.start(second, "copy", table)
    second.dispatchThreads_threadsPerThreadgroup_((4, 1, 1), (4, 1, 1))
    second.endEncoding()
    command_buffer.commit()
    command_buffer.waitUntilCompleted()
    assert "which is not resident" in message_of(command_buffer)


def test_a_bound_buffer_is_resident(bench: Bench, source: MTLBuffer, target: MTLBuffer) -> None:
    table = table_of(bench, source, target)

    def encode(encoder: MTLComputeCommandEncoder) -> None:
        bench.start(encoder, "copy", table, source, target)
        encoder.dispatchThreads_threadsPerThreadgroup_((4, 1, 1), (4, 1, 1))

    assert message_of(bench.run(encode)) == ""
    assert values_of(target) == [1, 2, 3, 4]


def test_heaps_make_all_their_buffers_resident(bench: Bench) -> None:
    descriptor = Metal.MTLHeapDescriptor.new()
    descriptor.setSize_(4096)
    descriptor.setStorageMode_(Metal.MTLStorageModeShared)
    heap = bench.device.newHeapWithDescriptor_(descriptor)
    source = heap.newBufferWithLength_options_(16, SHARED)
    target = heap.newBufferWithLength_options_(16, SHARED)
    assert source is not None and target is not None
    source.contents().as_buffer(16)[:] = np.arange(4, dtype=np.int32).tobytes()
    table = table_of(bench, source, target)

    def encode(encoder: MTLComputeCommandEncoder) -> None:
        bench.start(encoder, "copy", table)
        encoder.useHeaps_count_([heap], 1)
        encoder.dispatchThreads_threadsPerThreadgroup_((4, 1, 1), (4, 1, 1))

    assert message_of(bench.run(encode)) == ""
    assert values_of(target) == [0, 1, 2, 3]


def residency_set(bench: Bench, *members: MTLBuffer) -> Metal.MTLResidencySet:
    made, error = bench.device.newResidencySetWithDescriptor_error_(
        Metal.MTLResidencySetDescriptor.new(), None
    )
    assert error is None
    made.addAllocations_count_(members, len(members))
    return made


@pytest.mark.parametrize("of_queue", [False, True])
def test_residency_sets_make_buffers_resident_once_committed(
    bench: Bench, source: MTLBuffer, target: MTLBuffer, of_queue: bool
) -> None:
    table = table_of(bench, source, target)
    chosen = residency_set(bench, source, target)
    queue = bench.device.newCommandQueue()

    def run() -> str:
        command_buffer = queue.commandBuffer()
        if of_queue:
            queue.addResidencySet_(chosen)
        else:
            command_buffer.useResidencySet_(chosen)
        encoder = command_buffer.computeCommandEncoder()
        bench.start(encoder, "copy", table)
        encoder.dispatchThreads_threadsPerThreadgroup_((4, 1, 1), (4, 1, 1))
        encoder.endEncoding()
        command_buffer.commit()
        command_buffer.waitUntilCompleted()
        return message_of(command_buffer)

    assert "which is not resident" in run()
    chosen.commit()
    chosen.requestResidency()
    assert run() == ""
    assert values_of(target) == [1, 2, 3, 4]
    chosen.removeAllocation_(source)
    assert (chosen.allocationCount(), chosen.allocatedSize()) == (1, 32)
    assert run() == ""
    chosen.commit()
    assert "weights, which is not resident" in run()


def test_sets_of_other_devices_are_refused(bench: Bench, source: MTLBuffer) -> None:
    other = Bench(SOURCE)
    chosen = residency_set(bench)
    with pytest.raises(MetalValidationError, match="belongs to another device"):
        other.queue.addResidencySet_(chosen)
    with pytest.raises(MetalValidationError, match="belongs to another device"):
        residency_set(other).addAllocation_(source)


def test_an_address_that_the_program_wrote_needs_residency_too(bench: Bench) -> None:
    value, result = bench.buffer([42]), bench.buffer([0])
    address = bench.buffer(np.array([value.gpuAddress()], np.uint64).view(np.float64))

    def encode(encoder: MTLComputeCommandEncoder, *used: MTLBuffer) -> None:
        bench.start(encoder, "through", address, result)
        encoder.useResources_count_usage_(used, len(used), READ)
        encoder.dispatchThreads_threadsPerThreadgroup_(ONE, ONE)

    message = message_of(bench.run(encode))
    assert "a buffer without a label, which is not resident" in message
    assert message_of(bench.run(lambda encoder: encode(encoder, value))) == ""
    assert values_of(result) == [42]


def test_a_buffer_that_was_released_is_used_after_free(bench: Bench, target: MTLBuffer) -> None:
    table = table_of(bench, bench.buffer([1, 2, 3, 4], "weights"), target)
    message = run_copy(bench, table, (target, WRITE))
    assert "use-after-free read of 4 bytes at byte 0 of weights, which was released" in message


def test_an_emptied_buffer_is_out_of_reach_until_it_is_kept_again(
    bench: Bench, source: MTLBuffer, target: MTLBuffer
) -> None:
    table = table_of(bench, source, target)
    used = (source, READ), (target, WRITE)
    source.setPurgeableState_(Metal.MTLPurgeableStateEmpty)
    message = run_copy(bench, table, *used)
    assert "use-after-free" in message and "weights, which was emptied with" in message
    source.setPurgeableState_(Metal.MTLPurgeableStateNonVolatile)
    assert run_copy(bench, table, *used) == ""


def test_an_emptied_argument_is_used_after_free(bench: Bench) -> None:
    buffer = bench.buffer([1])
    buffer.setPurgeableState_(Metal.MTLPurgeableStateEmpty)

    def encode(encoder: MTLComputeCommandEncoder) -> None:
        bench.start(encoder, "plain", buffer)
        encoder.dispatchThreads_threadsPerThreadgroup_(ONE, ONE)

    message = message_of(bench.run(encode))
    assert "use-after-free" in message and "argument 'a', which was emptied" in message


def test_a_buffer_without_a_label_is_named_by_its_argument(bench: Bench) -> None:
    def encode(encoder: MTLComputeCommandEncoder) -> None:
        bench.start(encoder, "plain", bench.buffer([1]))
        encoder.dispatchThreads_threadsPerThreadgroup_((2, 1, 1), (2, 1, 1))

    message = message_of(bench.run(encode))
    assert "at byte 4 of argument 'a', which has 4 bytes" in message


def checked_copy(
    bench: Bench, table: MTLBuffer, *used: tuple[MTLBuffer, int], bound: tuple[MTLBuffer, ...] = ()
) -> list[Finding]:
    def encode(encoder: MTLComputeCommandEncoder) -> None:
        bench.start(encoder, "copy", table, *bound)
        for buffer, usage in used:
            encoder.useResource_usage_(buffer, usage)
        encoder.dispatchThreads_threadsPerThreadgroup_((4, 1, 1), (4, 1, 1))

    with checking(Checker(["bounds"])) as checker:
        bench.run(encode)
    return list(checker.findings)


def test_a_write_to_what_is_resident_for_reading_is_a_finding(
    bench: Bench, source: MTLBuffer, target: MTLBuffer
) -> None:
    table = table_of(bench, source, target)
    (finding,) = checked_copy(bench, table, (source, READ), (target, READ))
    assert (finding.kind, finding.site.line, finding.count) == ("read-only-write", 9, 4)
    assert "'result', which is made resident for reading only" in finding.message
    assert "MTLResourceUsageWrite" in finding.hint
    assert values_of(target) == [1, 2, 3, 4]


def test_usages_of_one_buffer_add_up(bench: Bench, source: MTLBuffer, target: MTLBuffer) -> None:
    table = table_of(bench, source, target)
    used = (source, READ), (target, READ), (target, WRITE)
    assert checked_copy(bench, table, *used) == []


def test_a_buffer_that_is_bound_too_may_be_written(
    bench: Bench, source: MTLBuffer, target: MTLBuffer
) -> None:
    table = table_of(bench, source, target)
    assert checked_copy(bench, table, (source, READ), (target, READ), bound=(target,)) == []


def test_a_buffer_that_is_not_resident_is_a_finding(
    bench: Bench, source: MTLBuffer, target: MTLBuffer
) -> None:
    table = table_of(bench, source, target)
    (finding,) = checked_copy(bench, table, (target, WRITE))
    assert (finding.check, finding.site.line) == ("bounds", 9)
    assert finding.kind.startswith("not-resident")
