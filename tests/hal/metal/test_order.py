"""Whatever is spread over queues and command buffers and ordered by events runs in that order."""

import struct
import threading
from collections.abc import Sequence

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.hal.metal import emulated as Metal
from assay.hal.metal.emulated import MTLBuffer, MTLCommandBuffer, MTLDevice
from tests.support.metal_fakes import FakeKernel, FakeMemory, argument, fake_device

SIZE = 32
BUFFERS = 3


def mix(memory: FakeMemory, arguments: Sequence[int], grid: tuple[int, int, int]) -> None:
    """target = 3 * target + source + key, as bytes."""
    source, target, key = (memory.at(address) for address in arguments)
    target[:SIZE] = (3 * target[:SIZE].astype(int) + source[:SIZE] + key[0]) % 256


KERNEL = FakeKernel(
    "mix",
    mix,
    [argument("s", 0, access="read"), argument("t", 1), argument("k", 2, access="read")],
)
buffers = st.integers(0, BUFFERS - 1)
words = st.integers(0, SIZE // 8 - 1).map(lambda word: 4 * word)
steps = st.one_of(
    st.tuples(st.just("mix"), buffers, buffers, st.integers(0, 255)),
    st.tuples(st.just("fill"), buffers, words, st.integers(0, 255)),
    st.tuples(st.just("copy"), buffers, buffers, words),
)
programs = st.lists(st.tuples(st.integers(0, 2), st.lists(steps, max_size=4)), max_size=8)


def expected(program: list[tuple[int, list[tuple]]]) -> list[list[int]]:
    state = [np.full(SIZE, number, dtype=np.uint8) for number in range(BUFFERS)]
    for _, commands in program:
        for kind, first, second, third in commands:
            if kind == "mix":
                mixed = 3 * state[second].astype(int) + state[first] + third
                state[second] = (mixed % 256).astype(np.uint8)
            elif kind == "fill":
                state[first][second : second + 4] = third
            elif first != second:
                state[second][third : third + 16] = state[first][: SIZE - third][:16]
    return [array.tolist() for array in state]


def encode(
    command_buffer: MTLCommandBuffer,
    pipeline: Metal.MTLComputePipelineState,
    step: tuple,
    memory: list[MTLBuffer],
) -> None:
    kind, first, second, third = step
    if kind == "mix":
        encoder = command_buffer.computeCommandEncoder()
        encoder.setComputePipelineState_(pipeline)
        encoder.setBuffer_offset_atIndex_(memory[first], 0, 0)
        encoder.setBuffer_offset_atIndex_(memory[second], 0, 1)
        encoder.setBytes_length_atIndex_(struct.pack("<I", third), 4, 2)
        encoder.dispatchThreads_threadsPerThreadgroup_((SIZE, 1, 1), (SIZE, 1, 1))
        encoder.endEncoding()
        return
    blit = command_buffer.blitCommandEncoder()
    if kind == "fill":
        blit.fillBuffer_range_value_(memory[first], (second, 4), third)
    elif first != second:
        blit.copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size_(
            memory[first], 0, memory[second], third, 16
        )
    blit.endEncoding()


def pipeline_of(device: MTLDevice) -> Metal.MTLComputePipelineState:
    library, _ = device.newLibraryWithSource_options_error_("", None, None)
    assert library is not None
    state, _ = device.newComputePipelineStateWithFunction_error_(
        library.newFunctionWithName_("mix"), None
    )
    assert state is not None
    return state


@settings(max_examples=60, deadline=None)
@given(programs)
def test_events_make_many_queues_equal_to_one_after_the_other(
    program: list[tuple[int, list[tuple]]],
) -> None:
    device = fake_device(kernels={"mix": KERNEL})
    pipeline = pipeline_of(device)
    event = device.newSharedEvent()
    queues = [device.newCommandQueue() for _ in range(3)]
    memory = [
        device.newBufferWithBytes_length_options_(bytes([number]) * SIZE, SIZE, 0)
        for number in range(BUFFERS)
    ]
    for turn, (queue, commands) in enumerate(program):
        command_buffer = queues[queue].commandBuffer()
        command_buffer.encodeWaitForEvent_value_(event, turn)
        for step in commands:
            encode(command_buffer, pipeline, step, memory)
        command_buffer.encodeSignalEvent_value_(event, turn + 1)
        command_buffer.commit()
    assert event.waitUntilSignaledValue_timeoutMS_(len(program), 30_000)
    assert [list(each.contents().as_buffer(SIZE)) for each in memory] == expected(program)


def test_threads_that_share_a_queue_lose_nothing() -> None:
    device = fake_device(kernels={"mix": KERNEL})
    pipeline = pipeline_of(device)
    queue = device.newCommandQueueWithMaxCommandBufferCount_(4)
    zero = device.newBufferWithLength_options_(SIZE, 0)
    finished = []
    wrong = []

    def work() -> None:
        for _ in range(50):
            target = device.newBufferWithLength_options_(SIZE, 0)
            command_buffer = queue.commandBuffer()
            for _ in range(3):
                encode(command_buffer, pipeline, ("mix", 0, 1, 1), [zero, target])
            command_buffer.addCompletedHandler_(finished.append)
            command_buffer.commit()
            command_buffer.waitUntilCompleted()
            if list(target.contents().as_buffer(SIZE)) != [13] * SIZE:
                wrong.append(command_buffer)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(finished) == 300 and not wrong
