"""Dispatches that are taped and simulated, and those that equal them."""

from __future__ import annotations

import numpy as np

from assay.hal.metal import emulated as metal
from assay.hal.metal.timed import ChipPredictor, ProgramTimer
from assay.hw.apple.facts.chips import chip
from tests.support.timed_program import COUNT, Program


def test_dispatches_whose_addresses_depend_on_data_are_told_apart_by_what_they_do() -> None:
    program = Program()
    x = program.buffer(np.ones(COUNT, np.float32))
    orders = [np.arange(COUNT), np.arange(COUNT), np.random.default_rng(1).permutation(COUNT)]
    predictor = ChipPredictor(chip("m1"), warm=True)
    with metal.timing(ProgramTimer(predictor)):
        commands = program.queue.commandBuffer()
        encoder = commands.computeCommandEncoder()
        encoder.setComputePipelineState_(program.pipelines["gather"])
        encoder.setBuffer_offset_atIndex_(x, 0, 0)
        for order in orders:
            at = program.buffer(order.astype(np.uint32))
            encoder.setBuffer_offset_atIndex_(at, 0, 1)
            encoder.dispatchThreads_threadsPerThreadgroup_((COUNT, 1, 1), (64, 1, 1))
        encoder.endEncoding()
        program.finish(commands)
    assert predictor.simulations >= 2
