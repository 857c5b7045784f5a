"""Programs run as ever while they are recorded, and what they dispatch is kept."""

from __future__ import annotations

import mmap
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from assay.hal.metal import emulated
from assay.hal.metal.recorder import Chosen, RecordingMetal, Session
from assay.hal.recordings import Recording, RecordingWriter
from tests.support.recorded import (
    INFO,
    SCALE,
    SIZE,
    as_floats,
    counted,
    encode_scale,
    floats,
    pipeline,
    ran,
    record,
    scale,
)

SHARED, PRIVATE = emulated.MTLResourceStorageModeShared, emulated.MTLResourceStorageModePrivate


def test_a_program_computes_what_it_would_without_being_recorded(tmp_path: Path) -> None:
    found: list[list[float]] = []
    record(tmp_path / "a", lambda metal: found.append(as_floats(scale(metal, 3))))
    assert found == [as_floats(scale(emulated, 3))]


def test_queues_of_metal_4_are_refused(tmp_path: Path) -> None:
    def program(metal: Any) -> None:
        device = metal.MTLCreateSystemDefaultDevice()
        with pytest.raises(RuntimeError, match="queues of Metal 4 are not recorded"):
            device.newMTL4CommandQueue()
        with pytest.raises(RuntimeError, match="queues of Metal 4 are not recorded"):
            device.newMTL4CommandQueueWithDescriptor_error_(None, None)

    assert record(tmp_path / "a", program) == []


def test_a_dispatch_is_kept_with_all_that_it_could_reach(tmp_path: Path) -> None:
    (found,) = record(tmp_path / "a", scale)
    assert (found.grid, found.in_threads, found.threadgroup) == (SIZE, True, SIZE)
    assert [(each.index, each.memory, each.offset) for each in found.bound] == [
        (0, 0, 0),
        (1, 1, 0),
    ]
    assert (found.label, found.error, found.seconds > 0) == ("scaling", "", True)
    with Recording(tmp_path / "a") as recording:
        x, y = found.memories
        assert x.after is None, "it was only read"
        assert y.after is not None
        read = [recording.contents(each) for each in (x.before, y.before, y.after)]
        assert [np.frombuffer(data, np.float32)[1] for data in read] == [2.0, 0.0, 4.0]
        (by,) = found.inline
        assert (by.index, bytes(recording.contents(by.value))) == (2, np.float32(2).tobytes())
        header = recording.header
        assert header.kernels[found.kernel].name == "scale"
        assert recording.contents(header.libraries[0].data).decode() == SCALE


def test_queues_that_run_at_once_keep_no_more_than_the_limit(tmp_path: Path) -> None:
    def both(metal: Any) -> None:
        device = metal.MTLCreateSystemDefaultDevice()
        made = []
        for _ in range(2):
            commands = device.newCommandQueue().commandBuffer()
            encoder = commands.computeCommandEncoder()
            encode_scale(metal, encoder, floats(device, [1] * 8), floats(device, [0] * 8))
            for _ in range(3):
                encoder.dispatchThreads_threadsPerThreadgroup_(SIZE, SIZE)
            encoder.endEncoding()
            made.append(commands)
        for commands in made:
            commands.commit()
        for commands in made:
            commands.waitUntilCompleted()

    assert len(record(tmp_path / "a", both, Chosen(limit=1))) == 1
    with Recording(tmp_path / "a") as recording:
        assert recording.header.left_out == {"dispatches beyond --limit": 5}


@pytest.mark.parametrize(
    ("chosen", "kept", "left_out"),
    [
        (Chosen(limit=2), 2, {"dispatches beyond --limit": 4}),
        (Chosen(every=3), 2, {"dispatches between those of --every": 4}),
        (Chosen(kernels=["sc*"]), 6, {}),
        (Chosen(kernels=["other"]), 0, {"kernels that were not asked for": 6}),
    ],
)
def test_what_is_not_chosen_runs_and_is_counted(
    tmp_path: Path, chosen: Chosen, kept: int, left_out: dict[str, int]
) -> None:
    last: list[float] = []
    found, others = counted(
        tmp_path / "a", lambda metal: last.extend(as_floats(scale(metal, 6))), chosen
    )
    assert last[0] == 2.0**6
    assert (len(found), others) == (kept, left_out)


def test_dispatches_of_one_encoder_are_kept_one_by_one(tmp_path: Path) -> None:
    def twice(metal: Any) -> None:
        device = metal.MTLCreateSystemDefaultDevice()
        x = floats(device, np.ones(8))
        commands = device.newCommandQueue().commandBuffer()
        encoder = commands.computeCommandEncoder()
        encoder.setComputePipelineState_(pipeline(metal, device, SCALE, "scale"))
        encoder.setBuffers_offsets_withRange_([x, x], [0, 0], (0, 2))
        for by in (2.0, 3.0):
            encoder.setBytes_length_atIndex_(np.float32(by).tobytes(), 4, 2)
            encoder.dispatchThreads_threadsPerThreadgroup_(SIZE, SIZE)
        ran(commands, encoder)
        assert as_floats(x) == [6.0] * 8

    found = record(tmp_path / "a", twice)
    assert len(found) == 2
    first, second = (each.memories[0] for each in found)
    assert len(found[0].memories) == 1, "one buffer, at two indices"
    assert first.after == second.before


