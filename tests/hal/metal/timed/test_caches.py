"""What earlier dispatches of a program leave in the caches for later ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from assay.hal.metal import emulated as metal
from assay.hal.metal.timed import ProgramTimer
from assay.hal.metal.timed.caches import CacheHistory
from tests.support.predictions import MadeUp
from tests.support.timed_program import COUNT, Program

if TYPE_CHECKING:
    from assay.hal.metal.emulated import MTLDevice
    from assay.hal.metal.emulated.commands.commands import DispatchCommand
    from assay.hal.metal.timed import Prediction


class _Noting(MadeUp):
    """Notes which dispatches are warm, if DRAM moves `traffic` bytes for each."""

    def __init__(self, history: CacheHistory, traffic: float = 600.0) -> None:
        super().__init__()
        self.history = history
        self.traffic = traffic
        self.seen: list[bool] = []

    def __call__(self, device: MTLDevice, command: DispatchCommand) -> Prediction:
        uses = self.history.uses(device, command)
        self.seen.append(self.history.is_warm(uses))
        self.history.ran(uses, self.traffic)
        return super().__call__(device, command)


def test_data_that_were_pushed_out_of_the_cache_come_from_dram_again() -> None:
    program = Program()
    first, second = (program.buffer(np.ones(COUNT, np.float32)) for _ in range(2))
    noting = _Noting(CacheHistory(size=1000))
    with metal.timing(ProgramTimer(noting)):
        commands = program.queue.commandBuffer()
        encoder = commands.computeCommandEncoder()
        for buffer in (first, first, second, first, second, second, first):
            program.scale(encoder, buffer, 2.0)
        encoder.endEncoding()
        program.finish(commands)
    assert noting.seen == [False, True, False, True, True, True, False]


@pytest.mark.parametrize(
    ("cache", "traffic", "expected"),
    [
        (1 << 20, 2000.0, [False, True, True]),
        # Less than a buffer holds: what the next one reads of it may be what was not delivered.
        (1 << 20, 600.0, [False, False, False]),
        # A buffer that does not fit is read in parts, and which is not known.
        (1000, 2000.0, [False, False, False]),
    ],
)
def test_what_is_written_through_an_argument_buffer_is_in_the_cache_for_the_next(
    cache: int, traffic: float, expected: list[bool]
) -> None:
    program = Program()
    arrays = [program.buffer(np.ones(COUNT, np.float32)) for _ in range(4)]
    # A table with an entry for each dispatch, as IREE's driver has it.
    table = np.zeros((3, 1024), np.uint64)
    for number in range(3):
        table[number, :2] = [arrays[number + at].gpuAddress() for at in range(2)]
    entries = program.buffer(table)
    noting = _Noting(CacheHistory(size=cache), traffic)
    with metal.timing(ProgramTimer(noting)):
        commands = program.queue.commandBuffer()
        encoder = commands.computeCommandEncoder()
        encoder.setComputePipelineState_(program.pipelines["move"])
        for array in arrays:
            encoder.useResource_usage_(array, metal.MTLResourceUsageWrite)
        for number in range(3):
            encoder.setBuffer_offset_atIndex_(entries, number * 8192, 0)
            encoder.dispatchThreads_threadsPerThreadgroup_((COUNT, 1, 1), (64, 1, 1))
        encoder.endEncoding()
        program.finish(commands)
    assert noting.seen == expected
