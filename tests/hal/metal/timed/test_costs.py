"""Compilers that ask what a kernel costs get what a prediction of the same run says."""

from __future__ import annotations

import math

import numpy as np
import pytest

import assay
from assay.compiler.costs import CostError, Costs, KernelUse
from assay.compiler.msl import compile_library
from assay.hal.metal.timed import ChipCosts
from assay.hw.apple.facts.chips import chip
from tests.support.msl import PRELUDE

SOURCE = (
    PRELUDE
    + """
kernel void work(device const float* x, device float* y, constant uint& rounds,
                 threadgroup float* room, uint i [[thread_position_in_grid]],
                 uint t [[thread_index_in_threadgroup]]) {
    room[t] = x[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float v = room[t ^ 1];
    for (uint n = 0; n < rounds; n++) v = fma(v, 1.5f, 0.5f);
    y[i] = v;
}"""
)
GROUPS, SIZE, ROOM = 512, 128, 4096
BYTES = 4 * GROUPS * SIZE


def use(rounds: int, size: int = BYTES) -> KernelUse:
    return KernelUse(
        kernel=compile_library(SOURCE).function("work"),
        threadgroups=(GROUPS, 1, 1),
        threadgroup=(SIZE, 1, 1),
        arguments=(size, size, np.uint32(rounds).tobytes(), ROOM),
    )


def test_a_cost_is_the_time_that_is_predicted_of_the_same_run() -> None:
    costs: Costs = ChipCosts(chip("m2-pro"))
    found = costs.cost_of(use(50))
    array = np.zeros(BYTES // 4, np.float32)
    arguments = (array, array, 50, ROOM)
    timed = assay.time(
        SOURCE, "work", *arguments, threadgroups=GROUPS, threadgroup=SIZE, chip="m2-pro"
    )
    assert found.seconds == pytest.approx(timed.seconds, rel=0.01)
    assert math.isclose(sum(found.causes.values()), found.seconds, rel_tol=1e-6)


def test_of_two_ways_the_one_that_does_less_costs_less() -> None:
    costs = ChipCosts(chip("m1"))
    assert costs.cost_of(use(400)).seconds > 2 * costs.cost_of(use(40)).seconds


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (use(1, size=64), "kernel 'work' has no cost: .*out-of-bounds"),
        (
            KernelUse(
                kernel=use(1).kernel,
                threadgroups=(1, 1, 1),
                threadgroup=(32, 1, 1),
                arguments=(64, 64),
            ),
            "takes 4 arguments .x, y, rounds, room., 2 given",
        ),
    ],
)
def test_what_cannot_run_has_no_cost_and_it_is_said_why(wrong: KernelUse, message: str) -> None:
    with pytest.raises(CostError, match=message):
        ChipCosts(chip("m1")).cost_of(wrong)
