"""Dispatches by their samples: what is taped of them, and the time that it tells."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from assay.compiler.msl import compile_library
from assay.hal.metal.emulated.resources.memory import zeroed
from assay.hw.apple.core.model import TimingError
from assay.hw.apple.core.sample import Position
from assay.hw.apple.core.sampled import (
    SampledDispatch,
    sampled_dispatch,
    tape_sample,
    time_sampled,
)
from assay.hw.apple.facts.chips import chip
from assay.sim.simt import Memory, Tape, tape_dispatch
from assay.sim.simt.run.taping import TAPE_BYTES
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


def taping(
    limit: int, asked: list[int]
) -> tuple[SampledDispatch, Callable[[tuple[Position, ...]], Tape]]:
    """The kernel on an M1, and what tapes its threadgroups on so many bytes."""
    executable = compile_library(SOURCE).function("add").program().specialise((SIZE, 1, 1))
    memory = Memory()
    address = memory.register(zeroed("sampled", COUNT * 4, COUNT * 4, 0), name="x")
    grid = (COUNT // SIZE, 1, 1)
    dispatch = sampled_dispatch(chip("m1"), executable, grid, given_memory=ROOM, waves=9)

    def taped(positions: tuple[Position, ...]) -> Tape:
        asked.append(len(positions))
        given = [address, ROOM]
        return tape_dispatch(
            executable, memory, given, threads=(COUNT, 1, 1), sample=positions, limit=limit
        )

    return dispatch, taped


def test_of_a_tape_that_grows_too_large_fewer_waves_tell_the_time() -> None:
    asked: list[int] = []
    dispatch, taped = taping(TAPE_BYTES, asked)
    usual = time_sampled(dispatch, taped)
    limit = 1 << 12
    while taping(limit, [])[1](dispatch.sample.positions).truncated:
        limit *= 2
    dispatch, taped = taping(limit // 2, asked)
    fewer, tape = tape_sample(dispatch, taped)
    assert fewer.waves < dispatch.waves and not tape.truncated
    assert asked[-1] < asked[0] == len(dispatch.sample.positions)
    time = time_sampled(dispatch, taped)
    assert time.threadgroups == usual.threadgroups
    assert time.cycles == pytest.approx(usual.cycles, rel=0.2)


def test_a_tape_too_large_for_one_wave_is_an_error() -> None:
    dispatch, taped = taping(64, [])
    with pytest.raises(TimingError, match="the tape was cut short"):
        time_sampled(dispatch, taped)


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
