"""What the result of a timed program says of its dispatches."""

from __future__ import annotations

import numpy as np

from assay.hal.metal import emulated as metal
from assay.hal.metal.timed import ProgramTimer, schedule_of
from assay.hw.apple.facts.chips import chip
from assay.prediction.result import TimeResult, result_of
from tests.support.predictions import MadeUp
from tests.support.timed_program import COUNT, Program


def result(timer: ProgramTimer) -> TimeResult:
    return result_of(
        schedule_of(timer.buffers, timer.calls, chip("m1")),
        program="test",
        chip=chip("m1"),
    )


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
