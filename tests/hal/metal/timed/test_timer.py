"""What a timer sees of a program on the emulated device, and that the program does not notice."""

from __future__ import annotations

import numpy as np

from assay.hal.metal import emulated as metal
from assay.hal.metal.timed import schedule_of
from assay.hal.metal.timed.order import Event
from assay.hal.metal.timed.timer import Copied, Dispatched, PassLog, ProgramTimer
from assay.hw.apple.facts.chips import chip
from tests.support.predictions import MadeUp
from tests.support.timed_program import COUNT, Program, floats


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
    scheduled = schedule_of(timer.buffers, timer.calls, chip("m1"))
    assert scheduled.schedule.stuck == ()
