"""Results of small programs with made-up predictions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from assay.hal.metal import emulated as metal
from assay.hal.metal.timed import schedule_of
from assay.hal.metal.timed.timer import Dispatched, PassLog, ProgramTimer
from assay.hw.apple.facts.chips import chip
from assay.prediction.result import TimeResult, result_of
from tests.support.predictions import FILE, MadeUp
from tests.support.timed_program import COUNT, Program

SOURCE = """#include <metal_stdlib>
using namespace metal;
void load_tile() {
    // loads
}
void compute() {} // computes

kernel void gemm() {
    load_tile();
    compute();
    threadgroup_barrier(mem_flags::mem_threadgroup);
}
"""


def made_up_result_of_queues(counts: tuple[int, ...]) -> TimeResult:
    """A program with one queue for each count of threads; all run one dispatch at the same time."""
    program = Program()
    buffers = [program.buffer(np.ones(count, np.float32)) for count in counts]
    timer = ProgramTimer(MadeUp(timelines=True), results=False)
    with metal.timing(timer):
        waiting = []
        for count, buffer in zip(counts, buffers, strict=True):
            commands = program.device.newCommandQueue().commandBuffer()
            encoder = commands.computeCommandEncoder()
            program.scale(encoder, buffer, 2.0, count)
            encoder.endEncoding()
            commands.commit()
            waiting.append(commands)
        for commands in waiting:
            commands.waitUntilCompleted()
    return result_of(
        schedule_of(timer.buffers, timer.calls, chip("m1")),
        program="made up",
        chip=chip("m1"),
    )


def made_up_result(counts: tuple[int, ...] = (COUNT,), *, timelines: bool = False) -> TimeResult:
    """A program with one dispatch for each count of threads, in threadgroups of 64."""
    program = Program()
    buffer = program.buffer(np.ones(max(counts), np.float32))
    timer = ProgramTimer(MadeUp(timelines=timelines), results=False)
    with metal.timing(timer):
        commands = program.queue.commandBuffer()
        encoder = commands.computeCommandEncoder()
        for count in counts:
            program.scale(encoder, buffer, 2.0, count)
        encoder.endEncoding()
        program.finish(commands)
    for step in timer.buffers[0].steps:
        assert isinstance(step, PassLog)
        work = [item for item in step.work if isinstance(item, Dispatched)]
        step.work = [replace(item, sources={FILE: SOURCE}) for item in work]
    return result_of(
        schedule_of(timer.buffers, timer.calls, chip("m1")),
        program="made up",
        chip=chip("m1"),
    )
