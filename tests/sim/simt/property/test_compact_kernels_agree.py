"""Kernels of which few lanes run, or several threadgroups at once, leave what the reference does.

The same kernels are drawn in each run, and most of them have to be compact: else nothing is shown.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

import numpy as np
import pytest

from assay.sim.simt import Executable, KernelFault, Program
from assay.sim.simt.ir.shape import LANES
from tests.support.kernels import ENTRY, compile_cpp, on_engine, on_reference

from .compact_kernels import (
    INPUTS,
    OUTPUTS,
    PARAMETERS,
    CompactKernel,
    compact_kernel,
    packed_kernel,
)

# Among these some come out wrong if lanes were left out for any one reason that does not hold:
# if where a lane came from did not count, say, or who writes last.
_FEW_LANES, _PACKED = range(50, 98), range(22)
# `python -m tests.campaigns lanes` draws 2,000 of each.
_MORE = range(1000, 1000 + int(os.environ.get("ASSAY_LANE_CASES", "150")))


def _outcomes(kernel: CompactKernel, seed: int) -> list[object]:
    """What engine and reference leave in the buffers, or the faults that they end in."""
    chance = np.random.default_rng(seed)
    arguments = [
        chance.integers(0, 2**32, INPUTS, np.uint32),
        np.arange(INPUTS, dtype=np.uint32),
        *chance.integers(0, 2**32, (2, OUTPUTS), np.uint32),
        np.full(1, seed % 4, np.uint32),
    ]
    compiled = compile_cpp(kernel.source, PARAMETERS)
    grid = {"threads": kernel.threads, "threadgroups": kernel.threadgroups}
    runs: tuple[Callable[[], list[np.ndarray]], ...] = (
        lambda: on_engine(
            compiled, arguments, threadgroup_size=kernel.size, quick=seed % 2 == 1, **grid
        ),
        lambda: on_reference(
            compiled, arguments, threadgroup_size=kernel.size, lock_step=True, **grid
        ),
    )
    found: list[object] = []
    for run in runs:
        try:
            found.append([array.tolist() for array in run()])
        except KernelFault as fault:
            found.append(str(fault))
    return found


def _executables(kernels: Iterable[CompactKernel]) -> list[Executable]:
    """How the kernels were compiled when they ran."""
    programs = (
        (Program(compiled.bitcode, ENTRY, name="test_kernel", parameters=compiled.parameters), each)
        for each in kernels
        for compiled in (compile_cpp(each.source, PARAMETERS),)
    )
    return [
        program.specialise(each.size, quick=number % 2 == 1)
        for number, (program, each) in enumerate(programs)
    ]


@pytest.mark.parametrize("seed", _FEW_LANES)
def test_the_lanes_that_run_leave_what_all_lanes_leave_in_lock_step(seed: int) -> None:
    found, expected = _outcomes(compact_kernel(seed), seed)
    assert found == expected


@pytest.mark.parametrize("seed", _PACKED)
def test_threadgroups_at_once_leave_what_they_leave_one_after_the_other(seed: int) -> None:
    found, expected = _outcomes(packed_kernel(seed), seed)
    assert found == expected


def test_most_of_the_kernels_drawn_run_in_vectors_of_few_lanes_of_every_width() -> None:
    widths = [len(each.lanes) for each in _executables(map(compact_kernel, _FEW_LANES))]
    assert sum(width < LANES for width in widths) >= 0.7 * len(widths)
    assert {2, 4, 8, 16} <= set(widths)


def test_most_of_the_kernels_drawn_for_it_run_several_threadgroups_at_once() -> None:
    packs = [each.packs for each in _executables(map(packed_kernel, _PACKED))]
    assert sum(each > 1 for each in packs) >= 0.6 * len(packs)
    assert len(set(packs)) >= 4


@pytest.mark.slow
@pytest.mark.parametrize("draw", [compact_kernel, packed_kernel])
def test_many_more_kernels_leave_what_the_reference_leaves(
    draw: Callable[[int], CompactKernel],
) -> None:
    wrong = []
    for seed in _MORE:
        found, expected = _outcomes(draw(seed), seed)
        if found != expected:
            wrong.append(seed)
    assert wrong == []