def test_what_a_program_writes_between_encoding_and_commit_is_what_runs(tmp_path: Path) -> None:
    def late(metal: Any) -> None:
        device = metal.MTLCreateSystemDefaultDevice()
        x, y = floats(device, np.ones(8)), floats(device, np.zeros(8))
        commands = device.newCommandQueue().commandBuffer()
        encoder = commands.computeCommandEncoder()
        encode_scale(metal, encoder, x, y)
        encoder.dispatchThreads_threadsPerThreadgroup_(SIZE, SIZE)
        encoder.endEncoding()
        memoryview(x.contents().as_buffer(32)).cast("B")[:] = np.full(8, 5, np.float32).tobytes()
        commands.commit()
        commands.waitUntilCompleted()
        assert as_floats(y) == [10.0] * 8

    record(tmp_path / "a", late)


def test_buffers_that_the_host_cannot_see_are_read_too(tmp_path: Path) -> None:
    def private(metal: Any) -> None:
        device = metal.MTLCreateSystemDefaultDevice()
        x = floats(device, np.arange(8))
        hidden = device.newBufferWithLength_options_(32, PRIVATE)
        commands = device.newCommandQueue().commandBuffer()
        blit = commands.blitCommandEncoder()
        blit.copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size_(x, 0, hidden, 0, 32)
        blit.endEncoding()
        encoder = commands.computeCommandEncoder()
        encode_scale(metal, encoder, hidden, hidden, 3)
        encoder.dispatchThreads_threadsPerThreadgroup_(SIZE, SIZE)
        ran(commands, encoder)

    (found,) = record(tmp_path / "a", private)
    with Recording(tmp_path / "a") as recording:
        memory = found.memories[0]
        assert memory.after is not None
        read = [recording.contents(each) for each in (memory.before, memory.after)]
        assert [np.frombuffer(data, np.float32)[2] for data in read] == [2.0, 6.0]


def test_grids_whose_size_lies_in_a_buffer_are_kept_as_they_were(tmp_path: Path) -> None:
    def indirect(metal: Any) -> None:
        device = metal.MTLCreateSystemDefaultDevice()
        x, y = floats(device, np.ones(8)), floats(device, np.zeros(8))
        size = np.array([9, 2, 1, 1], np.uint32)
        counts = device.newBufferWithBytes_length_options_(size, size.nbytes, SHARED)
        commands = device.newCommandQueue().commandBuffer()
        encoder = commands.computeCommandEncoder()
        encode_scale(metal, encoder, x, y)
        encoder.dispatchThreadgroupsWithIndirectBuffer_indirectBufferOffset_threadsPerThreadgroup_(
            counts, 4, (4, 1, 1)
        )
        ran(commands, encoder)
        assert as_floats(y) == [2.0] * 8

    (found,) = record(tmp_path / "a", indirect)
    assert (found.grid, found.in_threads, found.threadgroup) == ((2, 1, 1), False, (4, 1, 1))


def test_a_dispatch_that_fails_is_kept_with_what_the_device_said(tmp_path: Path) -> None:
    def short(metal: Any) -> None:
        device = metal.MTLCreateSystemDefaultDevice()
        x, y = floats(device, np.ones(8)), floats(device, np.zeros(2))
        commands = device.newCommandQueue().commandBuffer()
        encoder = commands.computeCommandEncoder()
        encode_scale(metal, encoder, x, y)
        encoder.dispatchThreads_threadsPerThreadgroup_(SIZE, SIZE)
        ran(commands, encoder)
        assert commands.error() is not None
        assert commands.status() == metal.MTLCommandBufferStatusError

    (found,) = record(tmp_path / "a", short)
    assert "write of 4 bytes" in found.error


def test_what_cannot_be_encoded_is_told_though_nobody_waits(tmp_path: Path) -> None:
    def too_large(metal: Any) -> None:
        device = metal.MTLCreateSystemDefaultDevice()
        x = floats(device, np.ones(8))
        commands = device.newCommandQueue().commandBuffer()
        encoder = commands.computeCommandEncoder()
        encode_scale(metal, encoder, x, x)
        encoder.dispatchThreads_threadsPerThreadgroup_(SIZE, (4096, 1, 1))
        encoder.endEncoding()
        commands.commit()

    found, others = counted(tmp_path / "a", too_large)
    assert found == []
    ((reason, count),) = others.items()
    assert count == 1
    assert "cannot be encoded: " in reason and "4096 threads; kernel 'scale' allows" in reason


