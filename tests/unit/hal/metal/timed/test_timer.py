"""What a timer sees of a program on the emulated device, and that the program does not notice."""

from __future__ import annotations

import numpy as np

from assay.hal.metal import emulated as metal
from assay.hal.metal.timed.order import Event
from assay.hal.metal.timed.schedule import schedule_of
from assay.hal.metal.timed.timer import Copied, Dispatched, PassLog, ProgramTimer
from assay.hw.apple.facts.chips import chip
from assay.prediction.result import TimeResult, result_of
from tests.support.predictions import MadeUp
from tests.support.timed_program import COUNT, Program, floats


def result(timer: ProgramTimer) -> TimeResult:
    return result_of(
        schedule_of(timer.buffers, timer.calls, chip("m1")),
        program="test",
        chip=chip("m1"),
    )


def test_a_timed_program_computes_what_it_does_untimed() -> None:
    program = Program()
    buffer = program.buffer(np.arange(COUNT, dtype=np.float32))
    timer = ProgramTimer(MadeUp())
    with metal.timing(timer):
        commands = program.queue.commandBuffer()
        encoder = commands.computeCommandEncoder()
        for _ in range(3):
            program.scale(encoder, buffer, 2.0)
        encoder.endEncoding()
        program.finish(commands)
    assert (floats(buffer) == np.arange(COUNT) * 8 + 7).all()
    assert timer.dispatches == 3


def test_nothing_is_seen_outside_of_the_block() -> None:
    program = Program()
    buffer = program.buffer(np.zeros(COUNT, np.float32))
    timer = ProgramTimer(MadeUp())
    with metal.timing(timer):
        pass
    commands = program.queue.commandBuffer()
    encoder = commands.computeCommandEncoder()
    program.scale(encoder, buffer, 2.0)
    encoder.endEncoding()
    program.finish(commands)
    assert timer.dispatches == 0 and timer.buffers == []


def test_without_results_nothing_is_executed() -> None:
    program = Program()
    buffer = program.buffer(np.ones(COUNT, np.float32))
    with metal.timing(ProgramTimer(MadeUp(), results=False)):
        commands = program.queue.commandBuffer()
        encoder = commands.computeCommandEncoder()
        program.scale(encoder, buffer, 2.0)
        encoder.endEncoding()
        program.finish(commands)
    assert (floats(buffer) == 1).all()


def test_the_log_has_command_buffers_passes_copies_events_and_what_may_overlap() -> None:
    program = Program()
    first, second = (program.buffer(np.ones(COUNT, np.float32)) for _ in range(2))
    timer = ProgramTimer(MadeUp())
    event = program.device.newEvent()
    with metal.timing(timer):
        commands = program.queue.commandBuffer()
        commands.setLabel_("step")
        encoder = commands.computeCommandEncoderWithDispatchType_(metal.MTLDispatchTypeConcurrent)
        encoder.setLabel_("both")
        program.scale(encoder, first, 2.0)
        program.scale(encoder, second, 2.0)
        encoder.memoryBarrierWithScope_(metal.MTLBarrierScopeBuffers)
        program.scale(encoder, first, 3.0)
        encoder.endEncoding()
        commands.encodeSignalEvent_value_(event, 7)
        blit = commands.blitCommandEncoder()
        blit.copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size_(first, 0, second, 0, 64)
        blit.fillBuffer_range_value_(second, metal.NSMakeRange(64, 32), 0)
        blit.endEncoding()
        program.finish(commands)
    [buffer] = timer.buffers
    assert buffer.label == "step"
    compute, signal, copies = buffer.steps
    assert isinstance(compute, PassLog) and compute.label == "both"
    groups = [item.group for item in compute.work if isinstance(item, Dispatched)]
    assert groups[0] == groups[1] != groups[2]
    assert signal == Event(number=0, value=7, is_wait=False)
    assert isinstance(copies, PassLog) and not copies.is_compute
    assert copies.work == [Copied(name="copy", bytes=128), Copied(name="fill", bytes=32)]
    assert [call.is_wait for call in timer.calls] == [False, True]


