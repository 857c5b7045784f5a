"""Any kernel gets machine code in an order that can run, on any chip."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import assay
from assay.compiler.msl import compile_library
from assay.hw.apple.facts.chips import chip, chips
from assay.hw.apple.facts.instructions import instruction_set
from assay.hw.apple.lower.code import MachineCode
from assay.hw.apple.lower.lower import lower

from .gather_kernels import gather_kernel

SEEDS = [
    *range(4),
    *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 60)),
]


@functools.cache
def lowered(seed: int) -> MachineCode:
    program = compile_library(gather_kernel(seed)).function("f").program()
    return lower(program.taped_function)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_a_block_makes_is_made_before_it_is_read(seed: int) -> None:
    code = lowered(seed)
    for first, end in zip(code.starts[:-1], code.starts[1:], strict=True):
        made = {d: n for n, d in enumerate(code.destinations[first:end]) if d >= 0}
        for n, sources in enumerate(code.sources[first:end]):
            assert all(made.get(register, -1) < n for register in sources if register >= 0)


@pytest.mark.parametrize("seed", SEEDS)
def test_chips_of_all_families_know_every_instruction(seed: int) -> None:
    for family in sorted({each.timing for each in chips().values()}):
        assert set(lowered(seed).classes) <= set(instruction_set(family).classes)


def test_many_values_are_alive_at_once() -> None:
    assert max(lowered(seed).registers for seed in range(8)) > 150


_ALIVE = 64
_LOADS = "\n".join(f"    float v{k} = x[ids[(i + {k}) & 63] & 63];" for k in range(_ALIVE))
_SUM = " + ".join(f"v{k} * v{(k * 7 + 3) % _ALIVE}" for k in range(_ALIVE))
ALL_AT_ONCE = f"""#include <metal_stdlib>
kernel void f(device const float* x [[buffer(0)]], device const uint* ids [[buffer(1)]],
              device float* y [[buffer(2)]], uint i [[thread_position_in_grid]]) {{
{_LOADS}
    y[i] = {_SUM};
}}
"""


@pytest.mark.parametrize("key", chips())
def test_a_kernel_whose_gathers_are_all_alive_at_once_is_timed_on_every_chip(key: str) -> None:
    given = [np.zeros(size, np.uint8) for size in (64 * 4, 64 * 4, 64 * 4)]
    result = assay.time(ALL_AT_ONCE, "f", *given, threads=64, threadgroup=64, chip=key)
    assert result.chip == chip(key)
    assert result.seconds > 0