def test_handlers_are_told_of_the_end_with_the_programs_own_command_buffer(tmp_path: Path) -> None:
    told: list[tuple[bool, int]] = []

    def handled(metal: Any) -> None:
        device = metal.MTLCreateSystemDefaultDevice()
        commands = device.newCommandQueue().commandBuffer()
        commands.addCompletedHandler_(
            lambda ended: told.append((ended is commands, ended.status()))
        )
        commands.commit()
        commands.waitUntilCompleted()

    record(tmp_path / "a", handled)
    assert told == [(True, emulated.MTLCommandBufferStatusCompleted)]


def test_handlers_may_wait_for_commands_of_their_queue(tmp_path: Path) -> None:
    done = threading.Event()

    def chained(metal: Any) -> None:
        device = metal.MTLCreateSystemDefaultDevice()
        queue = device.newCommandQueue()
        x = floats(device, np.ones(8))

        def commands() -> Any:
            made = queue.commandBuffer()
            encoder = made.computeCommandEncoder()
            encode_scale(metal, encoder, x, x)
            encoder.dispatchThreads_threadsPerThreadgroup_(SIZE, SIZE)
            encoder.endEncoding()
            return made

        def then(told: Any) -> None:
            told.waitUntilCompleted()  # it is
            second = commands()
            second.commit()
            second.waitUntilCompleted()
            assert as_floats(x) == [4.0] * 8
            done.set()

        first = commands()
        first.addCompletedHandler_(then)
        first.commit()
        assert done.wait(60)

    assert len(record(tmp_path / "a", chained)) == 2


def test_command_buffers_run_within_a_pool_for_what_pyobjc_hands_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []

    @contextmanager
    def pool() -> Iterator[None]:
        told.append("begins")
        yield
        told.append("ends")

    monkeypatch.setitem(sys.modules, "objc", SimpleNamespace(autorelease_pool=pool))
    record(tmp_path / "a", lambda metal: scale(metal, 2))
    assert told == ["begins", "ends"] * 2


def test_command_buffers_wait_for_events_of_other_queues(tmp_path: Path) -> None:
    def crossed(metal: Any) -> None:
        device = metal.MTLCreateSystemDefaultDevice()
        event = device.newSharedEvent()
        first, second = device.newCommandQueue(), device.newCommandQueue()
        waiting = first.commandBuffer()
        waiting.encodeWaitForEvent_value_(event, 1)
        waiting.commit()  # before what it waits for
        signalling = second.commandBuffer()
        signalling.encodeSignalEvent_value_(event, 1)
        signalling.commit()
        waiting.waitUntilCompleted()
        assert waiting.status() == metal.MTLCommandBufferStatusCompleted

    record(tmp_path / "a", crossed)


def test_a_pipeline_of_a_device_that_is_not_recorded_runs_and_is_counted(tmp_path: Path) -> None:
    def beside(metal: Any) -> None:
        device = metal.MTLCreateSystemDefaultDevice()
        x = floats(device, np.ones(8))
        commands = device.newCommandQueue().commandBuffer()
        encoder = commands.computeCommandEncoder()
        encode_scale(metal, encoder, x, x)
        encoder.setComputePipelineState_(pipeline(metal, x.device(), SCALE, "scale"))
        encoder.dispatchThreads_threadsPerThreadgroup_(SIZE, SIZE)
        ran(commands, encoder)
        assert as_floats(x) == [2.0] * 8

    assert counted(tmp_path / "a", beside) == ([], {"a pipeline of an unknown function": 1})


def test_what_hangs_does_not_keep_the_recording_from_being_closed(tmp_path: Path) -> None:
    writer = RecordingWriter(tmp_path / "a", INFO, "program")
    metal = RecordingMetal(Session(emulated, writer))
    scale(metal)
    device = metal.MTLCreateSystemDefaultDevice()
    event = device.newSharedEvent()
    commands = device.newCommandQueue().commandBuffer()
    commands.encodeWaitForEvent_value_(event, 1)
    commands.commit()
    assert not metal.finish(0.05)
    with Recording(tmp_path / "a") as recording:
        assert len(list(recording.dispatches())) == 1
    event.setSignaledValue_(1)
    commands.waitUntilCompleted()