def test_equal_dispatches_have_equal_keys_and_other_constants_or_grids_do_not() -> None:
    program = Program()
    first, second = (program.buffer(np.ones(COUNT, np.float32)) for _ in range(2))
    predictor = MadeUp()
    with metal.timing(ProgramTimer(predictor)):
        commands = program.queue.commandBuffer()
        encoder = commands.computeCommandEncoder()
        program.scale(encoder, first, 2.0)
        program.scale(encoder, second, 2.0)
        program.scale(encoder, first, 3.0)
        program.scale(encoder, first, 2.0, COUNT // 2)
        encoder.endEncoding()
        program.finish(commands)
    base, same, constant, grid = predictor.asked
    assert base == same and hash(base) == hash(same)
    assert len({base, constant, grid}) == 3


def test_what_depends_on_data_is_known() -> None:
    program = Program()
    buffer = program.buffer(np.ones(COUNT, np.float32))
    where = program.buffer(np.zeros(COUNT, np.uint32))
    predictor = MadeUp()
    with metal.timing(ProgramTimer(predictor)):
        commands = program.queue.commandBuffer()
        encoder = commands.computeCommandEncoder()
        program.scale(encoder, buffer, 2.0)
        encoder.setComputePipelineState_(program.pipelines["gather"])
        encoder.setBuffer_offset_atIndex_(buffer, 0, 0)
        encoder.setBuffer_offset_atIndex_(where, 0, 1)
        encoder.dispatchThreads_threadsPerThreadgroup_((COUNT, 1, 1), (64, 1, 1))
        encoder.endEncoding()
        program.finish(commands)
    assert [key.depends_on_data for key in predictor.asked] == [False, True]


def test_equal_argument_buffers_for_other_memory_have_equal_keys() -> None:
    program = Program()
    predictor = MadeUp()
    with metal.timing(ProgramTimer(predictor)):
        for by in (2.0, 2.0, 3.0):
            buffer = program.buffer(np.ones(COUNT, np.float32))
            raw = np.zeros(16, np.uint8)
            raw[:8] = np.array([buffer.gpuAddress()], np.uint64).view(np.uint8)
            raw[8:12] = np.array([by], np.float32).view(np.uint8)
            commands = program.queue.commandBuffer()
            encoder = commands.computeCommandEncoder()
            encoder.setComputePipelineState_(program.pipelines["indirect"])
            encoder.setBuffer_offset_atIndex_(program.buffer(raw), 0, 0)
            encoder.useResource_usage_(buffer, metal.MTLResourceUsageWrite)
            encoder.dispatchThreads_threadsPerThreadgroup_((COUNT, 1, 1), (64, 1, 1))
            encoder.endEncoding()
            program.finish(commands)
            assert floats(buffer)[5] == by
    first, second, other = predictor.asked
    assert first == second != other
    assert not first.depends_on_data


def test_the_result_has_every_dispatch_in_order_and_counts_equal_ones() -> None:
    program = Program()
    buffer = program.buffer(np.ones(COUNT, np.float32))
    timer = ProgramTimer(MadeUp())
    with metal.timing(timer):
        for _ in range(2):
            commands = program.queue.commandBuffer()
            encoder = commands.computeCommandEncoder()
            program.scale(encoder, buffer, 2.0)
            program.scale(encoder, buffer, 2.0, 64)
            encoder.endEncoding()
            program.finish(commands)
    found = result(timer)
    assert [each.same_as for each in found.dispatches] == [0, 1, 0, 1]
    assert [(each.number, count) for each, count in found.unique()] == [(0, 2), (1, 2)]
    assert found.simulations == 2
    assert found.cycles == 2 * 5000
    assert found.seconds < found.gpu_seconds < found.host_seconds
    assert sum(found.causes.values()) == found.cycles
    begins = [each.begin for each in found.dispatches]
    assert begins == sorted(begins)


def test_events_that_are_gone_are_not_taken_for_new_ones() -> None:
    program = Program()
    timer = ProgramTimer(MadeUp())
    with metal.timing(timer):
        for _ in range(3):
            commands = program.queue.commandBuffer()
            commands.encodeSignalEvent_value_(program.device.newEvent(), 1)
            program.finish(commands)
            del commands
    numbers = [step.number for each in timer.buffers for step in each.steps]  # type: ignore[union-attr]
    assert len(set(numbers)) == 3


def test_what_the_program_itself_signals_holds_nothing_up() -> None:
    program = Program()
    timer = ProgramTimer(MadeUp())
    event = program.device.newSharedEvent()
    with metal.timing(timer):
        commands = program.queue.commandBuffer()
        commands.encodeWaitForEvent_value_(event, 5)
        commands.commit()
        event.setSignaledValue_(5)
        commands.waitUntilCompleted()
    assert result(timer).schedule.stuck == ()


def test_programs_whose_files_have_one_name_keep_their_own_texts() -> None:
    from tests.support import timed_program as module

    one, other = Program(), Program()
    library, _ = other.device.newLibraryWithSource_options_error_(
        module.SOURCE.replace("+ 1", "+ 2"), None, None
    )
    function = library.newFunctionWithName_("scale")
    pipeline, _ = other.device.newComputePipelineStateWithFunction_error_(function, None)
    other.pipelines["scale"] = pipeline
    timer = ProgramTimer(MadeUp())
    with metal.timing(timer):
        for each in (one, other):
            commands = each.queue.commandBuffer()
            encoder = commands.computeCommandEncoder()
            each.scale(encoder, each.buffer(np.ones(COUNT, np.float32)), 2.0)
            encoder.endEncoding()
            each.finish(commands)
    first, second = result(timer).dispatches
    assert first.file == second.file
    assert "by + 1" in first.sources[first.file] and "by + 2" in second.sources[second.file]
