"""Which dispatches count as the same."""

from __future__ import annotations

import numpy as np

from assay.hal.metal import emulated as metal
from assay.hal.metal.timed import ProgramTimer
from tests.support.predictions import MadeUp
from tests.support.tensors import encoded, pipeline, run, tensor_of
from tests.support.timed_program import COUNT, Program, floats


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


def test_tensors_of_other_extents_have_other_keys() -> None:
    source = """
kernel void k(tensor<device float, dextents<int, 2>> x, uint i [[thread_position_in_grid]]) {
  for (int c = 0; c < x.get_extent(0); ++c) x[c, i] += 1;
}
"""
    device = metal.MTLDevice()
    predictor = MadeUp()
    kernel = pipeline(device, source, "k")
    with metal.timing(ProgramTimer(predictor)):
        for shape in ((4, 6), (4, 6), (4, 5)):
            tensor = tensor_of(device, np.zeros(shape, np.float32))
            assert not run(device, encoded(device, kernel, {0: tensor}, (4, 1, 1), (1, 1, 1)))
    first, second, other = predictor.asked
    assert first == second != other