def test_command_buffers_run_in_the_order_of_their_places_in_the_queue(tmp_path: Path) -> None:
    def ordered(metal: Any) -> None:
        device = metal.MTLCreateSystemDefaultDevice()
        queue = device.newCommandQueue()
        x, y = floats(device, np.ones(8)), floats(device, np.zeros(8))
        first, second = queue.commandBuffer(), queue.commandBuffer()
        first.enqueue()
        second.enqueue()
        for commands, source, target in ((second, y, x), (first, x, y)):
            encoder = commands.computeCommandEncoder()
            encode_scale(metal, encoder, source, target, 3.0)
            encoder.dispatchThreads_threadsPerThreadgroup_(SIZE, SIZE)
            encoder.endEncoding()
            commands.commit()
        second.waitUntilCompleted()
        assert first.status() == metal.MTLCommandBufferStatusCompleted
        assert (as_floats(x), as_floats(y)) == ([9.0] * 8, [3.0] * 8)

    assert len(record(tmp_path / "a", ordered)) == 2


def test_a_queue_may_have_as_many_unfinished_command_buffers_as_it_takes(tmp_path: Path) -> None:
    def full(metal: Any) -> None:
        device = metal.MTLCreateSystemDefaultDevice()
        x = floats(device, np.ones(8))
        event = device.newSharedEvent()
        queue = device.newCommandQueueWithMaxCommandBufferCount_(2)
        made = [queue.commandBuffer() for _ in range(2)]
        for commands in made:
            commands.encodeWaitForEvent_value_(event, 1)
            for _ in range(2):
                encoder = commands.computeCommandEncoder()
                encode_scale(metal, encoder, x, x)
                encoder.dispatchThreads_threadsPerThreadgroup_(SIZE, SIZE)
                encoder.endEncoding()
            commands.commit()
        event.setSignaledValue_(1)
        made[1].waitUntilCompleted()
        assert as_floats(x) == [16.0] * 8

    assert len(record(tmp_path / "a", full)) == 4


def test_what_is_scheduled_may_wait_for_an_event_of_the_program(tmp_path: Path) -> None:
    def waits(metal: Any) -> None:
        device = metal.MTLCreateSystemDefaultDevice()
        event = device.newSharedEvent()
        commands = device.newCommandQueue().commandBuffer()
        commands.encodeWaitForEvent_value_(event, 1)
        commands.commit()
        commands.waitUntilScheduled()
        assert commands.status() == metal.MTLCommandBufferStatusCommitted
        event.setSignaledValue_(1)
        commands.waitUntilCompleted()

    thread = threading.Thread(target=record, args=(tmp_path / "a", waits), daemon=True)
    thread.start()
    thread.join(60)
    assert not thread.is_alive()


def test_what_other_queues_write_meanwhile_is_not_taken_for_the_dispatchs(tmp_path: Path) -> None:
    def both(metal: Any) -> None:
        device = metal.MTLCreateSystemDefaultDevice()
        x = floats(device, np.ones(1 << 16))
        half = (1 << 15, 1, 1)
        made = []
        for start in (0, 1 << 17):
            queue = device.newCommandQueue()
            for _ in range(4):
                commands = queue.commandBuffer()
                encoder = commands.computeCommandEncoder()
                encode_scale(metal, encoder, x, x)
                encoder.setBuffer_offset_atIndex_(x, start, 0)
                encoder.setBuffer_offset_atIndex_(x, start, 1)
                encoder.dispatchThreads_threadsPerThreadgroup_(half, (64, 1, 1))
                encoder.endEncoding()
                made.append(commands)
        for commands in made:
            commands.commit()
        for commands in made:
            commands.waitUntilCompleted()

    changes = []
    for dispatch in record(tmp_path / "a", both):
        (memory,) = dispatch.memories
        assert memory.after is not None
        changes.append(sum(map(int.__ne__, memory.before.parts, memory.after.parts)))
    # The buffer has four parts, and each dispatch writes two of them.
    assert changes == [2] * 8


@pytest.mark.parametrize("kind", ["heap", "host"])
def test_buffers_over_each_other_are_counted_with_their_reason(tmp_path: Path, kind: str) -> None:
    def over(metal: Any) -> None:
        device = metal.MTLCreateSystemDefaultDevice()
        if kind == "heap":
            described = metal.MTLHeapDescriptor.new()
            described.setSize_(4096)
            described.setType_(metal.MTLHeapTypePlacement)
            described.setStorageMode_(SHARED)
            heap = device.newHeapWithDescriptor_(described)
            make = heap.newBufferWithLength_options_offset_
            x, y = (make(1024, SHARED, offset) for offset in (0, 512))
        else:
            page = mmap.mmap(-1, mmap.PAGESIZE * 4)
            make = device.newBufferWithBytesNoCopy_length_options_deallocator_
            x, y = (make(page, len(page), SHARED, None) for _ in range(2))
        commands = device.newCommandQueue().commandBuffer()
        encoder = commands.computeCommandEncoder()
        encode_scale(metal, encoder, x, y)
        encoder.dispatchThreads_threadsPerThreadgroup_(SIZE, SIZE)
        ran(commands, encoder)

    assert counted(tmp_path / "a", over) == ([], {"buffers of the same memory": 1})
