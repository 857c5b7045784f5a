"""Which dispatches count as unordered for times and in indirect command buffers."""

from collections.abc import Callable, Sequence

import pytest

from assay.hal.metal import emulated as Metal
from assay.hal.metal.emulated import (
    MetalValidationError,
    MTLBuffer,
    MTLComputeCommandEncoder,
    MTLDevice,
    checking,
)
from assay.hal.metal.emulated.commands.commands import DispatchCommand
from assay.sim.check import Checker
from tests.support.metal_fakes import fake_device

CONCURRENT, SERIAL = Metal.MTLDispatchTypeConcurrent, Metal.MTLDispatchTypeSerial


class Bench:
    """A device, and the groups of the dispatches that it ran."""

    def __init__(self) -> None:
        self.groups: list[int] = []
        self.device = fake_device()
        library, _ = self.device.newLibraryWithSource_options_error_("kernels", None, None)
        assert library is not None
        function = library.newFunctionWithName_("add_one")
        assert function is not None
        descriptor = Metal.MTLComputePipelineDescriptor.new()
        descriptor.setComputeFunction_(function)
        descriptor.setSupportIndirectCommandBuffers_(True)
        make = self.device.newComputePipelineStateWithDescriptor_options_reflection_error_
        state, _, error = make(descriptor, 0, None, None)
        assert state is not None, error
        self.state = state
        self.buffer = self.device.newBufferWithLength_options_(64, 0)

    def pipeline_made(self, pipeline: Metal.MTLComputePipelineState) -> None:
        """Nothing."""

    def dispatch_begins(self, device: MTLDevice, command: DispatchCommand) -> None:
        self.groups.append(command.ordering)

    def dispatch(self, encoder: MTLComputeCommandEncoder, times: int = 1) -> None:
        encoder.setComputePipelineState_(self.state)
        encoder.setBuffers_offsets_withRange_([self.buffer, self.buffer], [0, 0], (0, 2))
        for _ in range(times):
            encoder.dispatchThreads_threadsPerThreadgroup_((1, 1, 1), (1, 1, 1))

    def run(self, kind: int, *encode: Callable[[MTLComputeCommandEncoder], None]) -> list[int]:
        """Groups of the dispatches, renumbered from 0; one encoder for each of `encode`."""
        command_buffer = self.device.newCommandQueue().commandBuffer()
        for step in encode:
            encoder = command_buffer.computeCommandEncoderWithDispatchType_(kind)
            step(encoder)
            encoder.endEncoding()
        with checking(Checker(), observer=self):
            command_buffer.commit()
            command_buffer.waitUntilCompleted()
        assert command_buffer.error() is None
        known: dict[int, int] = {}
        return [known.setdefault(group, len(known)) for group in self.groups]


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_dispatches_of_a_serial_encoder_are_ordered(bench: Bench) -> None:
    assert bench.run(SERIAL, lambda encoder: bench.dispatch(encoder, 3)) == [0, 1, 2]


def test_dispatches_of_a_concurrent_encoder_are_not(bench: Bench) -> None:
    assert bench.run(CONCURRENT, lambda encoder: bench.dispatch(encoder, 3)) == [0, 0, 0]


@pytest.mark.parametrize(
    ("barrier", "ordered"),
    [
        (lambda e, b: e.memoryBarrierWithScope_(Metal.MTLBarrierScopeBuffers), True),
        (lambda e, b: e.memoryBarrierWithScope_(Metal.MTLBarrierScopeTextures), True),
        (lambda e, b: e.memoryBarrierWithResources_count_([b], 1), True),
        (lambda e, b: e.memoryBarrierWithResources_count_([], 0), False),
    ],
)
def test_barriers_order(
    bench: Bench,
    barrier: Callable[[MTLComputeCommandEncoder, MTLBuffer], None],
    ordered: bool,
) -> None:
    def encode(encoder: MTLComputeCommandEncoder) -> None:
        bench.dispatch(encoder, 2)
        barrier(encoder, bench.buffer)
        bench.dispatch(encoder)

    assert bench.run(CONCURRENT, encode) == [0, 0, 1 if ordered else 0]


def test_encoders_are_ordered_among_each_other(bench: Bench) -> None:
    assert bench.run(CONCURRENT, *[lambda encoder: bench.dispatch(encoder, 2)] * 2) == [0, 0, 1, 1]


def test_commands_of_an_indirect_command_buffer_are_ordered_by_their_barriers(
    bench: Bench,
) -> None:
    descriptor = Metal.MTLIndirectCommandBufferDescriptor.new()
    descriptor.setCommandTypes_(Metal.MTLIndirectCommandTypeConcurrentDispatch)
    descriptor.setInheritPipelineState_(True)
    descriptor.setInheritBuffers_(True)
    make = bench.device.newIndirectCommandBufferWithDescriptor_maxCommandCount_options_
    commands = make(descriptor, 4, 0)
    for index in range(4):
        command = commands.indirectComputeCommandAtIndex_(index)
        command.concurrentDispatchThreadgroups_threadsPerThreadgroup_((1, 1, 1), (1, 1, 1))
        command.setBarrier()
        if index != 2:
            command.clearBarrier()

    def encode(encoder: MTLComputeCommandEncoder) -> None:
        bench.dispatch(encoder)
        encoder.executeCommandsInBuffer_withRange_(commands, (0, 4))
        bench.dispatch(encoder)

    assert bench.run(SERIAL, encode) == [0, 1, 1, 2, 2, 3]


def fenced(queue: Metal.MTLCommandQueue, steps: Sequence[tuple[str, Metal.MTLFence]]) -> None:
    command_buffer = queue.commandBuffer()
    for call, fence in steps:
        encoder = command_buffer.computeCommandEncoder()
        getattr(encoder, call)(fence)
        encoder.endEncoding()
    command_buffer.commit()
    command_buffer.waitUntilCompleted()
    assert command_buffer.error() is None


def test_a_fence_orders_encoders_of_one_queue_only(bench: Bench) -> None:
    fence = bench.device.newFence()
    queue = bench.device.newCommandQueue()
    fenced(queue, [("waitForFence_", fence), ("updateFence_", fence), ("waitForFence_", fence)])
    with pytest.raises(MetalValidationError, match="a fence orders the encoders of one queue"):
        fenced(bench.device.newCommandQueue(), [("waitForFence_", fence)])


def test_a_fence_of_another_device_is_refused(bench: Bench) -> None:
    with pytest.raises(MetalValidationError, match="belongs to another device"):
        fenced(bench.device.newCommandQueue(), [("updateFence_", Bench().device.newFence())])
