"""Dispatches by their samples: what is taped of them, and the time that it tells."""

from __future__ import annotations

import numpy as np

from assay.compiler.msl import compile_library
from assay.hal.metal.emulated.resources.memory import zeroed
from assay.hw.apple.core.sampled import sampled_dispatch, time_sampled
from assay.hw.apple.facts.chips import chip
from assay.sim.simt import Memory, Tape, tape_dispatch
from tests.support.msl import PRELUDE

SOURCE = (
    PRELUDE
    + """
kernel void add(device float* x, threadgroup float* room, uint i [[thread_position_in_grid]],
                uint t [[thread_index_in_threadgroup]]) {
    room[t] = x[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    x[i] = room[t ^ 1] + 1;
}"""
)
COUNT, SIZE, ROOM = 1 << 16, 64, 16384


def test_only_the_sample_is_asked_for_and_tells_the_time_of_the_whole_grid() -> None:
    executable = compile_library(SOURCE).function("add").program().specialise((SIZE, 1, 1))
    memory = Memory()
    array = zeroed("sampled", COUNT * 4, COUNT * 4, 0)
    address = memory.register(array, name="x")
    dispatch = sampled_dispatch(chip("m1"), executable, (COUNT // SIZE, 1, 1), given_memory=ROOM)
    asked: list[tuple[int, int, int]] = []

    def taped(positions: tuple[tuple[int, int, int], ...]) -> Tape:
        asked.extend(positions)
        arguments = [address, ROOM]
        return tape_dispatch(executable, memory, arguments, threads=(COUNT, 1, 1), sample=positions)

    time = time_sampled(dispatch, taped, footprint=COUNT * 4)
    assert tuple(asked) == dispatch.sample.positions
    assert len(asked) < time.threadgroups == COUNT // SIZE
    assert time.occupancy == dispatch.resident(COUNT // SIZE)
    assert time.occupancy.limiter == "threadgroup memory"
    written = np.count_nonzero(array.view(np.float32))
    assert written == len(asked) * SIZE
